"""What README and docs show runs: every block of Python, and every command line up to its data."""

from __future__ import annotations

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
    features = rng.standard_normal((60, 30)).astype(np.float32)
    documents = [f"d{row}" for row in range(60)]
    queries = rw.QuerySet(features, rng.integers(0, 3, 60), qid=np.repeat(range(6), 10), documents=documents)
    monkeypatch.chdir(tmp_path)
    for name in ("train.txt", "test.txt"):
        queries.to_letor(name)
    for name in ("model.rw", "a.rw", "b.rw"):
        rw.LinearScorer(rng.standard_normal(30)).save(name)
    rw.write_run(queries, features[:, 0], "bm25.run")
    lines = (f"{row // 10} 0 d{row} {label:g}\n" for row, label in enumerate(queries.labels.tolist()))
    Path("qrels.txt").write_text("".join(lines))
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_of_python_runs(page: Path, data: Path) -> None:
    names: dict[str, object] = {}
    for block in blocks(page, "python"):
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
