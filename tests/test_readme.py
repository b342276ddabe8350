"""What README and docs show runs: every block of Python, and every command line up to its data."""

from __future__ import annotations

import doctest
import importlib.util
import re
from pathlib import Path

import click.testing
import numpy as np
import pytest

import rankwright as rw
from rankwright import structured
from rankwright.cli.main import main

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str) -> list[str]:
    return [text for found, text in BLOCK.findall(page.read_text(encoding="utf-8")) if found == language]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that README and docs name."""
    rng = np.random.default_rng(0)
    rows, qrels = [], []
    for row in range(60):
        label = rng.integers(0, 3)
        values = " ".join(f"{index}:{rng.normal():.4f}" for index in range(1, 31))
        rows.append(f"{label} qid:{row // 10} {values} #docid = d{row}\n")
        qrels.append(f"{row // 10} 0 d{row} {label}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(structured, "ORACLES", dict(structured.ORACLES))  # a page adds one
    files = {"train.txt": rows, "vali.txt": rows, "test.txt": rows, "qrels.txt": qrels}
    for name, lines in files.items():
        Path(name).write_text("".join(lines))
    queries = rw.read_letor("test.txt")
    rw.write_run(queries, queries.features[:, 0], "bm25.run")
    for name in ("model.rw", "a.rw", "b.rw"):
        rw.LinearScorer(rng.standard_normal(30)).save(name)
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_of_python_runs(page: Path, data: Path) -> None:
    queries = rw.read_letor("test.txt")
    names: dict[str, object] = {"rw": rw, "queries": queries, "scores": queries.features[:, 0]}
    for block in blocks(page, "python"):
        if ">>>" in block:
            runner = doctest.DocTestRunner()
            runner.run(doctest.DocTestParser().get_doctest(block, names, page.name, str(page), 0))
            assert runner.summarize(verbose=False).failed == 0
        else:
            exec(compile(block, str(page), "exec"), names)


COMMANDS = [page for page in PAGES if any("rankwright " in text for text in blocks(page, ""))]


@pytest.mark.parametrize("page", COMMANDS, ids=lambda page: page.name)
def test_every_command_line_runs(page: Path, data: Path) -> None:
    lines = [
        line for text in blocks(page, "") for line in text.splitlines() if line.startswith("rankwright ")
    ]
    assert lines
    for line in lines:
        result = click.testing.CliRunner().invoke(main, line.split()[1:])
        assert result.exit_code == 0, (line, result.stderr)
        assert result.stdout or "--run" in line


def test_the_guide_to_the_papers_names_what_exists() -> None:
    spec = importlib.util.spec_from_file_location("hooks", ROOT / "docs" / "hooks.py")
    assert spec is not None and spec.loader is not None
    hooks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hooks)
    text = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    names = hooks.CODE.findall(text)
    assert len(names) == sum(line.count("`rankwright.") for line in text.splitlines()) > 40
    for name in names:
        assert hooks.located(name).partition(":")[0].endswith(".py"), name
    assert hooks.located("rankwright.learners.mart.MART").startswith("learners/mart.py:")
    with pytest.raises(ValueError, match="no such thing"):
        hooks.located("rankwright.learners.mart.NoSuch")


def test_the_readme_is_short_and_holds_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 100
    found = re.findall(r"^pip install .*$", text, re.MULTILINE)
    assert found == ["pip install . && rankwright demo", "pip install '.[test]' && pytest"]
