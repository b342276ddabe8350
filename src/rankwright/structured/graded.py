"""The worst ordering for NDCG's graded gains and a decay by rank, φ_dorm (2008, section 3.5).

    max over y of Σ over documents of A(rank) s − g v(rank)/DCG*

As with good and bad (``merging``), documents of one gain g are best in the order of their scores, so that a
ranking is a merge of as many sorted lists as there are gains, and the best of those that have placed so many
of each list follows from those that have placed one less of one of them. From rank k on v is 0, and the rest
of all lists is merged by score. That is Π min(n_g, k) states over the gains g, few where k or the gains are
few, and exact: the assignment problem of the paper has the same optimum, in O(n³).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rankwright.measures.base import Floats
from rankwright.measures.lists import Lists
from rankwright.measures.ndcg import NDCG
from rankwright.measures.ranking import Codes, rank_queries
from rankwright.runtime.arrays import Integers
from rankwright.runtime.errors import InputError
from rankwright.runtime.kernels import kernel
from rankwright.structured.feature_maps import Decay
from rankwright.structured.oracle import WorstOrderings

MOST_STATES = 20_000_000
UNJUDGED = -1


class Graded(NamedTuple):
    """What stays the same from one set of scores to the next."""

    offsets: Integers
    levels: Codes
    """Of each document the number of its gain, from the highest; −1 where it is unjudged."""
    gains: Floats
    """The gains from the highest to the lowest."""
    constants: Floats
    worths: Floats
    decay: Floats


def _query_types() -> Any:
    import numba as nb

    vector, size, integers = nb.float64[::1], nb.int64, nb.int64[::1]
    known = nb.types.NamedTuple((integers, nb.int32[::1], vector, vector, vector, vector), Graded)
    scores = nb.types.Array(nb.float64, 1, "C", readonly=True)
    return size(size, known, scores, integers, integers, size, size, vector, vector)


@kernel(_query_types)
def query_graded(
    k: int,
    known: Graded,
    scores: Floats,
    chosen: Integers,
    starts: Integers,
    begin: int,
    end: int,
    losses: Floats,
    coefficients: Floats,
) -> int:
    """Δ of each chosen query's worst ordering and its δφ; returns a row whose score is not finite, or −1."""
    longest = 0
    for i in range(begin, end):
        longest = max(longest, known.offsets[chosen[i] + 1] - known.offsets[chosen[i]])
    order, alone, tied = np.empty(longest, np.int64), np.zeros(2, np.int64), np.empty(1, np.bool_)
    kinds = known.gains.size
    values, rows = np.empty((kinds, longest)), np.empty((kinds, longest), np.int64)
    sizes, ranked = np.empty(kinds, np.int64), np.empty(longest, np.int64)
    for i in range(begin, end):
        q = chosen[i]
        a, n = known.offsets[q], known.offsets[q + 1] - known.offsets[q]
        mine = coefficients[starts[i] : starts[i] + n]
        mine[:] = 0.0
        losses[i] = 0.0
        for row in range(a, a + n):
            if not np.isfinite(scores[row]):
                return row
        if known.constants[q] == 0.0:
            continue
        # 1. The documents of each gain, by score.
        alone[1] = n
        rank_queries(scores[a : a + n], alone, 0, 1, order, tied)
        sizes[:] = 0
        for r in range(n):
            level = known.levels[a + order[r]]
            if level != UNJUDGED:
                values[level, sizes[level]] = scores[a + order[r]] - scores[a + order[0]]
                rows[level, sizes[level]] = order[r]
                sizes[level] += 1
        # 2. The worst merge of them: of each rank, which gain stands there.
        merge_levels(values, sizes, known.constants[q], k, known.gains, known.worths, known.decay, ranked)
        # 3. Its loss, and φ of the truth minus φ of it.
        taken, first = np.zeros(kinds, np.int64), 0
        for level in range(kinds):
            for r in range(first, first + sizes[level]):
                worth = known.constants[q] * known.worths[r]
                losses[i] += worth * (known.gains[level] - known.gains[ranked[r]])
                for d in range(sizes[level]):
                    mine[rows[level, d]] += known.decay[r] / sizes[level]
            first += sizes[level]
        losses[i] = min(1.0, max(0.0, losses[i]))
        for r in range(first):
            level = ranked[r]
            mine[rows[level, taken[level]]] -= known.decay[r]
            taken[level] += 1
    return -1


@kernel(
    "void(float64[:, ::1], int64[::1], float64, int64, float64[::1], float64[::1], float64[::1], int64[::1])"
)
def merge_levels(
    values: Floats,
    sizes: Integers,
    constant: float,
    k: int,
    gains: Floats,
    worths: Floats,
    decay: Floats,
    ranked: Integers,
) -> None:
    """Of each rank the number of the gain that stands there; ranks from ``k`` on are worth nothing."""
    kinds = sizes.size
    cut = min(k, sizes.sum())
    steps, states = np.empty(kinds, np.int64), 1
    for level in range(kinds):
        steps[level] = states
        states *= min(sizes[level], cut) + 1
    best, last = np.full(states, -np.inf), np.zeros(states, np.int8)
    best[0] = 0.0
    counts, placed = np.zeros(kinds, np.int64), 0
    found, at = -np.inf, 0
    for state in range(states):
        if state > 0:  # count one up, as an odometer does
            level = 0
            while counts[level] == min(sizes[level], cut):
                placed -= counts[level]
                counts[level] = 0
                level += 1
            counts[level] += 1
            placed += 1
        if placed > cut:
            continue
        for level in range(kinds):
            if counts[level] > 0:
                value = best[state - steps[level]] + decay[placed - 1] * values[level, counts[level] - 1]
                value -= constant * gains[level] * worths[placed - 1]
                if value > best[state]:
                    best[state], last[state] = value, level
        if placed == cut:
            value = best[state] + rest_by_score(values, sizes, counts.copy(), cut, decay, ranked)
            if value > found:
                found, at = value, state
    state = at
    for level in range(kinds):
        counts[level] = state // steps[level] % (min(sizes[level], cut) + 1)
    rest_by_score(values, sizes, counts, cut, decay, ranked)
    for r in range(cut - 1, -1, -1):
        ranked[r] = last[state]
        state -= steps[last[state]]


@kernel("float64(float64[:, ::1], int64[::1], int64[::1], int64, float64[::1], int64[::1])")
def rest_by_score(
    values: Floats, sizes: Integers, counts: Integers, first: int, decay: Floats, ranked: Integers
) -> float:
    """Rank what is left of all lists by score, from rank ``first`` on; Σ A(rank) s."""
    total = 0.0
    for r in range(first, sizes.sum()):
        highest = -1
        for level in range(sizes.size):
            if counts[level] < sizes[level] and (
                highest < 0 or values[level, counts[level]] > values[highest, counts[highest]]
            ):
                highest = level
        total += decay[r] * values[highest, counts[highest]]
        counts[highest] += 1
        ranked[r] = highest
    return total


class GradedOrderings(WorstOrderings):
    """Worst orderings by NDCG's own gains of the labels, for a decay by rank."""

    graded = True

    def __init__(self, measure: NDCG, feature_map: Decay, lists: Lists):
        of_rows, judged = measure.gains(lists.labels), ~np.isnan(lists.labels)
        super().__init__(measure, feature_map, lists, float(lists.labels[of_rows > 0].min()))
        negated, found = np.unique(-of_rows[judged], return_inverse=True)
        levels = np.full(len(judged), UNJUDGED, np.int32)
        levels[judged] = found
        counts = np.zeros((len(lists.sizes), len(negated)), np.int64)
        np.add.at(counts, (np.repeat(self._all, lists.sizes)[judged], found), 1)
        longest = int(lists.sizes.max(initial=0))
        self._k = min(measure.cutoff or longest, longest)
        states = float(np.prod(np.minimum(counts, self._k) + 1.0, axis=1).max())
        if states > MOST_STATES:
            raise InputError(
                f"the worst ordering of {measure!r} with {len(negated)} gains has {states:.1g} states, more "
                f"than {MOST_STATES:.1g}; give a threshold, which leaves good and bad, or a cut-off"
            )
        self.trains &= (counts > 0).sum(axis=1) > 1
        constants = np.where(self.trains, lists.constants(measure), 0.0)
        worths = np.ascontiguousarray(measure.ranks(longest))
        decay = np.ascontiguousarray(feature_map.weights(longest))
        self._known = Graded(self._offsets, levels, -negated, constants, worths, decay)

    def _run(self) -> Callable[..., int]:
        return functools.partial(query_graded.compiled, self._k, self._known)


def is_graded(measure: NDCG, lists: Lists) -> bool:
    """Whether relevant documents differ in their gain."""
    lists.check_labels(measure)
    gains = measure.gains(lists.labels)
    return len(np.unique(gains[gains > 0])) > 1
