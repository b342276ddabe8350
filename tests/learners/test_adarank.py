"""AdaRank against its box, for several measures; a worked example; rounds that would repeat themselves."""

import numpy as np
import pytest
from tests.naive import weak_rankers as naive

import rankwright as rw
from rankwright.learners.adarank import importance, reweighed


def data(sizes=(8, 1, 9, 7, 10), seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((sum(sizes), 3)).astype(np.float32)
    y = np.digitize(X @ [1, -1, 1] + random.standard_normal(len(X)), [0.0, 1.5]).astype(float)
    return X, y, np.repeat(np.arange(len(sizes)), sizes)


@pytest.mark.parametrize("name", ["ndcg@3", "map", "err"])
def test_rounds_are_the_papers_box(name):
    X, y, qid = data()
    measure = rw.measure(name)
    rows = [np.flatnonzero(qid == q).tolist() for q in range(5)]
    rows = [own for own in rows if not np.isnan(measure.value(y[own]))]

    def value(q, scores):
        return measure.value(y[rows[q]][np.argsort(-np.array(scores), kind="stable")])

    expected = naive.adarank(X.astype(float).tolist(), rows, value, 8)
    ranker = rw.AdaRank(measure=name, n_estimators=8, standardise=False).fit(X, y, qid=qid)
    assert [record["feature"] for record in ranker.history_] == [f for f, _, _ in expected]
    assert len({f for f, _, _ in expected}) > 1
    found = [record["alpha"] for record in ranker.history_]
    np.testing.assert_allclose(found, [sign * alpha for _, sign, alpha in expected], rtol=1e-9)


def test_a_worked_example():
    """Two queries of a bad and a good document: feature 0 is right in the first, feature 1 tells nothing.

    E = MRR: feature 0 has 1 and ½ (downward ½ and 1), feature 1 has ½ and ½. Round 1 takes feature 0 upward,
    α = artanh ¾, and the second query then weighs e^−½ / (e^−1 + e^−½).
    """
    X, y = [[0, 5], [1, 5], [1, 5], [0, 5]], [0, 1, 0, 1]
    ranker = rw.AdaRank(measure="mrr", n_estimators=1, standardise=False).fit(X, y, qid=[0, 0, 1, 1])
    assert ranker.history_[0]["feature"] == 0 and ranker.history_[0]["train"] == 0.75
    assert ranker.scorer_.weights.tolist() == [np.arctanh(0.75), 0]
    assert importance(0.75) == pytest.approx(0.5 * np.log(1.75 / 0.25))
    np.testing.assert_allclose(
        reweighed(np.array([1.0, 0.5]), np.ones(2))[1], np.exp(-0.5) / (np.exp(-1) + np.exp(-0.5))
    )


def test_a_feature_is_not_taken_twice_for_the_same_weights():
    X, y, qid = data()
    ranker = rw.AdaRank(measure="map", n_estimators=50).fit(X, y, qid=qid)
    taken = [(record["feature"], record["alpha"] > 0) for record in ranker.history_]
    values = [record["train"] for record in ranker.history_]
    for t in range(2, len(taken)):
        if values[t] == values[t - 1] == values[t - 2]:
            assert len({taken[t], taken[t - 1]}) == 2
    assert max(values) > values[0]


def test_a_perfect_feature_is_enough():
    """Every E is 1 from the first round on; the others follow, and training ends."""
    X = np.array([[2, 0], [1, 0], [2, 1], [1, 0]], float)
    ranker = rw.AdaRank(n_estimators=100).fit(X, [1, 0, 1, 0], qid=[0, 0, 1, 1])
    assert ranker.score(X, [1, 0, 1, 0], qid=[0, 0, 1, 1]) == 1 and len(ranker.history_) <= 4
    assert np.isfinite(ranker.scorer_.weights).all()


def test_weights_of_queries():
    X, y, qid = data((6, 6))
    weighed = rw.AdaRank(measure="map", n_estimators=3).fit(rw.QuerySet(X, y, qid=qid, query_weight=[1, 0]))
    alone = rw.AdaRank(measure="map", n_estimators=3, standardise=False).fit(X[:6], y[:6], qid=qid[:6])
    assert weighed.history_[0]["feature"] == alone.history_[0]["feature"]
    assert weighed.history_[0]["train"] == pytest.approx(alone.history_[0]["train"])


def test_the_best_round_is_kept_and_larger_measures_are_scaled():
    X, y, qid = data((10,) * 8)
    held = rw.QuerySet(*data((10,) * 8, 7)[:2], qid=qid)
    ranker = rw.AdaRank(measure="dcg", n_estimators=30, early_stopping_rounds=8)
    ranker.fit(X, y, qid=qid, valid=held)
    values = [record["valid"] for record in ranker.history_]
    assert ranker.score(held) == pytest.approx(max(values)) and max(values) > 1
    assert ranker.history_[0]["train"] > 1


@pytest.mark.parametrize("changes", [{"n_estimators": 0}, {"early_stopping_rounds": 1.5}])
def test_refusals(changes):
    with pytest.raises(rw.InputError, match=next(iter(changes))):
        rw.AdaRank(**changes).fit([[1], [2]], [0, 1], qid=0)
    with pytest.raises(rw.InputError, match="nothing to learn from"):
        rw.AdaRank().fit([[1], [2]], [0, 0], qid=0)
