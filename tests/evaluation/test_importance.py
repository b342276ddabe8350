"""What features are worth by shuffling them: against shuffles by hand, and where the answer is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright.evaluation.importance import shuffled


def data(**more: Any) -> rw.QuerySet:
    """Feature 0 tells documents apart, feature 1 queries, feature 2 nothing; rows of a query stand apart."""
    random = np.random.default_rng(0)
    qid = random.permutation(np.repeat(np.arange(30), 8))
    y = random.integers(0, 3, len(qid))
    X = np.column_stack([y + random.normal(size=len(qid)) / 4, qid, random.normal(size=len(qid))])
    return rw.QuerySet(X, y, qid=qid, feature_names=["document", "query", "nothing"], **more)


def test_only_what_the_ranker_uses_is_worth_something() -> None:
    found = rw.permutation_importance(rw.LinearScorer([1.0, 0.5, 0.0]), data(), "ndcg@5")
    assert found.value == rw.evaluate(rw.LinearScorer([1.0, 0.5, 0.0]), data(), "ndcg@5")["ndcg@5"].mean
    assert found.mean[0] > 0.2 and found.mean[1] == found.mean[2] == 0.0  # the query is the same to all of it
    low, high = found.interval[0]
    assert low < found.mean[0] < high
    over_all = rw.permutation_importance(rw.LinearScorer([1.0, 0.5, 0.0]), data(), "ndcg@5", within="data")
    assert over_all.mean[1] > 0.2 and over_all.mean[2] == 0.0
    assert over_all.to_dict()["feature"][-1] == "nothing"
    assert str(found).splitlines()[1].startswith("document ")


def test_losses_are_those_of_shuffling_by_hand() -> None:
    queries, ranker = data(query_weight=np.arange(30.0)), rw.LinearScorer([1.0, 0.0, 0.3])
    found = rw.permutation_importance(ranker, queries, "map", features=[2, 0], n_repeats=2, random_state=5)
    before = rw.evaluate(ranker, queries, "map")["map"].per_query
    for k, feature in enumerate((2, 0)):
        after = []
        for repeat in range(2):
            changed = shuffled(queries, feature, "query", np.random.default_rng([5, feature, repeat]))
            after.append(before - rw.evaluate(ranker, changed, "map")["map"].per_query)
        assert np.array_equal(found.per_query[k], np.mean(after, axis=0))
        assert found.mean[k] == pytest.approx(np.average(found.per_query[k], weights=np.arange(30.0)))
    assert found.names == ("nothing", "document") and len(found.query_ids) == 30
    assert found.interval.shape == (2, 2)


@pytest.mark.parametrize("within", ["query", "data"])
def test_shuffling_moves_the_values_of_one_feature_only(within: str) -> None:
    queries = data()
    changed = shuffled(queries, 0, within, np.random.default_rng(0))
    assert np.array_equal(changed.features[:, 1:], queries.features[:, 1:])
    assert not np.array_equal(changed.features[:, 0], queries.features[:, 0])
    assert sorted(changed.features[:, 0]) == sorted(queries.features[:, 0])
    before, after = queries.features[:, 0], changed.features[:, 0]
    stays = [sorted(after[rows]) == sorted(before[rows]) for rows in queries.slices()]
    assert all(stays) == (within == "query")
    assert changed.feature_names == queries.feature_names


def test_any_ranker_may_be_asked() -> None:
    queries = data()
    trees = rw.MART(n_estimators=3, max_leaf_nodes=4).fit(queries)
    found = rw.permutation_importance(trees, queries, n_repeats=1)
    assert int(np.argmax(found.mean)) == int(np.argmax(trees.feature_importances_)) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"within": "row"}, "within is 'row'"),
        ({"n_repeats": 0}, "n_repeats is 0"),
        ({"features": [3]}, "there is no feature 3; there are 3"),
    ],
)
def test_refusals(options: Any, message: str) -> None:
    with pytest.raises(rw.InputError, match=message):
        rw.permutation_importance(rw.LinearScorer(np.ones(3)), data(), **options)
