"""ListNet, ListMLE and RankProp: costs against the definitions, slopes against finite differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import listwise as naive
from tests.naive import networks

import rankwright as rw
from rankwright.learners.listmle import likelihood_slopes
from rankwright.learners.listnet import top_one_slopes
from rankwright.learners.rankprop import rank_targets, regression_slopes
from rankwright.networks.net import layers

SIZES = (3, 4, 1)
scores = st.lists(st.floats(-4, 4, width=32), min_size=1, max_size=5)


def run(kernel, given_scores, targets, weights=None):
    """The cost of a query, and its slopes."""
    n = len(given_scores)
    out = np.full(n, np.nan, np.float32)
    w = np.ones(n) if weights is None else np.array(weights, float)
    cost = kernel(np.uint64(n), np.array(given_scores, np.float32), np.array(targets, float), w, out)
    return cost, out


@given(scores, st.data())
@settings(max_examples=40)
def test_listnet_is_the_cross_entropy_of_top_one_probabilities(s, data):
    labels = data.draw(st.lists(st.integers(0, 4), min_size=len(s), max_size=len(s)))
    cost, slopes = run(top_one_slopes, s, labels)
    assert cost == pytest.approx(naive.listnet(s, labels), rel=1e-5, abs=1e-9)
    expected = networks.slopes(lambda at: naive.listnet(at.tolist(), labels), np.array(s))
    np.testing.assert_allclose(slopes, expected, atol=1e-5)
    assert slopes.sum() == pytest.approx(0, abs=1e-6)


@given(scores, st.randoms(), st.booleans())
@settings(max_examples=60)
def test_listmle_is_the_likelihood_of_the_order(s, random, weighted):
    order = random.sample(range(len(s)), len(s))
    weights = [random.uniform(0.1, 3) for _ in s] if weighted else None
    cost, slopes = run(likelihood_slopes, s, order, weights)
    if not weighted:
        assert cost == pytest.approx(-np.log(naive.probability(order, s)), rel=1e-5, abs=1e-6)
    expected = networks.slopes(lambda at: naive.listmle(at.tolist(), order, weights), np.array(s))
    np.testing.assert_allclose(slopes, expected, rtol=1e-4, atol=1e-5)


def test_scores_far_apart_overflow_nothing():
    for kernel, targets in ((top_one_slopes, [2, 1, 0]), (likelihood_slopes, [0, 1, 2])):
        cost, slopes = run(kernel, [-3e5, 0, 3e5], targets)
        assert 1e5 < cost < 1e6 and np.isfinite(slopes).all()


def test_a_document_of_weight_two_is_there_twice():
    cost, slopes = run(top_one_slopes, [0.3, -1.0, 2.0], [1, 0, 2], [2, 1, 1])
    twice, each = run(top_one_slopes, [0.3, 0.3, -1.0, 2.0], [1, 1, 0, 2])
    assert cost == pytest.approx(twice)
    np.testing.assert_allclose(slopes, [each[0] + each[1], each[2], each[3]], rtol=1e-6)
    for kernel, targets in ((top_one_slopes, [1, 0]), (likelihood_slopes, [0, 1])):
        assert not run(kernel, [1.0, 2.0], targets, [0, 0])[1].any()


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(-2, 2)), min_size=1, max_size=9))
def test_rankprop_sorts_by_label_and_then_by_output(documents):
    labels, outputs = (np.array(column, float) for column in zip(*documents, strict=True))
    np.testing.assert_allclose(rank_targets(labels, outputs), naive.rankprop_targets(labels, outputs))


def data(sizes=(5, 1, 7), seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((sum(sizes), SIZES[0])).astype(np.float32)
    y = np.digitize(X[:, 0] + 0.3 * random.standard_normal(len(X)), [-0.5, 0.5]).astype(float)
    return X, y, np.repeat(np.arange(len(sizes)), sizes)


def one_step(kind, X, y, qid, weights, **extra):
    """The gradient of one epoch with one update, read off the weights it leaves."""
    ranker = kind(
        hidden=SIZES[1], init=layers(SIZES, weights), optimiser="sgd", learning_rate=1.0, batch_size=1000,
        standardise=False, epochs=1,
    )  # fmt: skip
    ranker.fit(rw.QuerySet(X, y, qid=qid, **extra))
    found = [np.concatenate([matrix.ravel(), offsets]) for matrix, offsets in ranker.scorer_.layers]
    return weights - np.concatenate(found), ranker


@pytest.mark.parametrize("kind", [rw.ListNet, rw.RankProp])
def test_the_net_follows_the_gradient(kind):
    X, y, qid = data()
    y[1] = np.nan  # unjudged: in no list
    weights = np.random.default_rng(1).standard_normal(21)
    outputs = np.array([networks.output(SIZES, weights, x) for x in X])
    known, targets = ~np.isnan(y), np.full(len(y), np.nan)
    targets[known] = rank_targets(y[known], outputs[known])

    def cost(at):
        total = 0.0
        for q, weight in enumerate([1.0, 1.0, 2.0]):
            rows = [row for row in np.flatnonzero(qid == q) if known[row]]
            s = [networks.output(SIZES, at, X[row]) for row in rows]
            if kind is rw.RankProp:
                total += weight * sum((s[i] - targets[row]) ** 2 / 2 for i, row in enumerate(rows))
            else:
                p, z = np.exp(y[rows]) / np.exp(y[rows]).sum(), np.exp(s) / np.exp(s).sum()
                total -= weight * (p * np.log(z)).sum()
        return total

    found, ranker = one_step(kind, X, y, qid, weights, query_weight=[1.0, 1.0, 2.0])
    expected = networks.slopes(cost, weights)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4 * np.abs(expected).max())
    assert (expected[-1] == pytest.approx(0, abs=1e-8)) == (kind is rw.ListNet)
    assert ranker.history_[0]["cost"] > 0


def test_rankprop_finds_targets_of_its_own():
    """Labels of two levels, and outputs that spread within each."""
    X, y, qid = data((10,) * 10)
    y = (y > 1).astype(float)
    ranker = rw.RankProp(hidden=0, epochs=40, learning_rate=0.01, measure="auc").fit(X, y, qid=qid)
    assert ranker.score(X, y, qid=qid) > 0.9
    costs = [record["cost"] for record in ranker.history_]
    assert costs[-1] < costs[0] / 3
    settled = rw.RankProp(hidden=0, epochs=2000, learning_rate=0.01, batch_size=10, unchanged_epochs=3)
    assert len(settled.fit(X, y, qid=qid).history_) < 2000


def test_orders_of_equal_labels_are_drawn_anew():
    X, y, qid = data()
    runs = [rw.ListMLE(hidden=0, epochs=2, random_state=s).fit(X, y, qid=qid).history_ for s in (0, 0, 1)]
    costs = [[record["cost"] for record in history] for history in runs]
    assert costs[0] == costs[1] != costs[2]


@pytest.mark.parametrize("kind", [rw.ListNet, rw.ListMLE, rw.RankProp])
def test_equal_labels_teach_nothing(kind):
    with pytest.raises(rw.InputError, match="nothing to learn from"):
        kind().fit([[1], [2]], [1, 1], qid=0)


@pytest.mark.parametrize("kind", [rw.ListNet, rw.ListMLE, rw.RankProp])
def test_a_net_that_runs_away_is_named(kind):
    X, y, qid = data()
    with pytest.raises(rw.InputError, match="diverged"):
        kind(optimiser="sgd", learning_rate=1e9, epochs=5).fit(1e4 * X, y, qid=qid)


def test_regression():
    cost, slopes = run(regression_slopes, [1.0, 0.5], [0.0, 1.0], [2.0, 1.0])
    assert cost == pytest.approx(1.125) and slopes.tolist() == [2.0, -0.5]
