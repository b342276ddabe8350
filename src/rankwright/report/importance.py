"""What a feature is worth to a ranker: how much of a measure is lost when it is shuffled within each query.

Shuffling within queries leaves a feature's values with their query and breaks only which document has which,
which is all that a ranking can use. Every feature has its own random stream.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwright.data import QuerySet
from rankwright.evaluation.evaluate import is_ours, predictions
from rankwright.evaluation.resampling import t_interval
from rankwright.evaluation.result import LEVEL
from rankwright.measures import Measure
from rankwright.measures.base import Floats
from rankwright.measures.lists import Lists
from rankwright.runtime.arrays import Singles

DOCUMENTS = 3_000
"""Queries are drawn until they have so many documents: shuffling each feature scores them again."""


def importance(ranker: Any, queries: QuerySet, measure: Measure) -> list[dict[str, Any]]:
    """A row a feature (``feature``, ``value``, ``low``, ``high``), what it is worth and its 95 % interval.

    Those that matter most come first.

    >>> import rankwright as rw
    >>> queries = QuerySet([[x, 0] for x in range(9)], [0, 1, 2] * 3, qid=[x // 3 for x in range(9)])
    >>> [row["feature"] for row in importance(rw.LinearScorer([1.0, 0.0]), queries, rw.measure("ndcg@10"))]
    ['1', '2']
    """
    sample = drawn(queries)
    names = sample.feature_names or tuple(str(number + 1) for number in range(sample.n_features))
    assert sample.labels is not None
    lists = Lists(sample.labels, sample.offsets)

    def values(X: Singles) -> Floats:
        changed = sample.with_features(sample.in_given_order(X), sample.feature_names)
        scores = np.asarray(predictions(ranker, changed), np.float64)
        return lists.ranked(changed.in_stored_order(scores), changed.documents).values(measure)

    X = np.array(sample.features)
    whole = values(X)
    counted = ~np.isnan(whole)
    rows = []
    for feature, name in enumerate(names):
        kept = X[:, feature].copy()
        X[:, feature] = shuffled(kept, sample, feature)
        lost = (whole - values(X))[counted] if (X[:, feature] != kept).any() else np.zeros(counted.sum())
        X[:, feature] = kept
        low, high = t_interval(lost, None, LEVEL)
        rows.append({"feature": name, "value": float(lost.mean()), "low": low, "high": high})
    return sorted(rows, key=lambda row: -row["value"])


def can_be_asked(system: Any, queries: Any) -> bool:
    """Whether features can be shuffled: a ranker that predicts, and labelled queries that it can read."""
    is_ranker = hasattr(system, "predict") and (is_ours(system) or hasattr(system, "fit"))
    return is_ranker and isinstance(queries, QuerySet) and queries.labels is not None


def drawn(queries: QuerySet) -> QuerySet:
    """Queries in random order until they have enough documents."""
    order = np.random.default_rng(0).permutation(queries.n_queries)
    enough = int(np.searchsorted(np.cumsum(queries.sizes[order]), DOCUMENTS)) + 1
    return queries if enough >= queries.n_queries else queries.select(np.sort(order[:enough]))


def shuffled(column: Singles, queries: QuerySet, feature: int) -> Singles:
    """A feature's values, in random order within each query."""
    query = np.repeat(np.arange(queries.n_queries), queries.sizes)
    chance = np.random.default_rng([0, feature]).random(len(column))
    return column[np.lexsort((chance, query))]
