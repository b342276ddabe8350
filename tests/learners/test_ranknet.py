import itertools
import re

import numpy as np
import pytest
from tests.naive import networks as naive

import rankwright as rw
from rankwright.networks.net import layers
from rankwright.pairwise.probabilities import probability

SIZES = (3, 4, 1)


def data(sizes=(5, 1, 7), seed=0, levels=3):
    """Queries of these sizes whose labels follow the first feature, more or less."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((sum(sizes), SIZES[0])).astype(np.float32)
    y = np.digitize(X[:, 0] + 0.3 * random.standard_normal(len(X)), np.linspace(-1, 1, levels - 1)).astype(
        float
    )
    return X, y, np.repeat(np.arange(len(sizes)), sizes)


def start(sizes=SIZES, seed=1):
    return np.random.default_rng(seed).standard_normal(sum((a + 1) * b for a, b in itertools.pairwise(sizes)))


def weights_of(scorer):
    if isinstance(scorer, rw.LinearScorer):
        return np.append(scorer.weights, scorer.bias)
    return np.concatenate([np.concatenate([matrix.ravel(), offsets]) for matrix, offsets in scorer.layers])


def one_step(X, y, qid, weights, sizes=SIZES, preferences=None, **settings):
    """The gradient of one epoch with one update, read off the weights it leaves."""
    options = {
        "optimiser": "sgd",
        "learning_rate": 1.0,
        "batch_size": 10_000,
        "standardise": False,
        "epochs": 1,
    }
    ranker = rw.RankNet(hidden=sizes[1:-1] or 0, init=layers(sizes, weights), **{**options, **settings})
    extra = {} if preferences is None else {"preferences": preferences}
    ranker.fit(X, y, qid=qid, **extra)
    return weights - weights_of(ranker.scorer_), ranker


def exact(X, y, qid, weights, sizes=SIZES, ties=False, sigma=1.0, sample_weight=None):
    """The same by finite differences of the papers' cost; and that cost by query."""
    w = np.ones(len(X)) if sample_weight is None else sample_weight

    def cost(at, query=None):
        return sum(
            naive.query_cost(sizes, at, X[qid == q], naive.pairs_of(y[qid == q], ties), sigma, w[qid == q])
            for q in ([query] if query is not None else np.unique(qid))
        )

    return naive.slopes(cost, weights), cost


@pytest.mark.parametrize("ties", ["out", "half"])
@pytest.mark.parametrize("sizes", [SIZES, (3, 1), (3, 4, 2, 1)])
def test_v2s_gradient_is_v1s_and_that_of_finite_differences(sizes, ties):
    X, y, qid = data()
    weights = start(sizes)
    expected, cost = exact(X, y, qid, weights, sizes, ties == "half", sigma=0.7)
    for training in ("v2", "v1"):
        found, ranker = one_step(X, y, qid, weights, sizes, training=training, ties=ties, sigma=0.7)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())
        n = sum(len(naive.pairs_of(y[qid == q], ties == "half")) for q in range(3))
        assert ranker.history_[0]["cost"] == pytest.approx(cost(weights) / n, rel=1e-5)


def test_an_update_a_pair_follows_equations_12_to_15():
    X, y, qid = data((6,))
    weights = start()
    found, _ = one_step(X, y, qid, weights, training="pair", learning_rate=0.1)
    rows = np.argsort(-y, kind="stable")
    now = weights.copy()
    for at, i in enumerate(rows):
        for j in rows[at + 1 :]:
            if y[i] > y[j]:
                now -= 0.1 * naive.pair_gradient(SIZES, now, X[i].astype(float), X[j].astype(float), 1.0)
    np.testing.assert_allclose(weights - found, now, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("training", ["v1", "v2"])
def test_an_update_a_query(training):
    X, y, qid = data((5, 6, 7))
    weights = start()
    options = {"batch_size": 1, "learning_rate": 0.05, "random_state": 3, "training": training}
    found, _ = one_step(X, y, qid, weights, **options)
    now = weights.copy()
    for query in np.random.default_rng(3).permutation(3):
        inside = qid == query
        now -= 0.05 * exact(X[inside], y[inside], qid[inside], now)[0]
    np.testing.assert_allclose(weights - found, now, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("training", ["v1", "v2", "pair"])
def test_measured_probabilities_are_learned(training):
    """Pairs without labels, each with its P̄: a linear net with a feature a document finds the outputs."""
    ideal = np.array([0.9, -0.4, 0.1, -0.6])
    preferences = [(i, j, probability(ideal[i] - ideal[j])) for i in range(4) for j in range(i)]
    ranker = rw.RankNet(
        hidden=0, training=training, standardise=False, optimiser="sgd", learning_rate=0.5, epochs=400
    ).fit(np.eye(4), qid="one", preferences=preferences)
    scores = ranker.predict(np.eye(4))
    np.testing.assert_allclose(scores - scores.mean(), ideal - ideal.mean(), atol=2e-3)


def test_preferences_that_contradict_each_other():
    """A over B over C over A: no order is better than another, and ties are the best."""
    for training in ("v1", "v2"):
        ranker = rw.RankNet(
            hidden=0, training=training, standardise=False, optimiser="sgd", learning_rate=0.5
        )
        ranker.fit(np.eye(3), qid=0, preferences=[(0, 1), (1, 2), (2, 0)])
        assert np.ptp(ranker.predict(np.eye(3))) < 1e-3
        assert ranker.history_[-1]["cost"] == pytest.approx(np.log(2), rel=1e-3)


def test_preferences_name_given_rows_and_need_no_order_of_queries():
    X, _, _ = data((6,))
    qid = np.array([0, 1, 0, 1, 0, 1])
    preferences = [(0, 2), (3, 1, 0.8), (4, 0, 1.0, 2.0)]
    weights = start()
    found, _ = one_step(X, None, qid, weights, preferences=preferences)

    def cost(at):
        s = [naive.output(SIZES, at, x) for x in X]
        return (
            naive.pair_cost(s[0] - s[2], 1.0)
            + naive.pair_cost(s[3] - s[1], 0.8)
            + 2 * naive.pair_cost(s[4] - s[0], 1.0)
        )

    np.testing.assert_allclose(found, naive.slopes(cost, weights), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("training", ["v1", "v2"])
def test_weights_of_documents_and_queries(training):
    X, y, qid = data((5, 6))
    weights, random = start(), np.random.default_rng(0)
    documents, queries = random.uniform(0, 2, len(X)), [0.5, 3.0]
    gradients = [
        exact(X[qid == q], y[qid == q], qid[qid == q], weights, sample_weight=documents[qid == q])[0]
        for q in (0, 1)
    ]
    train = rw.QuerySet(X, y, qid=qid, sample_weight=documents, query_weight=queries)
    found, _ = one_step(train, None, None, weights, training=training)
    expected = 0.5 * gradients[0] + 3.0 * gradients[1]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())


def test_a_weight_of_two_is_a_query_twice():
    X, y, qid = data((5, 6))
    twice = np.concatenate([np.arange(11), np.arange(5)])
    again = np.concatenate([qid, np.full(5, 7)])
    one, _ = one_step(X[twice], y[twice], again, start())
    other, _ = one_step(rw.QuerySet(X, y, qid=qid, query_weight=[2, 1]), None, None, start())
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_unjudged_documents_are_in_no_pair():
    X, y, qid = data((6,))
    y[2] = np.nan
    known = ~np.isnan(y)
    for training in ("v1", "v2"):
        found, _ = one_step(X, y, qid, start(), training=training)
        other, _ = one_step(X[known], y[known], qid[known], start(), training=training)
        np.testing.assert_allclose(found, other, rtol=1e-5, atol=1e-6)


def test_the_penalty_belongs_to_the_whole_epoch():
    """Its pull does not depend on how many updates an epoch has."""
    X, y, qid = data((5,) * 8)
    found = [
        one_step(X, y, qid, start(), l2_regularization=3.0, learning_rate=1e-5, batch_size=batch)[0]
        - one_step(X, y, qid, start(), learning_rate=1e-5, batch_size=batch)[0]
        for batch in (1, 8)
    ]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-3, atol=1e-9)
    expected = 3e-5 * np.concatenate([np.concatenate([m.ravel(), 0 * b]) for m, b in layers(SIZES, start())])
    np.testing.assert_allclose(found[1], expected, rtol=1e-3, atol=1e-9)


def test_learns_2005s_thousand_vectors_without_an_error():
    """Section 5.1: the labels of a random net, learned by a net of its kind from small weights."""
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (100, 5))
    outputs = np.tanh(X @ random.uniform(-1, 1, (5, 3))) @ random.uniform(-1, 1, 3)
    y = np.searchsorted(np.quantile(outputs, np.linspace(0, 1, 7)[1:-1]), outputs)
    ranker = rw.RankNet(hidden=3, init="small", epochs=300, learning_rate=0.02, measure="pairs")
    assert (
        ranker.fit(X, y, qid=np.repeat(np.arange(10), 10)).score(X, y, qid=np.repeat(np.arange(10), 10))
        > 0.99
    )


def test_goes_on_from_a_fitted_net():
    X, y, qid = data((10,) * 10)
    first = rw.RankNet(hidden=4, epochs=5).fit(X, y, qid=qid)
    more = rw.RankNet(hidden=4, epochs=1, init=first, optimiser="sgd", learning_rate=1e-12).fit(X, y, qid=qid)
    np.testing.assert_allclose(more.predict(X), first.predict(X), rtol=1e-6, atol=1e-9)
    linear = rw.RankNet(hidden=0, epochs=5).fit(X, y, qid=qid)
    more = rw.RankNet(hidden=0, epochs=1, init=linear.scorer_, optimiser="sgd", learning_rate=1e-12)
    np.testing.assert_allclose(more.fit(X, y, qid=qid).predict(X), linear.predict(X), rtol=1e-6, atol=1e-9)


def test_keeps_the_net_that_is_best_on_valid():
    X, y, qid = data((10,) * 10)
    held = rw.QuerySet(*data((10,) * 5, seed=5)[:2], qid=np.repeat(np.arange(5), 10))
    ranker = rw.RankNet(hidden=3, epochs=15, learning_rate=0.05).fit(X, y, qid=qid, valid=held)
    values = [record["valid"] for record in ranker.history_]
    assert ranker.score(held) == pytest.approx(max(values), abs=1e-12)
    stopped = rw.RankNet(hidden=3, epochs=500, learning_rate=0.05, early_stopping_rounds=3)
    stopped.fit(X, y, qid=qid, valid=(held.features, held.labels, np.repeat(np.arange(5), 10)))
    assert len(stopped.history_) < 500
    assert {"epoch", "cost", "valid", "learning_rate", "seconds"} <= set(stopped.history_[0])


def test_missing_values_count_as_the_mean_where_features_are_standardised():
    X, y, qid = data((10,) * 4)
    holes = X.copy()
    holes[3, 1] = np.nan
    filled = holes.copy()
    filled[3, 1] = np.nanmean(holes[:, 1].astype(float))
    ranker = rw.RankNet(epochs=2).fit(holes, y, qid=qid)
    np.testing.assert_allclose(ranker.predict(holes), ranker.predict(filled), atol=1e-6)
    with pytest.raises(rw.InputError, match="row 3: feature 1 is missing"):
        rw.RankNet(standardise=False).fit(holes, y, qid=qid)
    with pytest.raises(rw.InputError, match="row 3: feature 1 is missing"):
        rw.RankNet(standardise=False, epochs=1).fit(X, y, qid=qid, valid=(holes, y, qid))


@pytest.mark.parametrize(
    ("settings", "y", "message"),
    [
        ({}, [1, 1, 1, 1], "no pairs to learn from"),
        ({}, [np.nan] * 4, "no pairs to learn from"),
        ({"training": "v3"}, None, "training"),
        ({"ties": 0.5}, None, "ties"),
        ({"sigma": 0}, None, "sigma"),
        ({"sigma": "1"}, None, "sigma"),
        ({"hidden": -1}, None, "hidden"),
        ({"hidden": (3, 0)}, None, "hidden"),
        ({"hidden": 2.5}, None, "hidden"),
        ({"init": "zero"}, None, "init"),
        ({"init": None}, None, "init is None; give scaled or small, layers of"),
        ({"init": [[1.0], [2.0]]}, None, "init is"),
        ({"init": [([["a"]], [0.0])]}, None, "init is"),
        (
            {"init": [([[1.0, 2.0]], [0.0])]},
            None,
            r"init holds a net of \(2, 1\) units and this one has \(1, 10, 1\)",
        ),
        ({"optimiser": "lbfgs"}, None, "optimiser"),
        ({"random_state": "x"}, None, "random_state"),
    ],
)
def test_refuses_what_it_cannot_use(settings, y, message):
    with pytest.raises(rw.InputError, match=message):
        rw.RankNet(**settings).fit([[1], [2], [3], [4]], y or [0, 1, 0, 1], qid=[0, 0, 1, 1])


def test_weights_of_zero_leave_no_pairs():
    with pytest.raises(rw.InputError, match="no pairs"):
        rw.RankNet().fit([[1], [2]], [0, 1], qid=0, sample_weight=[1, 0])


@pytest.mark.parametrize("training", ["v1", "v2", "pair"])
@pytest.mark.parametrize(("scale", "rate"), [(1, 1e9), (1e30, 1.0), (1, 1e35)])
def test_a_net_that_runs_away_is_stopped(training, scale, rate):
    X, y, qid = data((5,) * 5)
    ranker = rw.RankNet(hidden=0, training=training, standardise=False, optimiser="sgd", learning_rate=rate)
    with pytest.raises(
        rw.InputError, match=r"diverged at step \d+ with a learning rate of " + re.escape(f"{rate:g}:")
    ):
        ranker.fit(X * np.float32(scale), y, qid=qid)


def test_the_same_twice_and_another_with_another_seed():
    X, y, qid = data((10,) * 5)
    fitted = [rw.RankNet(epochs=3, random_state=seed).fit(X, y, qid=qid).predict(X) for seed in (0, 0, 1)]
    assert np.array_equal(fitted[0], fitted[1]) and not np.array_equal(fitted[0], fitted[2])
    drawn = rw.RankNet(epochs=1, random_state=np.random.RandomState(0)).fit(X, y, qid=qid)
    assert drawn.history_


def test_what_was_trained_on_is_in_the_file(tmp_path):
    X, y, qid = data((10,) * 3)
    ranker = rw.RankNet(epochs=2, hidden=(3, 2)).fit(X, y, qid=qid)
    ranker.save(tmp_path / "net.rw")
    scorer = rw.load(tmp_path / "net.rw")
    assert scorer.parameters["learner"] == "RankNet" and scorer.training["epochs"] == 2
    assert repr(scorer) == "NetworkScorer(3 → 3 → 2 → 1)"
    assert np.array_equal(scorer.predict(X), ranker.predict(X))


@pytest.mark.parametrize("kind", [rw.RankNet, rw.LambdaRank])
def test_the_same_net_on_any_number_of_threads(kind):
    X, y, qid = data((7, 5, 9, 1, 6, 8, 4))
    fitted = [kind(epochs=2, batch_size=5, hidden=2, n_jobs=jobs).fit(X, y, qid=qid) for jobs in (1, 2, 3)]
    scores = [ranker.predict(X) for ranker in fitted]
    assert np.array_equal(scores[0], scores[1]) and np.array_equal(scores[0], scores[2])
