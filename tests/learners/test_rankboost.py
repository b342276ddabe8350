"""RankBoost against its box, a worked example, missing values, weights and its own bound."""

import numpy as np
import pytest
from tests.naive import weak_rankers as naive

import rankwright as rw
from rankwright.learners.rankboost import WeightedPairs, best_thresholds, importance


def data(sizes=(5, 1, 7, 4), seed=0, missing=0.0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((sum(sizes), 3)).astype(np.float32)
    y = np.digitize(X[:, 0] + 0.7 * random.standard_normal(len(X)), [-0.5, 0.5]).astype(float)
    X[random.random(X.shape) < missing] = np.nan
    return X, y, np.repeat(np.arange(len(sizes)), sizes)


def middles(column):
    known = np.unique(column[~np.isnan(column)])
    return [*((known[1:] + known[:-1]) / 2).tolist(), float("inf")]


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_rounds_are_the_papers_box(missing):
    X, y, qid = data(missing=missing)
    queries = [np.flatnonzero(qid == q).tolist() for q in range(4)]
    expected, d = naive.rankboost(X.tolist(), y, queries, [middles(c) for c in X.T], 6)
    ranker = rw.RankBoost(n_estimators=6).fit(X, y, qid=qid)
    assert [record["feature"] for record in ranker.history_] == [f for f, *_ in expected]
    found = [record["alpha"] for record in ranker.history_]
    np.testing.assert_allclose(found, [alpha for *_, alpha in expected], rtol=1e-9)
    scores = [
        sum(a * naive.weak(x[f], theta, h) for f, theta, h, a in expected) for x in X.astype(float).tolist()
    ]
    np.testing.assert_allclose(ranker.predict(X), scores, rtol=1e-9, atol=1e-12)
    # The potential of a document: what its pairs weigh where it is better, less where it is worse.
    pairs = WeightedPairs(rw.QuerySet(X, y, qid=qid))
    total = pairs.weigh(ranker.predict(X))
    potential = np.zeros(len(y))
    for (worse, better), weight in d.items():
        potential[better] += weight
        potential[worse] -= weight
    np.testing.assert_allclose(pairs.potential / total, potential, atol=1e-9)


def test_a_worked_example():
    """Labels 1, 0, 0 and one feature 3, 2, 5: the pairs (b, a) and (c, a), D = ½ each.

    θ = 2.5 has h = 1, 0, 1, r = ½ (1 − 0) + ½ (1 − 1) = ½; θ = 4 has h = 0, 0, 1 and r = −½; above all r = 0.
    The higher θ is met first: α = ½ ln(½ / (3/2)) = −0.549, but for the smoothing by 1/3.
    """
    ranker = rw.RankBoost(n_estimators=1).fit([[3.0], [2.0], [5.0]], [1, 0, 0], qid=0)
    assert ranker.history_[0]["r"] == -0.5
    assert ranker.history_[0]["alpha"] == pytest.approx(0.5 * np.log((0.5 + 1 / 3) / (1.5 + 1 / 3)))
    assert importance(-0.5) == pytest.approx(-np.log(3) / 2)
    assert ranker.predict([[3.9], [4.1]])[0] == 0 > ranker.predict([[4.1]])[0]


def test_the_loss_is_the_product_of_its_factors_and_bounds_the_error():
    """Theorem 1: the share of pairs in wrong order is at most Π Zₜ; each Z ≤ √(1 − r²), smoothing apart."""
    X, y, qid = data((20,) * 20)
    ranker = rw.RankBoost(n_estimators=40).fit(X, y, qid=qid)
    losses = np.array([record["loss"] for record in ranker.history_])
    r = np.array([record["r"] for record in ranker.history_])
    assert losses[0] == 1 and (losses[1:] / losses[:-1] <= np.sqrt(1 - r[:-1] ** 2) * 1.001).all()
    pairs = WeightedPairs(rw.QuerySet(X, y, qid=qid))
    scores = ranker.predict(X)
    wrong = sum(
        (scores[i] >= scores[j])
        for rows in np.split(np.arange(len(y)), 20)
        for i in rows
        for j in rows
        if y[i] < y[j]
    )
    assert wrong / pairs.total <= pairs.weigh(scores) / pairs.total


def test_weights_of_documents_and_queries_weigh_their_pairs():
    X, y, qid = data((6, 6))
    y[6] = np.nan
    first = rw.QuerySet(X, y, qid=qid, query_weight=[2.0, 0.0])
    only = rw.QuerySet(X[:6], y[:6], qid=qid[:6])
    one, other = (rw.RankBoost(n_estimators=1).fit(each) for each in (first, only))
    assert one.history_[0]["feature"] == other.history_[0]["feature"]
    assert one.history_[0]["r"] == pytest.approx(other.history_[0]["r"])
    weights = np.ones(12)
    weights[3] = 0
    pairs = WeightedPairs(rw.QuerySet(X, y, qid=qid, sample_weight=weights))
    assert pairs.potential[3] == 0 and pairs.potential.sum() == pytest.approx(0, abs=1e-12)


def test_a_query_without_labels_has_no_pairs():
    X, y, qid = data((6, 6))
    y[6:] = np.nan
    pairs, only = (WeightedPairs(rw.QuerySet(X[:n], y[:n], qid=qid[:n])) for n in (12, 6))
    assert pairs.total == only.total and not pairs.potential[6:].any()


def test_pairs_in_order_by_far_end_training():
    ranker = rw.RankBoost(n_estimators=500).fit([[0], [1], [2]], [0, 1, 2], qid=0)
    assert len(ranker.history_) < 200 and np.isfinite(ranker.predict([[0], [2]])).all()
    assert (np.diff(ranker.predict([[0], [1], [2]])) > 0).all()
    flat = rw.RankBoost(n_estimators=5).fit([[1], [1]], [0, 1], qid=0)
    assert len(flat.history_) == 1 and flat.predict([[1], [7]]).tolist() == [0, 0]


def test_the_best_step_is_kept():
    X, y, qid = data((10,) * 8)
    held = rw.QuerySet(*data((10,) * 8, 7)[:2], qid=qid)
    ranker = rw.RankBoost(n_estimators=60, early_stopping_rounds=15).fit(X, y, qid=qid, valid=held)
    values = [record["valid"] for record in ranker.history_]
    assert len(values) < 60 and ranker.scorer_.n_trees == 1 + int(np.argmax(values))
    assert ranker.score(held) == pytest.approx(max(values), abs=1e-12)


def test_thresholds_of_what_is_missing():
    """Missing against known is a threshold too: all that is known below θ."""
    columns = np.array([[0, 1, 2, 0]], np.uint8)
    out = np.empty((1, 3))
    best_thresholds(columns, np.array([0.4, -0.3, -0.2, 0.1]), np.array([3]), 0, 1, out)
    assert out.tolist() == [[0.5, 2.0, 1.0]]


@pytest.mark.parametrize("changes", [{"n_estimators": 0}, {"max_bins": 1}, {"early_stopping_rounds": 0}])
def test_refusals(changes):
    with pytest.raises(rw.InputError, match=next(iter(changes))):
        rw.RankBoost(**changes).fit([[1], [2]], [0, 1], qid=0)
    with pytest.raises(rw.InputError, match="no pairs"):
        rw.RankBoost().fit([[1], [2]], [1, 1], qid=0)
