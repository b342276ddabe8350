import itertools
import warnings

import numpy as np
import pytest
from tests.naive import networks as naive
from tests.naive.lambdas import lambdas as naive_lambdas

import rankwright as rw
from rankwright.measures import NDCG
from rankwright.measures.lists import Lists
from rankwright.networks.net import layers, n_weights
from rankwright.pairwise.forces import Forces
from rankwright.pairwise.rules import rule

SIZES = (3, 4, 1)
MEASURES = ["ndcg", "ndcg@2", "map", "mrr", "err", "wta", "p@2", "rbp(p=0.8)", "auc", "bpref", "pairs"]


def data(sizes=(5, 1, 7), seed=0, levels=3):
    random = np.random.default_rng(seed)
    X = random.standard_normal((sum(sizes), SIZES[0])).astype(np.float32)
    y = np.digitize(X[:, 0] + 0.3 * random.standard_normal(len(X)), np.linspace(-1, 1, levels - 1)).astype(
        float
    )
    return X, y, np.repeat(np.arange(len(sizes)), sizes)


def weights_of(scorer):
    return np.concatenate([np.concatenate([matrix.ravel(), offsets]) for matrix, offsets in scorer.layers])


def one_step(X, y, qid, weights, **settings):
    """What one update with a learning rate of 1 adds to the weights, so the gradient upwards."""
    options = {
        "optimiser": "sgd",
        "learning_rate": 1.0,
        "batch_size": 10_000,
        "standardise": False,
        "epochs": 1,
    }
    ranker = rw.LambdaRank(hidden=SIZES[1], init=layers(SIZES, weights), **{**options, **settings})
    ranker.fit(X, y, qid=qid)
    return weights_of(ranker.scorer_) - weights


def followed(X, weights, push):
    """Σ λᵢ ∂sᵢ/∂w by finite differences."""
    return naive.slopes(
        lambda w: sum(f * naive.output(SIZES, w, x) for f, x in zip(push, X, strict=True)), weights
    )


def swap_gain(measure):
    def change(labels, i, j):
        swapped = list(labels)
        swapped[i], swapped[j] = swapped[j], swapped[i]
        found = [measure.value(given) for given in (swapped, labels)]
        return 0.0 if np.isnan(found[0]) else found[0] - found[1]

    return change


@pytest.mark.parametrize("name", MEASURES)
def test_follows_the_lambdas_of_the_measure(name):
    X, y, qid = data()
    weights = np.random.default_rng(1).standard_normal(n_weights(SIZES))
    push = np.zeros(len(X))
    for query in range(3):
        own = qid == query
        scores = [naive.output(SIZES, weights, x) for x in X[own]]
        push[own] = naive_lambdas(y[own], scores, swap_gain(rw.measure(name)), sigma=0.7)[0]
    expected = followed(X, weights, push)
    found = one_step(X, y, qid, weights, measure=name, sigma=0.7)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())


def test_a_users_measure_is_trained_like_ours():
    @rw.measure
    def top_two(labels):
        return float((labels[:2] > 0).mean())

    X, y, qid = data((8, 9))
    weights = np.random.default_rng(1).standard_normal(n_weights(SIZES))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rw.SlowWarning)
        found = one_step(X, y, qid, weights, measure=top_two)
    np.testing.assert_allclose(found, one_step(X, y, qid, weights, measure="p@2"), rtol=1e-4, atol=1e-5)


def test_a_measure_without_swap_gains_is_refused_by_name():
    class Plain(NDCG):
        row_kernel = None

    X, y, qid = data()
    with pytest.raises(rw.InputError, match=r"ndcg.* has no swap gains"):
        rw.LambdaRank(measure=Plain(k=3)).fit(X, y, qid=qid)


@pytest.mark.parametrize("name", ["spring", "local-gradient", "discrete-bounded", "step-potential"])
def test_rules_push_in_the_place_of_the_default(name):
    X, y, qid = data((6, 7))
    weights = np.random.default_rng(1).standard_normal(n_weights(SIZES))
    queries = rw.QuerySet(X, y, qid=qid)
    lists = Lists(queries.labels, queries.offsets)
    scores = [naive.output(SIZES, weights, x) for x in X]
    push = Forces(rule(name), lists, rw.measure("ndcg")).at(scores).lambdas
    expected = followed(X, weights, push)
    found = one_step(X, y, qid, weights, measure="ndcg", rule=name)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * max(1, np.abs(expected).max()))


def test_the_default_is_the_rule_that_won():
    X, y, qid = data((6, 7, 8))
    fitted = [
        rw.LambdaRank(measure="ndcg@3", epochs=3, batch_size=batch, learning_rate=0.01, rule=given).fit(
            X, y, qid=qid
        )
        for batch in (1, 2)
        for given in (None, rule("ranknet-weight-pairs"))
    ]
    for ours, ruled in (fitted[:2], fitted[2:]):
        np.testing.assert_allclose(ours.predict(X), ruled.predict(X), rtol=1e-4, atol=1e-5)


def test_weights_of_documents_and_queries():
    X, y, qid = data((6, 7))
    weights, random = np.random.default_rng(1).standard_normal(n_weights(SIZES)), np.random.default_rng(0)
    documents, queries = random.uniform(0, 2, len(X)), [0.5, 3.0]
    push = np.zeros(len(X))
    for query in range(2):
        own = qid == query
        scores = [naive.output(SIZES, weights, x) for x in X[own]]
        push[own] = naive_lambdas(
            y[own], scores, swap_gain(rw.measure("ndcg")), weights=documents[own], query_weight=queries[query]
        )[0]
    train = rw.QuerySet(X, y, qid=qid, sample_weight=documents, query_weight=queries)
    for given in (None, "ranknet-weight-pairs"):
        found = one_step(train, None, None, weights, measure="ndcg", rule=given)
        np.testing.assert_allclose(found, followed(X, weights, push), rtol=1e-4, atol=1e-5)


def test_the_schedule_looks_at_the_measure():
    X, _, qid = data((10,) * 10)
    y = np.random.default_rng(0).integers(0, 3, 100).astype(float)
    ranker = rw.LambdaRank(measure="ndcg@3", epochs=30, learning_rate=0.3, decay=0.8).fit(X, y, qid=qid)
    values = [record["train"] for record in ranker.history_]
    rates = [record["learning_rate"] for record in ranker.history_]
    fell = [after < before for before, after in itertools.pairwise(values[:-1])]
    assert any(fell)
    for number, worse in enumerate(fell):
        assert rates[number + 2] == pytest.approx(rates[number + 1] * (0.8 if worse else 1.0))
    assert ranker.score(X, y, qid=qid) == pytest.approx(max(values), abs=1e-12)


def test_combines_rankers_as_a_linear_net_on_their_scores():
    """2010 section 7.1: other rankers' scores are the features."""
    X, y, qid = data((20,) * 30, levels=5)
    rankers = [rw.LinearScorer.feature(k, 3) for k in range(3)]
    scores = np.column_stack([ranker.predict(X) for ranker in rankers])
    combined = rw.LambdaRank(hidden=0, epochs=50, learning_rate=0.01).fit(scores, y, qid=qid)
    alone = [rw.evaluate(column, y, ["ndcg@10"], qid=qid)["ndcg@10"].mean for column in scores.T]
    assert combined.score(scores, y, qid=qid) >= max(alone) - 0.002
    assert len(combined.scorer_.weights) == 3


def test_selects_on_valid_and_stops():
    X, y, qid = data((10,) * 10)
    held = rw.QuerySet(*data((10,) * 5, seed=5)[:2], qid=np.repeat(np.arange(5), 10))
    ranker = rw.LambdaRank(epochs=300, learning_rate=0.05, early_stopping_rounds=3, hidden=2)
    ranker.fit(X, y, qid=qid, valid=held)
    assert len(ranker.history_) < 300
    assert ranker.score(held) == pytest.approx(max(record["valid"] for record in ranker.history_), abs=1e-12)


@pytest.mark.parametrize(
    ("settings", "y", "message"),
    [
        ({}, [1, 1, 0, 0], "nothing to learn from"),
        ({"measure": "map"}, [0, 0, 0, 0], "nothing to learn from"),
        ({"measure": "map"}, [1, 2, 1, 3], "nothing to learn from"),
        ({}, [0, -1, 0, 1], "row 1: label -1"),
        ({"measure": "ndcg@0"}, None, "cut-off"),
        ({"measure": "ndcg(ties=average)"}, None, "ties"),
        ({"rule": "attraction"}, None, "no λ rule"),
        ({"rule": "spring", "sigma": 2.0}, None, "sigma"),
        ({"sigma": -1.0}, None, "sigma"),
        ({"sigma": "1"}, None, "sigma is '1'; give a number"),
        ({"rule": 3}, None, "no λ rule 3"),
        ({"hidden": "10"}, None, "hidden"),
    ],
)
def test_refuses_what_it_cannot_use(settings, y, message):
    with pytest.raises(rw.InputError, match=message):
        rw.LambdaRank(**settings).fit([[1], [2], [3], [4]], y or [0, 1, 0, 1], qid=[0, 0, 1, 1])


def test_what_weighs_nothing_teaches_nothing():
    """A query without weight makes no update, by Adam's momentum neither; and some weight there must be."""
    X, y, qid = data((5,) * 4)
    settings = {"hidden": 2, "epochs": 3, "standardise": False}
    some = rw.LambdaRank(**settings).fit(X, y, qid=qid, query_weight=[1, 1, 0, 0])
    few = rw.LambdaRank(**settings).fit(X[:10], y[:10], qid=qid[:10])
    assert np.array_equal(weights_of(some.scorer_), weights_of(few.scorer_))
    for weights in ({"sample_weight": np.zeros(20)}, {"query_weight": np.zeros(4)}):
        with pytest.raises(rw.InputError, match="nothing to learn from"):
            rw.LambdaRank(**settings).fit(X, y, qid=qid, **weights)


@pytest.mark.parametrize("given", [None, "ranknet-weight-pairs"])
def test_a_net_that_runs_away_is_stopped(given):
    X, y, qid = data((5,) * 5)
    ranker = rw.LambdaRank(hidden=0, standardise=False, optimiser="sgd", learning_rate=1e9, rule=given)
    with pytest.raises(rw.InputError, match=r"diverged at step \d+ with a learning rate of 1e\+09"):
        ranker.fit(X, y, qid=qid)


def test_what_it_cannot_learn_from_is_refused():
    X, y = np.arange(8.0).reshape(4, 2), [0, 1, 0, 1]
    with pytest.raises(rw.InputError, match="LambdaRank has no preferences="):
        rw.LambdaRank(epochs=1).fit(X, y, qid=0, preferences=[(1, 0)])
    forest = rw.MART(n_estimators=1, min_samples_leaf=1).fit(X, y, qid=0)
    with pytest.raises(rw.InputError, match="init is a ForestScorer"):
        rw.LambdaRank(epochs=1, init=forest).fit(X, y, qid=0)
