"""The worst orderings for the reciprocal rank, which only the first good document decides (2008, Figure 3).

With φ_mrr, fix the rank r of the first good document: the objective is then highest with the r bad documents
of the highest scores above the good one of the lowest score, and what follows is immaterial. All r are tried,
each in O(1) more than the one before it; those from k on are all the paper's last cluster.

With φ_po, fix the same: the first good document stands at r, and all others where the feature map likes them
best, but below at least r bad documents (``free``). All r are tried, again in O(1) each.
"""

from __future__ import annotations

import numpy as np

from rankwright.measures.base import Floats
from rankwright.measures.reciprocal_rank import ReciprocalRank
from rankwright.runtime.arrays import Integers
from rankwright.runtime.kernels import Kernel, kernel
from rankwright.structured.feature_maps import FirstGood, LocalOrder, PartialOrder
from rankwright.structured.free import free_places, held_back
from rankwright.structured.oracle import PLACE, Kinds, Placing, tables_of


@kernel(PLACE)
def place_lowest_first(
    good: Floats, bad: Floats, scale: float, constant: float, k: int, tables: Floats, above: Integers
) -> float:
    """φ_mrr: the good document of the lowest score is the first, so many bad documents above it."""
    worths, last = tables[0], good.size - 1
    best, gained, h = -constant * worths[0], 0.0, 0
    for b in range(bad.size):
        gained += scale * (bad[b] - good[last])
        value = gained - constant * worths[b + 1]
        if value > best:
            best, h = value, b + 1
    above[:] = 0
    above[last] = h
    return constant * (worths[0] - worths[h])


@kernel(PLACE)
def place_first(
    good: Floats, bad: Floats, scale: float, constant: float, k: int, tables: Floats, above: Integers
) -> float:
    """Pairs: all good documents below so many bad ones as suits the first, or lower if they like."""
    worths = tables[0]
    free, sums = np.empty(good.size, np.int64), np.empty((3, max(good.size, bad.size) + 1))
    free_places(good, bad, scale, free, sums)
    best, at, end = -np.inf, 0, 0
    for h in range(free[0], bad.size + 1):
        while end < good.size and free[end] < h:
            end += 1
        value = held_back(0, end, h, scale, sums) - constant * worths[h]
        if value > best:
            best, at = value, h
    for g in range(good.size):
        above[g] = max(free[g], at)
    return constant * (worths[0] - worths[at])


def _placing(kernel: Kernel, measure: ReciprocalRank, kinds: Kinds) -> Placing:
    tables = tables_of(kinds.longest, 2)
    tables[0, :-1] = measure.ranks(kinds.longest)
    return Placing(kernel, np.ones(len(kinds.good)), tables)


def first_good(measure: ReciprocalRank, feature_map: FirstGood, kinds: Kinds) -> Placing:
    """Reciprocal rank with φ_mrr."""
    return _placing(place_lowest_first, measure, kinds)


def first_by_pairs(measure: ReciprocalRank, feature_map: PartialOrder | LocalOrder, kinds: Kinds) -> Placing:
    """Reciprocal rank with pairs."""
    return _placing(place_first, measure, kinds)
