"""Coordinate ascent: its line searches are exact, its cycles never lose, the best of all starts is kept."""

import numpy as np
import pytest

import rankwright as rw
from rankwright.learners.base import judge
from rankwright.learners.coordinate_ascent import Climb


def data(seed=0, queries=6, size=7):
    random = np.random.default_rng(seed)
    X = random.standard_normal((queries * size, 3)).astype(np.float32)
    y = np.digitize(X @ [1, -1, 0.5] + random.standard_normal(len(X)), [0.0, 1.5]).astype(float)
    return rw.QuerySet(X, y, qid=np.repeat(np.arange(queries), size))


@pytest.mark.parametrize("name", ["ndcg@3", "map", "err"])
def test_no_step_along_a_weight_does_better(name):
    """Between any two changes of order, and beyond the outermost."""
    queries, weights = data(), np.array([0.2, 0.1, 0.7])
    mean = judge(rw.measure(name), queries)
    climb = Climb(rw.measure(name), queries, np.asarray(queries.features), 1)
    climb.start_at(weights.copy())
    assert climb.along(1) and climb.value == mean(queries.features.astype(float) @ climb.weights)
    start, moved = queries.features.astype(float) @ weights, queries.features[:, 1].astype(float)
    crossings = [-1e3, 1e3]
    for rows in queries.slices():
        for i in range(rows.start, rows.stop):
            for j in range(i + 1, rows.stop):
                crossings.append(-(start[i] - start[j]) / (moved[i] - moved[j]))
    crossings.sort()
    middles = (np.array(crossings[1:]) + crossings[:-1]) / 2
    assert climb.value == pytest.approx(max(mean(start + t * moved) for t in middles), abs=1e-12)


def test_cycles_climb_and_the_best_of_all_starts_is_kept():
    queries = data(queries=12)
    ranker = rw.CoordinateAscent(measure="map", n_starts=3, tol=0.0).fit(queries)
    for start in (1, 2, 3):
        values = [record["train"] for record in ranker.history_ if record["start"] == start]
        assert (np.diff(values) >= 0).all()
    assert ranker.score(queries) == pytest.approx(max(r["train"] for r in ranker.history_), abs=1e-12)
    assert np.abs(ranker.scorer_.weights).sum() == pytest.approx(1)
    held = data(9)
    chosen = rw.CoordinateAscent(measure="map", n_starts=3).fit(queries, valid=held)
    assert chosen.score(held) == pytest.approx(max(r["valid"] for r in chosen.history_), abs=1e-12)


def test_any_measure_of_ones_own():
    @rw.measure
    def good_first_in_ascent(labels):
        return float(labels[0] > 0)

    queries = data()
    ranker = rw.CoordinateAscent(measure=good_first_in_ascent, max_iter=3).fit(queries)
    assert ranker.score(queries) >= 0.8


def test_a_weight_that_changes_no_order_stays():
    queries = rw.QuerySet([[1, 3], [2, 3], [3, 3]], [0, 1, 2], qid=0)
    ranker = rw.CoordinateAscent(n_starts=1).fit(queries)
    assert ranker.score(queries) == 1 and len(ranker.history_) == 1 and ranker.history_[0]["changed"] == 0


@pytest.mark.parametrize("changes", [{"n_starts": 0}, {"max_iter": 0}, {"tol": -1}])
def test_refusals(changes):
    with pytest.raises(rw.InputError, match=next(iter(changes))):
        rw.CoordinateAscent(**changes).fit([[1], [2]], [0, 1], qid=0)
    with pytest.raises(rw.InputError, match="nothing to learn from"):
        rw.CoordinateAscent().fit([[1], [2]], [0, 0], qid=0)
