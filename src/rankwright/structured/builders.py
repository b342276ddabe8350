"""Which kernel finds the worst orderings of measures that add up what ranks of good documents are worth.

NDCG, average precision and the reciprocal rank are Σ a(g) v(rank) over the good documents g = 0, 1, …: v is
the discount, or 1/rank; a is 1, or 1 + g, or 1 for the first alone.
"""

from __future__ import annotations

import numpy as np

from rankwright.measures.average_precision import AveragePrecision
from rankwright.measures.base import Floats, Measure
from rankwright.measures.ndcg import NDCG
from rankwright.measures.reciprocal_rank import ReciprocalRank
from rankwright.runtime.errors import InputError
from rankwright.structured.feature_maps import Decay, LocalOrder, PartialOrder
from rankwright.structured.merging import by_merging
from rankwright.structured.oracle import Kinds, Placing
from rankwright.structured.percolation import percolating
from rankwright.structured.table import by_table

MOST_CELLS = 2e9


def average_precision(
    measure: AveragePrecision, feature_map: PartialOrder | LocalOrder, kinds: Kinds
) -> Placing:
    """Average precision with pairs."""
    return _by_pairs(measure, _reciprocal_counts(measure, kinds), kinds, by_count=True)


def ndcg(measure: NDCG, feature_map: PartialOrder | LocalOrder, kinds: Kinds) -> Placing:
    """NDCG with pairs."""
    return _by_pairs(measure, _reciprocal_ideals(measure, kinds), kinds, by_count=False)


def decayed_ndcg(measure: NDCG, feature_map: Decay, kinds: Kinds) -> Placing:
    """NDCG with a decay by rank."""
    constants, counts = _reciprocal_ideals(measure, kinds), np.ones(kinds.longest)
    return _by_decay(measure, constants, counts, kinds, feature_map)


def decayed_average_precision(measure: AveragePrecision, feature_map: Decay, kinds: Kinds) -> Placing:
    """Average precision with a decay by rank."""
    constants, counts = _reciprocal_counts(measure, kinds), np.arange(1.0, kinds.longest + 1.0)
    return _by_decay(measure, constants, counts, kinds, feature_map)


def decayed_reciprocal_rank(measure: ReciprocalRank, feature_map: Decay, kinds: Kinds) -> Placing:
    """The reciprocal rank with a decay by rank."""
    return _by_decay(measure, np.ones(len(kinds.good)), np.ones(1), kinds, feature_map)


def _by_pairs(measure: Measure, constants: Floats, kinds: Kinds, *, by_count: bool) -> Placing:
    worths, k = measure.ranks(kinds.longest), _cut(measure, kinds)
    if k == kinds.longest:
        placing = percolating(worths, constants, by_count)
        if placing is not None:
            return placing
    _check_cells(measure, kinds, k)
    return by_table(worths, constants, by_count, k)


def _by_decay(measure: Measure, constants: Floats, counts: Floats, kinds: Kinds, decay: Decay) -> Placing:
    k = _cut(measure, kinds)
    _check_cells(measure, kinds, k)
    return by_merging(measure.ranks(kinds.longest), constants, counts, k, decay)


def _check_cells(measure: Measure, kinds: Kinds, k: int) -> None:
    """Refuse tables that would take most of a machine's memory, a byte a cell."""
    cells = float((np.minimum(kinds.good, k) * np.minimum(kinds.bad, k)).max(initial=0))
    if cells > MOST_CELLS:
        raise InputError(
            f"the worst ordering of {measure!r} takes a table of {cells:.2g} cells for the largest query, "
            f"more than {MOST_CELLS:.2g}; give the measure a cut-off"
        )


def _cut(measure: Measure, kinds: Kinds) -> int:
    return min(measure.cutoff or kinds.longest, kinds.longest)


def _reciprocal_counts(measure: AveragePrecision, kinds: Kinds) -> Floats:
    return 1.0 / np.clip(kinds.good, 1.0, measure.parameters[0])


def _reciprocal_ideals(measure: NDCG, kinds: Kinds) -> Floats:
    """1/DCG* of so many good documents of gain 1."""
    if not measure.normalised:
        raise InputError(f"{measure!r} is no loss between 0 and 1; use ndcg")
    worths = measure.ranks(kinds.longest)
    if (np.diff(worths) > 0).any():
        raise InputError(f"the discount of {measure!r} rises: its best ranking would not be the true one")
    ideals = np.append(0.0, np.cumsum(worths))[kinds.good]
    return np.divide(1.0, ideals, out=np.zeros(len(ideals)), where=ideals > 0)
