"""The best combination of rankers: found exactly, measured as it scores, saved as one scorer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.naive import ensembles as naive

import rankwright as rw
from rankwright.learners.sweep import Profile


def data(n_queries: int = 12, documents: int = 8, seed: int = 0, mixed: bool = True) -> rw.QuerySet:
    """Three features that each tell something; rows of queries stand apart if ``mixed``."""
    random = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), documents)
    labels = random.choice(3, len(qid), p=[0.6, 0.3, 0.1])
    X = labels[:, None] * [1.0, 0.8, 0.5] + random.normal(size=(len(qid), 3)) * 1.5
    order = random.permutation(len(qid)) if mixed else np.arange(len(qid))
    return rw.QuerySet(X[order], labels[order], qid=qid[order])


def feature(index: int) -> rw.LinearScorer:
    return rw.LinearScorer.feature(index, 3)


@pytest.mark.parametrize("measure", ["ndcg@5", "map", "err"])
@pytest.mark.parametrize("whole_line", [False, True])
def test_two_rankers_at_their_best(measure: str, whole_line: bool) -> None:
    queries = data(5, 6)
    best = rw.combine(feature(0), feature(1), measure, queries, whole_line=whole_line)
    told = best.training
    assert list(best.weights) == [1 - told["alpha"], told["alpha"]]
    assert rw.evaluate(best, queries, [measure])[measure].mean == told["best"]
    assert told["first"] == rw.evaluate(feature(0), queries, [measure])[measure].mean
    assert told["second"] == rw.evaluate(feature(1), queries, [measure])[measure].mean
    assert told["best"] >= max(told["first"], told["second"])
    assert whole_line or 0 <= told["alpha"] <= 1
    problem = []
    for rows in queries.slices():
        a, b = queries.features[rows, :2].T.astype(float)
        problem.append((a.tolist(), (b - a).tolist(), queries.labels[rows].tolist()))
    low, high = (-np.inf, np.inf) if whole_line else (0, 1)
    value = rw.measure(measure).value
    exact = max(naive.mean_at(problem, t, value) for t, _ in naive.points(problem, low, high))
    assert told["best"] == pytest.approx(exact, abs=1e-12)


def test_a_single_point_beats_all_stretches_only_where_ties_do() -> None:
    # The first query is right up to 1/2, the second from 1/2 on: there both are, as their rows stand.
    X = [[1, 0], [0, 1], [0, 1], [1, 0]]
    best = rw.combine(
        rw.LinearScorer.feature(0, 2), rw.LinearScorer.feature(1, 2), "mrr", X, [1, 0, 1, 0], qid=[1, 1, 2, 2]
    )
    assert (best.training["alpha"], best.training["best"]) == (0.5, 1.0)


def test_the_combination_is_a_scorer_that_saves(tmp_path: Path) -> None:
    queries = data()
    ranker = rw.LambdaRank(hidden=0, epochs=3).fit(queries)
    best = rw.combine(ranker, feature(0), rw.measure("map"), queries)
    best.save(tmp_path / "model.rw")
    loaded = rw.load(tmp_path / "model.rw")
    assert np.array_equal(loaded.predict(queries), best.predict(queries))
    assert loaded.measure == "map" and loaded.training == best.training


def test_several_rankers_by_sweeps() -> None:
    queries = data()
    best = rw.blend([feature(f) for f in range(3)], "ndcg@5", queries)
    told = best.training
    assert told["best"] == rw.evaluate(best, queries, ["ndcg@5"])["ndcg@5"].mean
    two = rw.combine(feature(0), feature(1), "ndcg@5", queries)
    assert told["best"] >= max(told["singles"])
    assert told["best"] > max(told["singles"]) or two.training["best"] == max(told["singles"])
    alone = rw.blend([feature(1)], "ndcg@5", queries)
    assert list(alone.weights) == [1.0]


@pytest.mark.parametrize(
    "learner", [rw.LambdaRank(hidden=0, epochs=5), rw.LambdaMART(n_estimators=3, min_samples_leaf=5)]
)
def test_several_rankers_by_a_learner(learner: Any, tmp_path: Path) -> None:
    queries, valid = data(), data(seed=1)
    stack = rw.blend([feature(f) for f in range(3)], "map", queries, learner=learner, valid=valid)
    assert isinstance(stack, rw.Stack)
    direct = type(learner)(**learner.get_params()).fit(queries, valid=valid)
    # The scores are the features here, so the learner on the features is the same.
    assert np.array_equal(stack.predict(queries), direct.predict(queries))
    stack.save(tmp_path / "model.rw")
    assert np.array_equal(rw.load(tmp_path / "model.rw").predict(queries), stack.predict(queries))
    assert not hasattr(learner, "scorer_")


def test_what_is_no_ranker_is_refused() -> None:
    with pytest.raises(rw.InputError, match="LambdaRank is no fitted learner"):
        rw.combine(rw.LambdaRank(), feature(0), "map", data())
    with pytest.raises(rw.InputError, match="no rankers"):
        rw.blend([], "map", data())
    with pytest.raises(rw.InputError, match="learner is 'net'"):
        rw.blend([feature(0)], "map", data(), learner="net")  # type: ignore[arg-type]
    with pytest.raises(rw.InputError, match="no labels"):
        rw.combine(feature(0), feature(1), "map", np.zeros((2, 3)), qid=1)


def test_the_mean_is_measured_and_not_believed(monkeypatch: Any) -> None:
    """Where a sweep promises what no float between two crossings keeps, the next candidate is taken."""
    queries = data()
    monkeypatch.setattr(Profile, "candidates", lambda self, most: [0.0, 1.0])
    best = rw.combine(feature(0), feature(1), "map", queries)
    assert best.training["best"] == max(best.training["first"], best.training["second"])
