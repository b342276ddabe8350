"""The kernels that rank many queries and value them, the same three for all measures.

``rank_queries`` sorts by score, ``query_constants`` finds each query's normaliser, and ``query_values`` the
measure, which reaches them as a function pointer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.measures.base import CONSTANT, EXPECTED, VALUE, Floats, Singles
from rankwright.measures.ordering import descending
from rankwright.runtime.arrays import Integers
from rankwright.runtime.kernels import kernel

Codes = NDArray[np.int32]

BLOCK = 128  # up to here counting who stands above whom, which vectorises, beats merging
LANES = 16
HIGHEST = 3e38  # what single precision holds
AS_RANKED, WORST, BEST, MEAN = range(4)

# Inputs may be read-only, as the arrays of query sets are.
FLOATS, INTEGERS, CODES = (f'Array({item}, 1, "C", True)' for item in ("float64", "int64", "int32"))
FORMULA = f"{FLOATS}, {CODES}, {INTEGERS}, {FLOATS}, {INTEGERS}, float64[::1], float64[::1]"


@kernel(f"void({FLOATS}, {INTEGERS}, int64, int64, int64[::1], boolean[::1])")
def rank_queries(
    scores: Floats, offsets: Integers, begin: int, end: int, order: Integers, tied: NDArray[np.bool_]
) -> None:
    """The rows of each query from the highest score to the lowest, equal scores as given; which have any."""
    longest = 0
    for q in range(begin, end):
        longest = max(longest, offsets[q + 1] - offsets[q])
    keys, above, taken = np.empty(BLOCK, np.float32), np.empty(BLOCK, np.int32), np.empty(BLOCK, np.int64)
    spare = np.empty(longest, np.int64)
    for q in range(begin, end):
        a, n = offsets[q], offsets[q + 1] - offsets[q]
        equal = False
        for first in range(a, a + n, BLOCK):
            last = min(first + BLOCK, a + n)
            equal |= rank_block(scores[first:last], first, keys, above, taken, order[first:last])
        width = BLOCK
        while width < n:
            for first in range(a, a + n, 2 * width):
                last = min(first + 2 * width, a + n)
                equal |= merge(scores, order[first:last], width, spare)
            width *= 2
        tied[q] = equal


@kernel(f"boolean({FLOATS}, int64, float32[::1], int32[::1], int64[::1], int64[::1])")
def rank_block(
    scores: Floats, first: int, keys: Singles, above: Codes, taken: Integers, order: Integers
) -> bool:
    """Sort up to BLOCK rows by counting, for each, how many have a higher score; whether any are equal.

    Counted are single-precision keys, twice as many at a time; rows of one key are put in order after.
    """
    n = scores.size
    # Whole vectors only, so that the counting loop has no remainder; what fills them up is above nothing.
    compared = keys[: (n + LANES - 1) // LANES * LANES]
    for i in range(compared.size):
        compared[i] = np.float32(min(max(scores[i], -HIGHEST), HIGHEST)) if i < n else np.float32(-np.inf)
        above[i] = 0
        taken[i] = 0
    # for j in range(n):
    #     for i in range(n):
    #         above[i] += keys[j] > keys[i]
    for j in range(0, compared.size, 4):
        one, two, three, four = compared[j], compared[j + 1], compared[j + 2], compared[j + 3]
        for i in range(compared.size):
            key = compared[i]
            above[i] = np.int32(above[i] + (one > key) + (two > key) + (three > key) + (four > key))
    shared = False
    for i in range(n):
        rank = above[i]
        earlier = taken[rank]
        order[rank + earlier] = first + i
        taken[rank] = earlier + 1
        shared |= earlier > 0
    return shared and order_within_keys(scores, first, taken, order)


@kernel(f"boolean({FLOATS}, int64, int64[::1], int64[::1])")
def order_within_keys(scores: Floats, first: int, taken: Integers, order: Integers) -> bool:
    """Sort rows that share a key by insertion, stably; whether any scores are equal."""
    equal = False
    for begin in range(order.size):
        for r in range(begin + 1, begin + taken[begin]):
            row = order[r]
            score = scores[row - first]
            place = r
            while place > begin and scores[order[place - 1] - first] < score:
                order[place] = order[place - 1]
                place -= 1
            order[place] = row
            equal |= place > begin and scores[order[place - 1] - first] == score
    return equal


@kernel(f"boolean({FLOATS}, int64[::1], int64, int64[::1])")
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


@kernel(
    f"void(FunctionType({CONSTANT}), {FLOATS}, {CODES}, {INTEGERS}, {INTEGERS}, float64[::1], float64[::1], "
    "int64, int64, float64[::1])"
)
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
        codes = judged[judged_offsets[q] : judged_offsets[q + 1]]
        mine = known[: codes.size]
        for i in range(mine.size):
            mine[i] = gains[codes[i]]
        n = offsets[q + 1] - offsets[q]
        out[q] = constant(n, mine, ranks[: min(max(n, mine.size), ranks.size)], parameters)


@kernel(f"void({FLOATS}, {INTEGERS}, int64, float64[::1], float64[::1])")
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


@kernel(f"void(FunctionType({VALUE}), {FORMULA}, int64, int64, int64, float64[::1])")
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
        rows = order[offsets[q] : offsets[q + 1]]
        counted = min(rows.size, ranks.size)
        mine = ranked[: counted if ties == AS_RANKED else rows.size]
        for r in range(mine.size):
            mine[r] = gains[codes[rows[r]]]
        if ties != AS_RANKED:
            settle_ties(scores, rows, ties, mine, spare)
        out[q] = value(mine[:counted], constants[q], ranks[:counted])


@kernel(f"void(FunctionType({EXPECTED}), {FORMULA}, int64, int64, float64[::1])")
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
        rows = order[offsets[q] : offsets[q + 1]]
        n = rows.size
        group_end = n
        for back in range(n):
            r = n - 1 - back
            ranked[r] = gains[codes[rows[r]]]
            if r + 1 < n and scores[rows[r]] != scores[rows[r + 1]]:
                group_end = r + 1
            ends[r] = group_end
        out[q] = expected(ranked[:n], ends[:n], constants[q], ranks[:n])
