"""Small files for commands to work on, and two ways to run a command."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click.testing
import numpy as np
import pytest

import rankwright as rw
from rankwright.cli.main import main

Run = Callable[..., click.testing.Result]


@pytest.fixture
def run() -> Run:
    """Run a command in this process."""
    return lambda *arguments: click.testing.CliRunner().invoke(main, [str(each) for each in arguments])


@pytest.fixture
def started() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a command as its user does, in a process of its own."""
    return lambda *arguments: subprocess.run(
        [sys.executable, "-m", "rankwright", *map(str, arguments)], capture_output=True, text=True, timeout=60
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """``data.txt`` of 8 queries and 3 features, two models and the TREC files that say the same."""
    rng = np.random.default_rng(0)
    lines, qrels, bm25 = [], [], []
    for query in range(1, 9):
        for number in range(5):
            label = int(rng.integers(0, 3))
            values = [label + rng.normal(), rng.normal(), float(number)]
            shown = " ".join(f"{index}:{value:.4f}" for index, value in enumerate(values, 1))
            lines.append(f"{label} qid:{query} {shown} #docid = d{query}-{number}")
            qrels.append(f"{query} 0 d{query}-{number} {label}")
            bm25.append(f"{query} Q0 d{query}-{number} 0 {values[0]:.4f} bm25")
    for name, content in (("data.txt", lines), ("qrels.txt", qrels), ("bm25.run", bm25)):
        (tmp_path / name).write_text("\n".join(content) + "\n")
    (tmp_path / "noise.txt").write_text("".join(f"{rng.normal()!r}\n" for _ in lines))
    rw.LinearScorer([1.0, 0.0, 0.0]).save(tmp_path / "good.rw")
    rw.LinearScorer([0.0, 1.0, 0.0], measure="ndcg@10").save(tmp_path / "bad.rw")
    return tmp_path
