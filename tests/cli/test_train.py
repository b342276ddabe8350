"""``rankwright train``: every learner by its name, its settings, its model, and what goes wrong."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.conftest import Run

import rankwright as rw
from rankwright import learners
from rankwright.cli.train import read_value
from rankwright.learners.mart import Squared

QUICK = {"n_estimators": 2, "min_samples_leaf": 2, "epochs": 2, "max_iter": 3}


pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning"
)  # three steps are few
# A PyTorch module cannot be given on the command line.
TRAINABLE = [name for name, kind in learners.known().items() if "module" not in kind().get_params()]


@pytest.mark.parametrize("name", TRAINABLE)
def test_every_learner_trains_by_its_name(name: str, folder: Path, run: Run) -> None:
    known = learners.known()[name]().get_params()
    settings = [f"--set={key}={value}" for key, value in QUICK.items() if key in known]
    data, model = folder / "data.txt", folder / "model.rw"
    result = run("train", name.lower(), data, "--valid", data, "-m", "map", *settings, "-o", model)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith(f"{name} of ")
    scorer = rw.load(model)
    assert scorer.parameters["learner"] == name and scorer.measure == "map"
    found = rw.evaluate(scorer, rw.read_letor(data), ["map"])["map"].mean
    assert f"map: train {found:.4f}, valid {found:.4f}" in result.stdout


def test_the_same_as_in_python(folder: Path, run: Run) -> None:
    result = run(
        "train", "rank-net", folder / "data.txt", "--set", "hidden=3,2", "--set=epochs=4", "--json",
        "-o", folder / "m.rw",
    )  # fmt: skip
    found = json.loads(result.stdout)
    queries = rw.read_letor(folder / "data.txt")
    ranker = rw.RankNet(hidden=(3, 2), epochs=4).fit(queries)
    assert np.array_equal(rw.load(folder / "m.rw").predict(queries), ranker.predict(queries))
    assert found["train"] == ranker.score(queries) and found["valid"] is None
    assert [record["cost"] for record in found["history"]] == [record["cost"] for record in ranker.history_]


def test_goes_on_from_a_model(folder: Path, run: Run) -> None:
    data, first, second = folder / "data.txt", folder / "first.rw", folder / "second.rw"
    assert run("train", "ranknet", data, "--set", "hidden=3", "--set=epochs=4", "-o", first).exit_code == 0
    arguments = ["train", "ranknet", data, "--set", "hidden=3", "--set=epochs=2", "-o", second]
    assert run(*arguments, "--set", f"init={first}").exit_code == 0
    queries = rw.read_letor(data)
    expected = rw.RankNet(hidden=3, epochs=2, init=rw.load(first)).fit(queries).predict(queries)
    assert np.array_equal(rw.load(second).predict(queries), expected)
    assert "init is 'gone.rw'" in run(*arguments, "--set", "init=gone.rw").stderr


def test_preferences_in_the_place_of_labels(folder: Path, run: Run) -> None:
    (folder / "pairs.txt").write_text("0 1\n3 2 0.75  # sure enough\n\n4,0,1,2\n")
    arguments = ["train", "ranknet", folder / "data.txt", "--set=epochs=3", "-o", folder / "m.rw"]
    assert run(*arguments, "--preferences", folder / "pairs.txt").exit_code == 0
    queries = rw.read_letor(folder / "data.txt")
    preferences = [(0, 1), (3, 2, 0.75), (4, 0, 1, 2)]
    expected = rw.RankNet(epochs=3).fit(queries, preferences=preferences).predict(queries)
    assert np.array_equal(rw.load(folder / "m.rw").predict(queries), expected)


def test_a_base_and_a_checkpoint(folder: Path, run: Run) -> None:
    data, model, kept = folder / "data.txt", folder / "m.rw", folder / "kept.ckpt"
    arguments = [
        "train",
        "lambdamart",
        data,
        "--set=min_samples_leaf=2",
        "--base",
        folder / "good.rw",
        "-o",
        model,
    ]
    assert run(*arguments, "--set=n_estimators=4").exit_code == 0
    whole = model.read_bytes()
    assert run(*arguments, "--set=n_estimators=2", "--checkpoint", kept).exit_code == 0
    told = json.loads(run(*arguments, "--set=n_estimators=4", "--checkpoint", kept, "--json").stdout)
    assert model.read_bytes() == whole
    assert isinstance(rw.load(model), rw.Sum) and told["steps"] == 4
    assert sum(told["importance"].values()) == pytest.approx(1) and len(told["importance"]) == 3
    assert ["seconds" in record for record in told["history"]] == [False, False, True, True]
    refused = run(*arguments, "--set=n_estimators=4", "--set=sigma=2", "--checkpoint", kept)
    assert refused.exit_code == 1 and "sigma = 1.0, and here it is 2" in refused.stderr


def test_interrupted_training_leaves_its_model(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    gradients = Squared.gradients

    def interrupted(self: Any, scores: Any, step: int) -> Any:
        if step == 2:
            signal.raise_signal(signal.SIGINT)
        return gradients(self, scores, step)

    monkeypatch.setattr(Squared, "gradients", interrupted)
    arguments = ["train", "mart", folder / "data.txt", "--set=min_samples_leaf=2", "-o", folder / "m.rw"]
    result = run(*arguments)
    assert result.exit_code == 130
    assert result.stdout.startswith("MART of 3 steps written to ")
    assert result.stdout.endswith("interrupted: the model is that of the steps so far\n")
    assert rw.load(folder / "m.rw").training["interrupted"] is True
    assert json.loads(run(*arguments, "--json").stdout)["interrupted"] is True


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-0.5", -0.5),
        ("1e-3", 1e-3),
        ("none", None),
        ("None", None),
        ("true", True),
        ("False", False),
        ("adam", "adam"),
        ("20,5", (20, 5)),
        ("20,", (20,)),
        ("", ""),
    ],
)
def test_values_of_settings(text: str, value: Any) -> None:
    assert read_value(text) == value and type(read_value(text)) is type(value)


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["lambdamrt", "data.txt"], 2, "did you mean lambdamart?"),
        (["ranknet", "nowhere.txt"], 1, "nowhere.txt"),
        (["ranknet", "data.txt", "--set", "epochs"], 2, "as in epochs=50"),
        (["ranknet", "data.txt", "--set", "epoch=5"], 2, "did you mean epochs?"),
        (["ranknet", "data.txt", "--set", "epochs=none"], 1, "epochs is None"),
        (["ranknet", "data.txt", "-m", "ndgc"], 2, "did you mean"),
        (["ranknet", "data.txt", "--preferences", "bad.txt"], 1, "bad.txt, line 2"),
        (["ranknet", "data.txt", "--preferences", "far.txt"], 1, "no document 99"),
        (["ranknet", "data.txt", "--checkpoint", "c.ckpt"], 2, "ranknet takes no --checkpoint"),
        (["mcrank", "data.txt", "--base", "good.rw"], 2, "mcrank takes no --base"),
        (["lambdamart", "data.txt", "--base", "nowhere.rw"], 1, "nowhere.rw"),
        (["lambdarank", "data.txt", "--preferences", "bad.txt"], 2, "it learns from labels"),
    ],
)
def test_what_goes_wrong(
    arguments: list[str], status: int, message: str, folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    (folder / "bad.txt").write_text("0 1\n2 x\n")
    (folder / "far.txt").write_text("0 99\n")
    result = run("train", *arguments, "-o", "model.rw")
    assert result.exit_code == status
    assert message in result.stderr
    assert not (folder / "model.rw").exists()


def test_the_model_needs_a_place(folder: Path, run: Run) -> None:
    result = run("train", "ranknet", folder / "data.txt")
    assert result.exit_code == 2 and "--output" in result.stderr


def test_max_margin_learners_tell_their_certificate(folder: Path, run: Run) -> None:
    text = (folder / "data.txt").read_text()
    blank = "".join(f"0 qid:99999 {line.split(' ', 2)[2]}\n" for line in text.splitlines()[:2])
    (folder / "more.txt").write_text(text + blank)
    for name in ("svm-map", "svm-ndcg", "svm-ndcg-nc", "svm-mrr", "svm-auc", "svm-combo", "dorm", "ranksvm"):
        result = run("train", name, folder / "more.txt", "--set=C=1", "-o", folder / "model.rw")
        assert result.exit_code == 0 and "C=1: relative duality gap " in result.stdout
        assert "left out: " in result.stdout and "whose documents are all of one kind" in result.stdout
        assert ("trained for " in result.stdout) == (name != "ranksvm")
    assert rw.load(folder / "model.rw").training["gap"] <= 1e-3
    settings = ("--set=C=1", "--set=criteria=map po,mrr@10 mrr 0.5")
    result = run("train", "svm-combo", folder / "more.txt", *settings, "-o", folder / "model.rw")
    assert "map with PartialOrder(averaged=True), rr@10 with FirstGood(); good from 1 on" in result.stdout
