"""Structured learning: feature maps, and the worst ordering for each pair of a measure and a map."""

from __future__ import annotations

import numpy as np

from rankwright.measures import measure as read_measure
from rankwright.measures.auc import AUC
from rankwright.measures.average_precision import AveragePrecision
from rankwright.measures.base import Measure
from rankwright.measures.lists import Lists
from rankwright.measures.ndcg import NDCG
from rankwright.measures.reciprocal_rank import ReciprocalRank
from rankwright.runtime.errors import InputError
from rankwright.structured.builders import (
    average_precision,
    decayed_average_precision,
    decayed_ndcg,
    decayed_reciprocal_rank,
    ndcg,
)
from rankwright.structured.feature_maps import (
    Decay,
    FeatureMap,
    FirstGood,
    LocalOrder,
    PartialOrder,
    feature_map,
)
from rankwright.structured.feature_maps import feature_map as _feature_map
from rankwright.structured.first import first_by_pairs, first_good
from rankwright.structured.graded import GradedOrderings, is_graded
from rankwright.structured.oracle import Builder, MergedOrderings, WorstOrderings
from rankwright.structured.sign import auc

__all__ = [
    "ORACLES",
    "Decay",
    "FeatureMap",
    "FirstGood",
    "LocalOrder",
    "PartialOrder",
    "WorstOrderings",
    "feature_map",
    "worst_orderings",
]

ORACLES: dict[tuple[type[Measure], type[FeatureMap]], Builder] = {
    (AUC, PartialOrder): auc,
    (AveragePrecision, PartialOrder): average_precision,
    (NDCG, PartialOrder): ndcg,
    (ReciprocalRank, PartialOrder): first_by_pairs,
    (ReciprocalRank, FirstGood): first_good,
    (NDCG, Decay): decayed_ndcg,
    (AveragePrecision, Decay): decayed_average_precision,
    (ReciprocalRank, Decay): decayed_reciprocal_rank,
}
"""Which pairs have a worst ordering, and what finds it; a pair of your own may be added."""
ORACLES |= {
    (measure, LocalOrder): build for (measure, chosen), build in ORACLES.items() if chosen is PartialOrder
}


def worst_orderings(
    measure: str | Measure, feature_map: str | FeatureMap, lists: Lists, *, threshold: float | None = None
) -> WorstOrderings:
    """What finds the worst ordering of each query, argmax over y of Δ(y*, y) + w·φ(x, y), for a pair of both.

    A document is good from the label ``threshold`` on, by default the measure's own or 1; only NDCG with a
    decay takes graded labels for what they gain, unless a threshold is given. Unjudged documents are left
    out. A pair that has no such oracle is refused by name.

    >>> import numpy as np
    >>> lists = Lists(np.array([0.0, 1.0, 0.0]), np.array([0, 3]))
    >>> losses, coefficients = worst_orderings("map", "po", lists).at(np.array([0.2, 0.1, -3.0]))
    >>> losses.tolist(), coefficients.tolist()
    ([0.5], [-1.0, 1.0, 0.0])
    """
    if threshold is not None and not (isinstance(threshold, int | float) and 0 < threshold < np.inf):
        raise InputError(f"threshold is {threshold!r}; it is the lowest label of a good document, above 0")
    given, chosen = read_measure(measure), _feature_map(feature_map)
    build = ORACLES.get((type(given), type(chosen)))
    if build is None:
        raise InputError(
            f"there is no worst ordering of {given!r} with {chosen!r}; there is one for {_partners(given)}"
        )
    if given.ties != "input":
        raise InputError(
            f"{given!r} cannot be trained for: training ranks equal scores in the order of the rows; "
            "use ties=input"
        )
    if threshold is not None and hasattr(given, "threshold"):
        given = given.replace(threshold=threshold)
    lowest = getattr(given, "threshold", 1.0 if threshold is None else threshold)
    if (
        threshold is None
        and isinstance(given, NDCG)
        and isinstance(chosen, Decay)
        and is_graded(given, lists)
    ):
        return GradedOrderings(given, chosen, lists)
    return MergedOrderings(given, chosen, lists, float(lowest), build)


def _partners(given: Measure) -> str:
    maps = [kind.__name__ for measure, kind in ORACLES if measure is type(given)]
    measures = sorted({measure.__name__ for measure, _ in ORACLES})
    return f"it with {', '.join(maps)}" if maps else f"{', '.join(measures)} only"
