"""The kernels that rank many queries and value them, the same three for all measures.

``rank_queries`` sorts by score, ``query_constants`` finds each query's normaliser, and ``query_values`` the
measure, which reaches them as a function pointer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.measures.base import Floats
from rankwright.measures.ordering import descending
from rankwright.runtime.arrays import Integers
from rankwright.runtime.kernels import kernel

Codes = NDArray[np.int32]

BLOCK = 128  # up to here counting who stands above whom, which vectorises, beats merging
LANES = 32
AS_RANKED, WORST, BEST, MEAN = range(4)


def _rank_types() -> Any:
    import numba as nb

    scores, offsets = _readonly(nb.float64), _readonly(nb.int64)
    return nb.void(scores, offsets, nb.int64, nb.int64, nb.int64[::1], nb.boolean[::1])


def _block_types() -> Any:
    import numba as nb

    return nb.boolean(_readonly(nb.float64), nb.int64, nb.float64[::1], nb.int64[::1], nb.int64[::1])


def _merge_types() -> Any:
    import numba as nb

    return nb.boolean(_readonly(nb.float64), nb.int64[::1], nb.int64, nb.int64[::1])


def _constant_types() -> Any:
    import numba as nb

    f, i, c = _readonly(nb.float64), _readonly(nb.int64), _readonly(nb.int32)
    constant = nb.types.FunctionType(nb.float64(nb.int64, nb.float64[::1], nb.float64[::1], nb.float64[::1]))
    vector = nb.float64[::1]
    return nb.void(constant, f, c, i, i, vector, vector, nb.int64, nb.int64, vector)


def _value_types() -> Any:
    import numba as nb

    f, i, c = _readonly(nb.float64), _readonly(nb.int64), _readonly(nb.int32)
    value = nb.types.FunctionType(nb.float64(nb.float64[::1], nb.float64, nb.float64[::1]))
    vector = nb.float64[::1]
    return nb.void(value, f, c, i, f, i, vector, vector, nb.int64, nb.int64, nb.int64, vector)


def _readonly(item: Any) -> Any:
    from numba import types

    return types.Array(item, 1, "C", readonly=True)


@kernel(_rank_types)
def rank_queries(
    scores: Floats, offsets: Integers, begin: int, end: int, order: Integers, tied: NDArray[np.bool_]
) -> None:
    """The rows of each query from the highest score to the lowest, equal scores as given; which have any."""
    longest = 0
    for q in range(begin, end):
        longest = max(longest, offsets[q + 1] - offsets[q])
    padded, taken, spare = np.empty(BLOCK), np.empty(BLOCK, np.int64), np.empty(longest, np.int64)
    for q in range(begin, end):
        a, n = offsets[q], offsets[q + 1] - offsets[q]
        equal = False
        for first in range(a, a + n, BLOCK):
            last = min(first + BLOCK, a + n)
            equal |= rank_block(scores[first:last], first, padded, taken, order[first:last])
        width = BLOCK
        while width < n:
            for first in range(a, a + n, 2 * width):
                last = min(first + 2 * width, a + n)
                equal |= merge(scores, order[first:last], width, spare)
            width *= 2
        tied[q] = equal


@kernel(_block_types)
def rank_block(scores: Floats, first: int, padded: Floats, taken: Integers, order: Integers) -> bool:
    """Sort up to BLOCK rows by counting, for each, how many have a higher score; whether any are equal."""
    n = scores.size
    # Whole vectors only, so that the counting loop has no remainder; nothing is below what fills them up.
    whole = (n + LANES - 1) // LANES * LANES
    compared = padded[:whole]
    for i in range(whole):
        compared[i] = scores[i] if i < n else -np.inf
        taken[i] = 0
    equal = False
    for i in range(n):
        score = compared[i]
        above = 0
        for j in range(whole):
            above += compared[j] > score
        earlier = taken[above]
        order[above + earlier] = first + i
        taken[above] = earlier + 1
        equal |= earlier > 0
    return equal


@kernel(_merge_types)
def merge(scores: Floats, order: Integers, width: int, spare: Integers) -> bool:
    """Merge two sorted runs of rows, the first of ``width``, stably; whether they have equal scores."""
    left, right = 0, min(width, order.size)
    middle = right
    equal = False
    for r in range(order.size):
        if right < order.size and (left >= middle or scores[order[left]] < scores[order[right]]):
            spare[r] = order[right]
            right += 1
        else:
            equal |= right < order.size and scores[order[left]] == scores[order[right]]
            spare[r] = order[left]
            left += 1
    for r in range(order.size):
        order[r] = spare[r]
    return equal


@kernel(_constant_types)
def query_constants(
    constant: Any,
    gains: Floats,
    judged: Codes,
    judged_offsets: Integers,
    offsets: Integers,
    ranks: Floats,
    parameters: Floats,
    begin: int,
    end: int,
    out: Floats,
) -> None:
    """Each query's normaliser, from the gains of all its judged documents; 0 where nothing can be found."""
    longest = 0
    for q in range(begin, end):
        longest = max(longest, judged_offsets[q + 1] - judged_offsets[q])
    known = np.empty(longest)
    for q in range(begin, end):
        a, m = judged_offsets[q], judged_offsets[q + 1] - judged_offsets[q]
        n = offsets[q + 1] - offsets[q]
        for i in range(m):
            known[i] = gains[judged[a + i]]
        out[q] = constant(n, known[:m], ranks[: max(n, m)], parameters)


def _settle_types() -> Any:
    import numba as nb

    return nb.void(_readonly(nb.float64), _readonly(nb.int64), nb.int64, nb.float64[::1], nb.float64[::1])


@kernel(_settle_types)
def settle_ties(scores: Floats, order: Integers, ties: int, ranked: Floats, spare: Floats) -> None:
    """Put the gains of equal scores from worst to best, from best to worst, or all at their mean."""
    n = order.size
    first = 0
    for r in range(1, n + 1):
        if r < n and scores[order[r]] == scores[order[first]]:
            continue
        if r - first > 1:
            group = ranked[first:r]
            if ties == MEAN:
                total = 0.0
                for gain in group:
                    total += gain
                for i in range(group.size):
                    group[i] = total / group.size
            else:
                descending(group, spare[: group.size])
                for i in range(group.size):
                    group[i] = spare[i if ties == BEST else group.size - 1 - i]
        first = r


@kernel(_value_types)
def query_values(
    value: Any,
    gains: Floats,
    codes: Codes,
    order: Integers,
    scores: Floats,
    offsets: Integers,
    constants: Floats,
    ranks: Floats,
    ties: int,
    begin: int,
    end: int,
    out: Floats,
) -> None:
    """Each query's measure, its documents in ``order`` and equal scores as ``ties`` has them; 0 if blank."""
    longest = 0
    for q in range(begin, end):
        longest = max(longest, offsets[q + 1] - offsets[q])
    ranked = np.empty(longest)
    spare = np.empty(longest)
    for q in range(begin, end):
        if constants[q] == 0.0:
            out[q] = 0.0
            continue
        a, n = offsets[q], offsets[q + 1] - offsets[q]
        for r in range(n):
            ranked[r] = gains[codes[order[a + r]]]
        if ties != AS_RANKED:
            settle_ties(scores, order[a : a + n], ties, ranked, spare)
        out[q] = value(ranked[:n], constants[q], ranks[:n])


def _expected_types() -> Any:
    import numba as nb

    f, i, c = _readonly(nb.float64), _readonly(nb.int64), _readonly(nb.int32)
    vector = nb.float64[::1]
    expected = nb.types.FunctionType(nb.float64(vector, nb.int64[::1], nb.float64, vector))
    return nb.void(expected, f, c, i, f, i, vector, vector, nb.int64, nb.int64, vector)


@kernel(_expected_types)
def query_expected(
    expected: Any,
    gains: Floats,
    codes: Codes,
    order: Integers,
    scores: Floats,
    offsets: Integers,
    constants: Floats,
    ranks: Floats,
    begin: int,
    end: int,
    out: Floats,
) -> None:
    """Each query's measure in the mean over the orders of equal scores; 0 if blank."""
    longest = 0
    for q in range(begin, end):
        longest = max(longest, offsets[q + 1] - offsets[q])
    ranked = np.empty(longest)
    ends = np.empty(longest, np.int64)
    for q in range(begin, end):
        if constants[q] == 0.0:
            out[q] = 0.0
            continue
        a, n = offsets[q], offsets[q + 1] - offsets[q]
        group_end = n
        for back in range(n):
            r = n - 1 - back
            ranked[r] = gains[codes[order[a + r]]]
            if r + 1 < n and scores[order[a + r]] != scores[order[a + r + 1]]:
                group_end = r + 1
            ends[r] = group_end
        out[q] = expected(ranked[:n], ends[:n], constants[q], ranks[:n])
