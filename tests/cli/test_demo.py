"""``rankwright demo``: one screen, files that can be used, the same figures each time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Run

import rankwright as rw
from rankwright.cli import demo


@pytest.fixture(autouse=True)
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of its own, and less data than the demo's user waits for."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(demo, "QUERIES", 40)


def test_it_fits_a_screen_and_leaves_models_and_a_report(run: Run) -> None:
    shown = run("demo", "--quiet")
    assert (shown.exit_code, shown.stderr) == (0, "")
    lines = shown.stdout.splitlines()
    assert len(lines) < 40
    assert max(map(len, lines)) <= 80
    assert lines[-1].startswith("  rankwright ")
    folder = Path("rankwright-demo")
    assert sorted(path.name for path in folder.iterdir()) == ["net.rw", "report.html", "svm.rw", "trees.rw"]
    assert rw.load(folder / "trees.rw").n_features == 136
    again = run("demo", "--quiet", "--json")  # its own folder may be written again
    assert again.exit_code == 0
    systems = json.loads(again.stdout)["systems"]
    assert set(systems) == {"both", "trees", "net", "svm"}
    for name, figures in systems.items():
        [line] = [line.split() for line in lines if line.startswith(f"  {name} ") and line.count(".") > 3]
        assert line[1:5] == [f"{figures[measure]['mean']:.4f}" for measure in demo.MEASURES]


def test_a_file_of_the_users_is_not_overwritten(run: Run, tmp_path: Path) -> None:
    (tmp_path / "net.rw").write_text("mine")
    result = run("demo", "--output", tmp_path)
    assert result.exit_code == 1
    assert "net.rw exists already; give another folder" in result.stderr
    assert (tmp_path / "net.rw").read_text() == "mine"


def test_a_net_at_an_optimum_is_told_with_its_confidence() -> None:
    queries = rw.QuerySet([[1, 0], [0, 1], [1, 1]], [1, 0, 2], qid=1)
    found = rw.local_optimality(rw.LinearScorer([0.9, 0.8]), queries, steps=[0.01])
    assert demo.checked(found).splitlines() == [
        "Is the net at a local optimum of ndcg@10 on train, 1.0000? Yes:",
        "  none of 459 random directions raises it; with 99 % confidence fewer than 1 % do.",
    ]
