"""A measure at every rank down to its cut-off: NDCG@1 to NDCG@k, and the same of others."""

from __future__ import annotations

import dataclasses
from typing import Any

from rankwright.evaluation import Comparison
from rankwright.measures import NDCG, Measure
from rankwright.runtime.errors import InputError

DEFAULT_CUTOFF = 10


def curve_measures(measure: Measure) -> list[Measure]:
    """The measures whose curves go with a measure: its own if it has a cut-off, and always NDCG's.

    >>> from rankwright.measures import measure
    >>> curve_measures(measure("ndcg@5")), curve_measures(measure("p@5")), curve_measures(measure("map"))
    ([ndcg@5], [p@5, ndcg@5], [ndcg@10])
    """
    own = [measure] if measure.cutoff else []
    return own if isinstance(measure, NDCG) and own else [*own, NDCG(k=measure.cutoff or DEFAULT_CUTOFF)]


def curve(comparison: Comparison, measure: Measure) -> list[dict[str, Any]]:
    """A row a system and rank: its mean with its 95 % interval; none where the labels do not suit.

    >>> import rankwright as rw
    >>> found = rw.compare({"a": [2, 1, 3], "b": [1, 2, 3]}, [1, 0, 0], "p@2", qid=[1, 1, 1])
    >>> [(row["system"], row["k"], row["mean"]) for row in curve(found, rw.measure("p@2"))]
    [('a', 1, 0.0), ('a', 2, 0.5), ('b', 1, 0.0), ('b', 2, 0.0)]
    """
    rows = []
    try:
        for name, evaluation in comparison.evaluations.items():
            any_result = next(iter(evaluation.values()))
            for k in range(1, (measure.cutoff or DEFAULT_CUTOFF) + 1):
                at_k: Measure = dataclasses.replace(measure, k=k)  # type: ignore[call-arg]
                values = any_result.ranked.values(at_k)
                result = dataclasses.replace(any_result, measure=at_k, per_query=values)
                low, high = result.interval
                rows.append({"system": name, "k": k, "mean": result.mean, "low": low, "high": high})
    except InputError:  # such as labels that NDCG's gain does not suit
        return []
    return rows
