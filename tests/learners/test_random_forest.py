"""A forest: its trees are MART's and LambdaMART's on bags of queries, its score is their mean."""

import numpy as np
import pytest

import rankwright as rw
from rankwright.learners.random_forest import drawn


def data(seed=0, queries=12, size=10):
    """Features of few values, so that bags have the bins of all."""
    random = np.random.default_rng(seed)
    X = random.integers(0, 4, (queries * size, 4)).astype(np.float32)
    y = np.digitize(X[:, 0] + X[:, 1] + random.standard_normal(len(X)), [2.5, 4.5]).astype(float)
    return rw.QuerySet(X, y, qid=np.repeat(np.arange(queries), size))


def bag(queries, state=0):
    """The queries of the first tree, with the times that each was drawn as its weight."""
    seed = int(np.random.default_rng(state).integers(2**31))
    counts = drawn(queries, seed, 0)[queries.offsets[:-1]]
    chosen = queries.select(counts > 0)
    return chosen.with_weights(query_weight=counts[counts > 0].astype(float))


@pytest.mark.parametrize("trees", ["mart", "lambdamart"])
def test_a_tree_is_one_of_boostings_on_its_bag(trees):
    queries = data()
    shape = {"max_leaf_nodes": 6, "min_samples_leaf": 3, "n_estimators": 1}
    ranker = rw.RandomForestRanker(trees=trees, features_per_node=4, **shape).fit(queries)
    if trees == "mart":
        other = rw.MART(learning_rate=1.0, **shape)
    else:
        other = rw.LambdaMART(learning_rate=1.0, truncation=None, **shape)
    expected = other.fit(bag(queries)).predict(queries)
    np.testing.assert_allclose(ranker.predict(queries), expected, rtol=1e-4, atol=1e-5)


def test_the_score_is_the_mean_of_the_trees():
    queries = data()
    few, more = (rw.RandomForestRanker(n_estimators=n, max_leaf_nodes=6).fit(queries) for n in (1, 3))
    start = few.scorer_.start
    one = more.scorer_.first(1).predict(queries) - start
    np.testing.assert_allclose(3 * one, few.predict(queries) - start, rtol=1e-5, atol=1e-7)
    assert more.scorer_.n_trees == 3


@pytest.mark.parametrize("how", [StopIteration, KeyboardInterrupt])
def test_ended_early_it_is_the_mean_of_the_trees_so_far(how):
    queries, told = data(), []

    def progress(record):
        told.append(record)
        if len(told) == 2:
            raise how

    ranker = rw.RandomForestRanker(n_estimators=50, max_leaf_nodes=6)
    if how is KeyboardInterrupt:
        with pytest.raises(KeyboardInterrupt, match="after 2 trees"):
            ranker.fit(queries, progress=progress)
    else:
        ranker.fit(queries, progress=progress)
    expected = rw.RandomForestRanker(n_estimators=2, max_leaf_nodes=6).fit(queries).predict(queries)
    np.testing.assert_allclose(ranker.predict(queries), expected, rtol=1e-6)
    assert len(ranker.history_) == ranker.scorer_.n_trees == 2
    assert ("interrupted" in ranker.scorer_.training) == (how is KeyboardInterrupt)
    assert ranker.feature_importances_.sum() == pytest.approx(1)


def test_more_trees_do_better():
    queries, held = data(queries=40), data(5)
    ranker = rw.RandomForestRanker(n_estimators=40, measure="pairs").fit(queries, valid=held)
    values = [record["valid"] for record in ranker.history_]
    assert ranker.score(held) == pytest.approx(values[-1], abs=1e-9) and values[-1] > values[0]
    assert len({record["leaves"] for record in ranker.history_}) > 1


def test_unjudged_documents_teach_nothing():
    queries = data()
    y = np.array(queries.labels)
    y[5] = np.nan
    hidden = rw.QuerySet(queries.features, y, qid=np.repeat(np.arange(12), 10))
    ranker = rw.RandomForestRanker(n_estimators=2, max_leaf_nodes=4).fit(hidden)
    assert (
        ranker.scorer_.start[0] == pytest.approx(np.nanmean(y)) and np.isfinite(ranker.predict(queries)).all()
    )


@pytest.mark.parametrize(
    "changes", [{"trees": "oak"}, {"n_estimators": 0}, {"features_per_node": 0}, {"max_leaf_nodes": 1}]
)
def test_refusals(changes):
    with pytest.raises(rw.InputError, match=next(iter(changes))):
        rw.RandomForestRanker(**changes).fit([[1], [2]], [0, 1], qid=0)
