"""``rankwright combine``: one model of several, the same as in Python."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from tests.cli.conftest import Run

import rankwright as rw


def test_two_models(folder: Path, run: Run) -> None:
    good, bad, data = folder / "good.rw", folder / "bad.rw", folder / "data.txt"
    result = run("combine", good, bad, data, "-m", "map", "-o", folder / "both.rw", "--json")
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    queries = rw.read_letor(data)
    expected = rw.combine(rw.load(good), rw.load(bad), "map", queries)
    assert np.array_equal(rw.load(folder / "both.rw").predict(queries), expected.predict(queries))
    assert told["best"] == expected.training["best"]
    assert [each["weight"] for each in told["models"]] == list(expected.weights)
    text = run("combine", good, bad, data, "--whole-line", "-o", folder / "both.rw").stdout
    assert "good.rw, ndcg@10" in text and "together, written to" in text


def test_three_models(folder: Path, run: Run) -> None:
    rw.LinearScorer([0.0, 0.0, 1.0]).save(folder / "third.rw")
    models = [folder / name for name in ("good.rw", "bad.rw", "third.rw")]
    result = run("combine", *models, folder / "data.txt", "-o", folder / "all.rw")
    assert result.exit_code == 0, result.stderr
    assert len(rw.load(folder / "all.rw").scorers) == 3
    assert len(result.stdout.splitlines()) == 4


def test_wrong_use(folder: Path, run: Run) -> None:
    one = run("combine", folder / "good.rw", folder / "data.txt", "-o", folder / "x.rw")
    assert one.exit_code == 2 and "at least two wanted" in one.stderr
    assert run("combine", "-o", folder / "x.rw").exit_code == 2
    models = [folder / "good.rw"] * 3
    line = run("combine", *models, folder / "data.txt", "--whole-line", "-o", folder / "x.rw")
    assert line.exit_code == 2 and "--whole-line is for two" in line.stderr
    assert not (folder / "x.rw").exists()


def test_a_committee_is_trained_by_its_name(folder: Path, run: Run) -> None:
    settings = ["--set", "budget=3 fits", "--set", "folds=3"]
    result = run("train", "committee", folder / "data.txt", *settings, "-o", folder / "m.rw")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("Committee of 1 step")
    assert "out of fold " in result.stdout and " 1.0000 · LambdaRank(" in result.stdout
    found = run("train", "committee", folder / "data.txt", *settings, "-o", folder / "m.rw", "--json").stdout
    assert json.loads(found)["members"][0]["alone"] == json.loads(found)["out_of_fold"]
    assert rw.load(folder / "m.rw").parameters["learner"] == "Committee"
