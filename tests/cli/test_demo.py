"""``rankwright demo``: one screen, files that can be used, figures that agree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Run

import rankwright as rw
from rankwright.cli import demo

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
    plain = found.as_dict()
    assert json.loads(json.dumps(plain)) == plain
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
    assert json.loads(again.stdout) == found.as_dict()


def test_a_file_of_the_users_is_not_overwritten(run: Run, tmp_path: Path) -> None:
    (tmp_path / "net.rw").write_text("mine")
    result = run("demo", "--output", tmp_path)
    assert result.exit_code == 1
    assert "net.rw exists already; give another folder" in result.stderr
    assert (tmp_path / "net.rw").read_text() == "mine"


@pytest.mark.parametrize(
    ("weights", "lines"),
    [
        (
            [0.9, 0.8],
            [
                "  Yes, at 1.0000: of 459 random directions, 0.01 |w| far, none rises.",
                "  With 99 % confidence fewer than 1 % do (finer steps meet the measure's stairs).",
            ],
        ),
        (
            [0.8, 0.81],
            [
                "  No, at 0.9639: of 459 random directions, 0.01 |w| far, 200 rise,",
                "  to 1.0000 at most; it has not converged.",
            ],
        ),
    ],
)
def test_whether_the_net_is_at_an_optimum_is_told(weights: list[float], lines: list[str]) -> None:
    queries = rw.QuerySet([[1, 0], [0, 1], [1, 1]], [1, 0, 2], qid=1)
    found = rw.local_optimality(rw.LinearScorer(weights), queries, steps=[0.01])
    told = demo.checked(found, 0.4).splitlines()
    assert told[1:3] == lines
    assert max(map(len, told)) <= 80
