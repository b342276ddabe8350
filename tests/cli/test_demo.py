"""``rankwright demo``: one screen, files that can be used, figures that agree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Run

import rankwright as rw
from rankwright.cli import demo
from rankwright.diagnostics import LocalOptimality

SMALL = {
    "queries": 30, "n_estimators": 3, "epochs": 2, "further": 2, "tolerance": 0.9, "directions": 3,
}  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[demo.Tour, Path]:
    """What the demo finds on less data and with less training than its user waits for, and its folder."""
    folder = tmp_path_factory.mktemp("demo")
    return demo.tour(folder, True, **SMALL), folder


def test_it_fits_a_screen_and_leaves_models_and_a_report(made: tuple[demo.Tour, Path]) -> None:
    found, folder = made
    lines = demo.told(found, Path(demo.FOLDER)).splitlines()
    assert len(lines) < 40
    assert max(map(len, lines)) <= 80
    assert lines[-1].startswith("  rankwright ")
    assert sorted(path.name for path in folder.iterdir()) == ["net.rw", "report.html", "svm.rw", "trees.rw"]
    assert rw.load(folder / "trees.rw").n_features == 136
    assert len(found.optimality.along) == 3
    systems = found.comparison.as_dict()["systems"]
    assert set(systems) == {"both", "trees", "net", "svm"}
    for name, figures in systems.items():
        [line] = [line.split() for line in lines if line.startswith(f"  {name} ") and line.count(".") > 3]
        assert line[1:5] == [f"{figures[measure]['mean']:.4f}" for measure in demo.MEASURES]


def test_the_command_shows_it_or_prints_json(
    run: Run, made: tuple[demo.Tour, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found, _ = made
    monkeypatch.setattr(demo, "tour", lambda folder, quiet: found)
    shown = run("demo")
    assert (shown.exit_code, shown.stderr) == (0, f"{demo.FIRST}\n")
    assert shown.stdout == demo.told(found, Path(demo.FOLDER)) + "\n"
    again = run("demo", "--quiet", "--json")  # its own folder may be written again
    assert (again.exit_code, again.stderr) == (0, "")
    assert json.loads(again.stdout) == json.loads(json.dumps(found.as_dict()))


def test_a_file_of_the_users_is_not_overwritten(run: Run, tmp_path: Path) -> None:
    (tmp_path / "net.rw").write_text("mine")
    result = run("demo", "--output", tmp_path)
    assert result.exit_code == 1
    assert "net.rw exists already; give another folder" in result.stderr
    assert (tmp_path / "net.rw").read_text() == "mine"


def at(weights: list[float]) -> LocalOptimality:
    queries = rw.QuerySet([[1, 0], [0, 1], [1, 1]], [1, 0, 2], qid=1)
    return rw.local_optimality(rw.LinearScorer(weights), queries, steps=[0.01])


def test_a_net_at_an_optimum_is_told_with_its_confidence() -> None:
    lines = demo.checked(at([0.9, 0.8]), 0.4).splitlines()
    assert lines[1:] == [
        "  Yes, at 1.0000: of 459 random directions, 0.01 |w| far, none rises.",
        "  With 99 % confidence fewer than 1 % do (finer steps find a few small ones).",
        "  On test it has 0.4000 then; the net below is of the epoch best on valid.",
    ]


def test_a_net_elsewhere_is_told_with_how_many_directions_rise() -> None:
    found = at([0.8, 0.81])
    rising = int(found.ascents.sum())
    assert 0 < rising < 459
    assert demo.checked(found, 0.4).splitlines()[1:3] == [
        f"  No, at 0.9639: of 459 random directions, 0.01 |w| far, {rising} rise,",
        "  to 1.0000 at most; it has not converged.",
    ]
