"""What features are worth to a ranker, as the report asks it: of a sample of queries, each shuffled once."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwright.data import QuerySet
from rankwright.evaluation import permutation_importance
from rankwright.evaluation.evaluate import is_ours
from rankwright.measures import Measure

DOCUMENTS = 3_000
"""Queries are drawn until they have so many documents: shuffling each feature scores them again."""


def importance(ranker: Any, queries: QuerySet, measure: Measure) -> list[dict[str, Any]]:
    """A row a feature (``feature``, ``value``, ``low``, ``high``), what it is worth and its 95 % interval.

    Those that matter most come first. Features without names have their numbers, from 1.

    >>> import rankwright as rw
    >>> queries = QuerySet([[x, 0] for x in range(9)], [0, 1, 2] * 3, qid=[x // 3 for x in range(9)])
    >>> [row["feature"] for row in importance(rw.LinearScorer([1.0, 0.0]), queries, rw.measure("ndcg@10"))]
    ['1', '2']
    """
    found = permutation_importance(ranker, drawn(queries), measure, n_repeats=1)
    names = queries.feature_names or [str(feature + 1) for feature in found.features]
    rows = [
        {"feature": name, "value": float(mean), "low": float(low), "high": float(high)}
        for name, mean, (low, high) in zip(names, found.mean, found.interval, strict=True)
    ]
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
