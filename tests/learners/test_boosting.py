"""Boosting: the same bits at any number of threads and in any process, validation, sampling, limits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright.learners.base import mean_measure
from rankwright.learners.boosting import (
    Training,
    draw_features,
    draw_rows,
    row_weights,
)
from rankwright.learners.classes import Classes
from rankwright.learners.lambdamart import CrossEntropy, LambdaMART, MeasureLambdas
from rankwright.learners.mart import MART, Squared
from rankwright.learners.mcrank import McRank
from rankwright.learners.tree_parameters import features_a_node

JIT_OFF = os.environ.get("NUMBA_DISABLE_JIT") == "1"


def data(seed: int, n_queries: int, size: int, n_features: int = 19, **weights: Any) -> rw.QuerySet:
    """Numbers, missing values, ties, categories (feature 2) of which later data may have more."""
    random = np.random.default_rng(seed)
    n = n_queries * size
    X = random.normal(size=(n, n_features))
    X[:, 1] = np.round(X[:, 1])
    X[:, 2] = random.integers(0, 12 + seed, n)
    X[random.random((n, n_features)) < 0.05] = np.nan
    known = np.nan_to_num(X)
    signal = known[:, 0] + 0.7 * (known[:, 2] % 3) + known[:, 1] * known[:, 3] + random.normal(size=n)
    y = np.clip(np.round(signal), 0, 4)
    return rw.QuerySet(X, y, qid=np.repeat(np.arange(n_queries), size), **weights)


def weighted(seed: int, n_queries: int, size: int, n_features: int = 19) -> rw.QuerySet:
    random = np.random.default_rng(seed)
    return data(
        seed, n_queries, size, n_features,
        sample_weight=random.uniform(0.5, 2, n_queries * size),
        query_weight=random.uniform(0.5, 2, n_queries),
    )  # fmt: skip


def everything(n_features: int = 19, **more: Any) -> dict[str, Any]:
    """Every option switched on."""
    return {
        "n_estimators": 2 if JIT_OFF else 6,
        "max_leaf_nodes": 4 if JIT_OFF else 20,
        "max_depth": 6,
        "min_samples_leaf": 5,
        "l2_regularization": 0.5,
        "min_gain": 1e-6,
        "max_bins": 63,
        "categorical_features": [2],
        "monotonic_cst": [1, 0, 0, -1, *([0] * (n_features - 4))],
        "subsample": 0.9,
        "query_subsample": 0.8,
        "feature_fraction": 0.8,
        "features_per_node": 6,
        "random_state": 3,
        **more,
    }


def untimed(history: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The records without their seconds, which no two trainings share."""
    assert all(record["seconds"] >= 0 for record in history)
    return [{name: value for name, value in each.items() if name != "seconds"} for each in history]


def arrays_of(scorer: Any) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in scorer.arrays().items()}


LEARNERS = {
    "default": lambda **more: LambdaMART(**everything(**more)),
    "paper": lambda **more: LambdaMART(mode="paper", **everything(**more)),
    "wide": lambda **more: LambdaMART(exact_counts=True, **everything(**more)),
    "random bins": lambda **more: LambdaMART(random_bins=True, **everything(**more)),
    "orderings": lambda **more: LambdaMART(orderings=2, loss="lambdaloss", **everything(**more)),
    "listwise": lambda **more: LambdaMART(loss="xendcg", **everything(**more)),
    "classes": lambda **more: McRank(**everything(**more)),
    "squares": lambda **more: MART(**everything(**more)),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_the_same_model_at_any_number_of_threads(name: str) -> None:
    """With every option switched on, and enough rows to be shared out by rows."""
    queries = weighted(0, 6, 8) if JIT_OFF else weighted(0, 60, 120)
    valid = data(1, 4, 8)
    first, *others = (LEARNERS[name](n_jobs=jobs).fit(queries, valid=valid) for jobs in (1, 2, 3, 4))
    assert first.scorer_.n_trees > 0 and len(first.scorer_.trees.feature) > 0
    for other in others:
        assert arrays_of(other.scorer_) == arrays_of(first.scorer_)
        assert untimed(other.history_) == untimed(first.history_)


def test_the_same_model_at_any_number_of_threads_on_a_base_in_runs_and_gone_on_with() -> None:
    queries, valid = (weighted(0, 6, 8) if JIT_OFF else weighted(0, 60, 120)), data(1, 4, 8)
    base = MART(n_estimators=2, max_leaf_nodes=4, n_jobs=1).fit(queries)
    files: list[Any] = []
    for jobs in (1, 2, 3, 4):
        settings = everything(n_estimators=2, early_stopping_rounds=3, n_runs=2, warm_start=True)
        ranker = LambdaMART(orderings=2, exact_counts=True, random_bins=True, n_jobs=jobs, **settings)
        for steps in (2, 4):
            ranker.set_params(n_estimators=steps).fit(queries, valid=valid, base=base, measure_train=True)
        records = [{k: v for k, v in record.items() if k != "seconds"} for record in ranker.history_]
        files.append((arrays_of(ranker.scorer_.scorers[1]), records, ranker.predict(valid).tobytes()))
    assert files[0] == files[1] == files[2] == files[3]


@pytest.mark.skipif(JIT_OFF, reason="a million documents take plain Python too long")
def test_a_million_documents_in_one_query() -> None:
    n = 1_000_000
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 2)).astype(np.float32)
    y = (X[:, 0] + random.normal(size=n) > 3.5).astype(float)
    ranker = LambdaMART(n_estimators=3, max_leaf_nodes=4, truncation=30).fit(X, y, qid=1)
    by_chance = y.mean()
    assert rw.evaluate(ranker.predict(X), y, "p@1000", qid=1)["p@1000"].mean > 5 * by_chance


def test_of_many_categories_the_rarest_are_as_good_as_missing() -> None:
    random = np.random.default_rng(0)
    codes = np.concatenate([np.repeat(np.arange(255), 6), np.arange(255, 300)])
    good = random.random(300) < 0.5
    X = codes[:, None].astype(float)
    y = good[codes].astype(float)
    ranker = MART(
        n_estimators=1 if JIT_OFF else 5, max_leaf_nodes=2, min_samples_leaf=2, categorical_features=[0]
    ).fit(X, y, qid=np.arange(len(codes)) // 25)
    scores = ranker.predict(np.arange(300.0)[:, None])
    assert scores[:255][good[:255]].min() > scores[:255][~good[:255]].max()
    assert set(scores[255:]) == {ranker.predict([[np.nan]])[0]} == {ranker.predict([[1e6]])[0]}


FIT_AND_SAVE = """
import sys
from tests.learners.test_boosting import LEARNERS, weighted
LEARNERS["default"](n_jobs=2).fit(weighted(0, 6, 8)).save(sys.argv[1])
"""


def test_the_same_file_again_and_after_a_restart(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.rw", "b.rw", "c.rw")]
    for path in paths[:2]:
        LEARNERS["default"](n_jobs=2).fit(weighted(0, 6, 8)).save(path)
    root = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    subprocess.run([sys.executable, "-c", FIT_AND_SAVE, str(paths[2])], check=True, cwd=root, env=environment)
    first, second, restarted = (path.read_bytes() for path in paths)
    assert first == second == restarted
    other = LEARNERS["default"](n_jobs=2, random_state=4).fit(weighted(0, 6, 8))
    assert arrays_of(other.scorer_) != arrays_of(rw.load(paths[0]))


@pytest.mark.parametrize("name", LEARNERS)
def test_scores_so_far_are_the_models_own(name: str) -> None:
    """In bins and on raw values, rows that were left out of a tree among them: the same bits."""
    ranker = LEARNERS[name]()
    queries, valid = weighted(0, 8, 10), data(1, 5, 9)
    objectives: dict[str, Any] = {
        "classes": lambda: Classes(queries, least_squares=False),
        "squares": lambda: Squared(ranker, queries),
        "listwise": lambda: CrossEntropy(ranker, queries),
    }
    objective = objectives.get(name, lambda: MeasureLambdas(ranker, queries))()
    training = Training(ranker, queries, valid, objective)
    for step in range(3):
        training.step()
        scorer = training.run().forest
        out = np.empty((len(queries), len(objective.start)))
        scorer.outputs(queries.features, out)
        assert np.array_equal(out.T, training.scores)
        scores = scorer.predict(valid)
        assert training.history[step]["valid"] == mean_measure(ranker.selection_measure, valid, scores)


def test_the_best_step_is_kept() -> None:
    train, valid = data(0, 10, 12), data(1, 10, 12)
    told: list[Any] = []
    ranker = LambdaMART(
        n_estimators=40, max_leaf_nodes=4, min_samples_leaf=3, learning_rate=0.5, early_stopping_rounds=3
    )
    ranker.fit(train, valid=valid, progress=told.append)
    values = [record["valid"] for record in ranker.history_]
    best = int(np.argmax(values))
    assert told == ranker.history_ and [record["step"] for record in told] == [*range(1, len(told) + 1)]
    assert len(values) == best + 1 + 3 < 40
    assert ranker.scorer_.n_trees == best + 1
    assert ranker.score(valid) == max(values)
    # Without stopping all steps are made and the best of them is kept.
    patient = LambdaMART(
        n_estimators=len(values) + 2, max_leaf_nodes=4, min_samples_leaf=3, learning_rate=0.5
    )
    patient.fit(train, valid=valid)
    assert untimed(patient.history_[: len(values)]) == untimed(ranker.history_)
    assert len(patient.history_) == len(values) + 2
    assert patient.score(valid) == max(record["valid"] for record in patient.history_)
    # Of equal steps the first is kept.
    blind = rw.QuerySet(np.zeros_like(valid.features), valid.labels, qid=np.repeat(np.arange(10), 12))
    same = patient.fit(train, valid=blind)
    assert len({record["valid"] for record in same.history_}) == 1 and same.scorer_.n_trees == 1
    # Without validation all trees are kept.
    assert patient.fit(train).scorer_.n_trees == len(values) + 2


def test_the_rate_scales_each_step() -> None:
    queries = data(0, 5, 10)
    fits = [MART(n_estimators=1, learning_rate=rate, min_samples_leaf=3).fit(queries) for rate in (1.0, 0.25)]
    steps = [fit.predict(queries) - fit.scorer_.start[0] for fit in fits]
    np.testing.assert_allclose(steps[1], steps[0] / 4, rtol=1e-12)


def test_one_tree_of_squares_is_the_means_of_its_leaves() -> None:
    queries = weighted(0, 5, 10)
    weights = row_weights(queries)
    assert weights.tolist() == (queries.sample_weight * np.repeat(queries.query_weight, 10)).tolist()
    ranker = MART(n_estimators=1, learning_rate=1.0, min_samples_leaf=3, exact_counts=True).fit(queries)
    scores = ranker.predict(queries)
    for score in np.unique(scores):
        leaf = scores == score
        assert leaf.sum() >= 3
        assert score == pytest.approx(np.average(queries.labels[leaf], weights=weights[leaf]), abs=1e-6)


def test_boosting_squares_never_increases_the_error() -> None:
    queries = data(0, 8, 10)
    errors = []
    for n in (1, 2, 4) if JIT_OFF else (1, 2, 4, 8):
        scores = MART(n_estimators=n, min_samples_leaf=3).fit(queries).predict(queries)
        errors.append(float(np.sum((scores - queries.labels) ** 2)))
    assert errors == sorted(errors, reverse=True) and errors[0] > errors[-1]


def test_monotone_features_of_a_whole_model() -> None:
    queries = data(0, 8, 12, 4)
    directions = [-1, 1, 0, 1]  # the data says otherwise of the first
    ranker = MART(n_estimators=5, min_samples_leaf=2, monotonic_cst=directions).fit(queries)
    line = np.linspace(-3, 3, 40)
    for x in queries.features[:15]:
        for feature, direction in enumerate(directions):
            X = np.tile(x, (40, 1))
            X[:, feature] = line
            assert (direction * np.diff(ranker.predict(X)) >= -1e-12).all()


def test_a_leaf_of_each_tree_holds_enough_rows() -> None:
    queries = data(0, 10, 12)
    for exact in (False, True):
        ranker = LambdaMART(n_estimators=5, min_samples_leaf=9, exact_counts=exact, max_leaf_nodes=40)
        training = Training(ranker, queries, None, MeasureLambdas(ranker, queries))
        for _ in range(5):
            training.step()
        rows = [step.trees[0].rows for step in training.steps]
        assert min(map(min, rows)) >= 9 and all(int(sum(of_tree)) == 120 for of_tree in rows)


def test_rows_and_features_are_drawn_by_step_alone() -> None:
    queries = data(0, 40, 5)
    learner = LambdaMART(subsample=0.5, query_subsample=0.25, feature_fraction=0.3, random_state=7)
    drawn = [draw_rows(queries, learner, step) for step in (0, 1, 0)]
    for rows, left_out in drawn:
        assert rows is not None and left_out is not None
        assert sorted([*rows, *left_out]) == list(range(200))
        assert len({row // 5 for row in rows.tolist()}) <= 10
        assert 10 <= len(rows) <= 40
    assert drawn[0][0].tolist() == drawn[2][0].tolist() != drawn[1][0].tolist()
    whole_queries, _ = draw_rows(queries, LambdaMART(query_subsample=0.25), 0)
    assert whole_queries is not None
    assert np.bincount(whole_queries // 5).tolist().count(5) == 10 and len(whole_queries) == 50
    features = draw_features(19, learner, 0)
    assert features is not None and features.sum() == 6
    assert draw_rows(queries, LambdaMART(), 0) == (None, None) and draw_features(19, LambdaMART(), 0) is None
    # At least one of each is drawn.
    few = LambdaMART(subsample=1e-9, query_subsample=1e-9, feature_fraction=1e-9)
    assert len(draw_rows(queries, few, 0)[0]) == 1 and draw_features(19, few, 0).sum() == 1


@pytest.mark.parametrize(
    "by_chance", [{"random_bins": True}, {"features_per_node": 1}, {"feature_fraction": 0.3}]
)
def test_a_step_without_a_split_ends_training_unless_chance_may_find_one(by_chance: Any) -> None:
    X = np.zeros((40, 3))
    X[20:, 0] = 1
    X[:, 1] = np.arange(40) < 2
    y = np.r_[np.zeros(20), np.ones(20)]
    settings: Any = {"min_samples_leaf": 15, "n_estimators": 12, "n_jobs": 1}
    assert len(MART(**settings).fit(np.zeros((40, 3)), y, qid=1).history_) == 1
    ranker = MART(**settings, **by_chance).fit(X, y, qid=1)
    assert len(ranker.history_) == 12
    assert {record["leaves"] for record in ranker.history_} == {1, 2}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, "n_estimators is 0"),
        ({"n_estimators": 1.5}, "n_estimators is 1.5"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes is 1"),
        ({"max_leaf_nodes": True}, "max_leaf_nodes is True"),
        ({"max_depth": 0}, "max_depth is 0"),
        ({"min_samples_leaf": 0}, "min_samples_leaf is 0"),
        ({"features_per_node": -1}, "features_per_node is -1"),
        ({"features_per_node": 2.5}, "features_per_node is 2.5; a number of features is whole"),
        ({"random_state": None}, "random_state is None"),
        ({"random_state": -1}, "random_state is -1"),
        ({"l2_regularization": -1.0}, "l2_regularization is -1.0"),
        ({"min_hessian": float("nan")}, "min_hessian is nan"),
        ({"min_gain": float("inf")}, "min_gain is inf"),
        ({"learning_rate": 0.0}, "learning_rate is 0.0"),
        ({"subsample": 0.0}, "subsample is 0.0; it is a number above 0 and at most 1"),
        ({"query_subsample": 1.5}, "query_subsample is 1.5"),
        ({"feature_fraction": -0.1}, "feature_fraction is -0.1"),
        ({"max_bins": 1}, "max_bins is 1"),
        ({"max_bins": 256}, "max_bins is 256"),
        ({"monotonic_cst": [1, 0]}, "for each of the 19 features"),
        ({"monotonic_cst": [2] + [0] * 18}, "give 1, -1 or 0"),
        ({"monotonic_cst": [1] + [0] * 18, "categorical_features": [0]}, "feature 0 is categorical"),
        ({"categorical_features": [19]}, "names feature 19"),
        ({"categorical_features": [-1]}, "names feature -1"),
        ({"categorical_features": "1"}, "categorical_features is '1'; give whole numbers in a list"),
        ({"n_estimators": "5"}, "n_estimators is '5'; give a whole number"),
        ({"learning_rate": None}, "learning_rate is None; give a number"),
        ({"n_jobs": "2"}, "n_jobs is '2'; give a whole number or None"),
        ({"exact_counts": -1}, "exact_counts is -1; give True or False"),
    ],
)
def test_parameters_are_checked(parameters: Any, message: str) -> None:
    with pytest.raises(rw.InputError, match=message):
        LambdaMART(**parameters).fit(data(0, 2, 5))


def test_a_share_of_the_features_a_node() -> None:
    assert [features_a_node(LambdaMART(features_per_node=f), 19) for f in (0, 0.5, 0.01, 7, 0.99)] == [
        0, 10, 1, 7, 19,
    ]  # fmt: skip
