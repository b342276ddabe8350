"""What README and docs show runs: every block of Python, and every command line up to its data."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import click.testing
import numpy as np
import pytest

import rankwright as rw
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
    for name, lines in (("train.txt", rows), ("test.txt", rows), ("qrels.txt", qrels)):
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


def test_every_command_line_of_the_readme_runs(data: Path) -> None:
    [lines] = blocks(ROOT / "README.md", "")
    for line in lines.splitlines():
        name, *arguments = line.split()
        assert name == "rankwright"
        result = click.testing.CliRunner().invoke(main, arguments)
        assert result.exit_code == 0, (line, result.stderr)
        assert result.stdout


def test_the_readme_is_short_and_holds_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 100
    found = re.findall(r"^pip install .*$", text, re.MULTILINE)
    assert found == ["pip install . && rankwright demo", "pip install '.[test]' && pytest"]
