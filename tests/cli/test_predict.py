"""``rankwright predict``: scores to the screen, to a file, to a TREC run."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run

import rankwright as rw


def test_scores_are_printed_or_written_with_all_their_digits(folder: Path, run: Run) -> None:
    expected = rw.load(folder / "good.rw").predict(rw.read_letor(folder / "data.txt")).tolist()
    printed = run("predict", folder / "good.rw", folder / "data.txt")
    assert [float(line) for line in printed.stdout.splitlines()] == expected
    written = run("predict", folder / "good.rw", folder / "data.txt", "-o", folder / "scores.txt")
    assert (written.exit_code, written.stdout) == (0, "")
    assert (folder / "scores.txt").read_text() == printed.stdout


def test_a_run_holds_the_same_scores(folder: Path, run: Run) -> None:
    result = run("predict", folder / "good.rw", folder / "data.txt", "--run", folder / "mine.run")
    assert (result.exit_code, result.stdout) == (0, "")
    mine, expected = rw.read_run(folder / "mine.run"), rw.read_run(folder / "bm25.run")
    for these, those in zip(mine._tables().values(), expected._tables().values(), strict=True):
        assert these.keys() == those.keys()


def test_a_run_needs_document_ids(folder: Path, run: Run) -> None:
    (folder / "nameless.txt").write_text("1 qid:1 1:1 2:0 3:0\n")
    result = run("predict", folder / "good.rw", folder / "nameless.txt", "--run", folder / "mine.run")
    assert result.exit_code == 1
    assert "document ids" in result.stderr
    assert not (folder / "mine.run").exists()
