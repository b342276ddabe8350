"""RankNet's cost of pairs and its slopes, after 2005 equations 1 to 3, 2006 section 5 and 2010 section 2.

    P = 1 / (1 + e^−o)     o = σ (sᵢ − sⱼ)
    C = −P̄ ln P − (1 − P̄) ln(1 − P) = ln(1 + e^−o) + (1 − P̄) o
    ∂C/∂sᵢ = σ (P − P̄) = −∂C/∂sⱼ

Times the weight of the pair. The slope of a document is the sum over its pairs (2010 equation 4, whose λᵢ it
is), and the slopes of a query sum to 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.runtime.exponential import exponential, logarithm
from rankwright.runtime.kernels import kernel

Singles = NDArray[np.float32]
Rows = NDArray[np.uint32]

ZERO, ONE, LANES = np.uint64(0), np.uint64(1), np.uint64(16)
ZERO_F, HALF_F, ONE_F = np.float32(0), np.float32(0.5), np.float32(1)
ROOM = np.float32(80)
"""Differences o up to which e^s of the documents, the highest as 1, stay well inside float32."""


@kernel("UniTuple(float32, 2)(float32, float32)")
def pair_slope(o: np.float32, target: np.float32) -> tuple[np.float32, np.float32]:
    """P − P̄ and the cost of one pair."""
    small = exponential(-abs(o))
    high, low = (ONE_F, small) if o >= ZERO_F else (small, ONE_F)
    slope = ((ONE_F - target) * high - target * low) / (ONE_F + small)
    return slope, max(-o, ZERO_F) + logarithm(ONE_F + small) + (ONE_F - target) * o


def _row_types() -> Any:
    import numba as nb

    size, number, singles = nb.uint64, nb.float32, nb.float32[::1]
    return nb.types.UniTuple(number, 2)(
        size, size, size, number, number, singles, singles, singles, singles
    )  # fmt: skip


@kernel(_row_types, fastmath={"reassoc", "contract", "nsz"})
def row_slopes(
    i: Any,
    begin: Any,
    end: Any,
    target: np.float32,
    weight: np.float32,
    weights: Singles,
    powers: Singles,
    logs: Singles,
    slopes: Singles,
) -> tuple[np.float32, np.float32]:
    """Add the slopes of those from ``begin`` up to ``end`` in pairs with i; give that of i, and the cost.

    ``powers`` are e^logs: 1 / (1 + e^(sᵢ − sⱼ)) is e^sⱼ / (e^sᵢ + e^sⱼ), one division and no exponential a
    pair (2006 section 5, footnote 3).
    """
    power = powers[i]
    inverse, rest = ONE_F / power, ONE_F - target
    own, cost = ZERO_F, ZERO_F
    for j in range(begin, end):
        both = power + powers[j]
        pair = weight * weights[j]
        slope = pair * (rest * power - target * powers[j]) / both
        own += slope
        slopes[j] -= slope
        cost += pair * (logarithm(both * inverse) + rest * (logs[i] - logs[j]))
    return own, cost


def _power_types() -> Any:
    import numba as nb

    size, number, singles = nb.uint64, nb.float32, nb.float32[::1]
    return number(size, size, size, number, number, singles, singles, singles, singles)


@kernel(_power_types)
def powers_from(
    i: Any,
    begin: Any,
    end: Any,
    target: np.float32,
    sigma: np.float32,
    scores: Singles,
    weights: Singles,
    powers: Singles,
    logs: Singles,
) -> np.float32:
    """Powers for the pairs of one document, as if its score were 0; the cost of what is out of their room.

    For queries whose scores lie so far apart that no common powers fit into float32.
    """
    cost = ZERO_F
    powers[i], logs[i] = ONE_F, ZERO_F
    for j in range(begin, end):
        difference = sigma * (scores[j] - scores[i])
        logs[j] = max(-ROOM, min(ROOM, difference))
        powers[j] = exponential(logs[j])
        beyond = target * max(ZERO_F, difference - ROOM) + (ONE_F - target) * max(ZERO_F, -difference - ROOM)
        cost += weights[i] * weights[j] * beyond
    return cost


@kernel("float32(uint64, float32[::1])")
def spread(n: Any, scores: Singles) -> np.float32:
    """The distance from the lowest to the highest score; not finite where one of them is not."""
    lowest = highest = total = scores[0]
    for i in range(ONE, n):
        lowest, highest = min(lowest, scores[i]), max(highest, scores[i])
        total += ZERO_F * scores[i]
    return highest - lowest + ZERO_F * total


def _label_types() -> Any:
    import numba as nb

    singles, rows = nb.float32[::1], nb.uint32[::1]
    return nb.float64(
        nb.uint64, singles, singles, rows, nb.float32, nb.boolean, nb.float32[:, ::1], singles
    )  # fmt: skip


@kernel(_label_types)
def label_slopes(
    n: Any,
    scores: Singles,
    weights: Singles,
    ends: Rows,
    sigma: np.float32,
    ties: bool,
    scratch: Singles,
    slopes: Singles,
) -> float:
    """The slopes of one query's documents, highest labels first, from pairs of different labels; the cost.

    ``ends[i]`` is where the labels below that of document i begin. With ``ties``, pairs of one label have
    the target ½ (2005 section 5.2). Scratch and slopes have room for the next multiple of ``LANES``: rows
    of pairs begin and end at multiples, and the weights of documents that are not meant there are 0.
    """
    powers, logs, below, own = scratch[0], scratch[1], scratch[2], scratch[3]
    full = (n + LANES - ONE) // LANES * LANES
    wide = sigma * spread(n, scores) > ROOM
    highest, cost = scores[0], 0.0
    for i in range(n):
        highest = max(highest, scores[i])
    slopes[:full], logs[:full], below[:full] = ZERO_F, ZERO_F, ZERO_F
    for i in range(n):
        logs[i] = sigma * (scores[i] - highest)
        below[i] = weights[i]
    for i in range(full):
        powers[i] = exponential(logs[i])
    begin = ZERO
    for i in range(n):
        end, own[i] = np.uint64(ends[i]), ZERO_F
        if ties:
            if wide:
                cost += powers_from(i, i + ONE, end, HALF_F, sigma, scores, weights, powers, logs)
            slope, part = row_slopes(i, i + ONE, end, HALF_F, weights[i], weights, powers, logs, slopes)
            own[i] += slope
            cost += part
        if wide:
            cost += powers_from(i, end, n, ONE_F, sigma, scores, weights, powers, logs)
        for j in range(begin, end):
            below[j] = ZERO_F
        begin = end
        slope, part = row_slopes(
            i, end // LANES * LANES, full, ONE_F, weights[i], below, powers, logs, slopes
        )
        own[i] += slope
        cost += part
    for i in range(n):
        slopes[i] = sigma * (slopes[i] + own[i])
    return cost


def _list_types() -> Any:
    import numba as nb

    size, singles, rows = nb.uint64, nb.float32[::1], nb.uint32[::1]
    return nb.float64(
        size, size, size, size, singles, rows, rows, singles, singles, nb.float32, singles
    )  # fmt: skip


@kernel(_list_types)
def listed_slopes(
    first: Any,
    n: Any,
    begin: Any,
    end: Any,
    scores: Singles,
    better: Rows,
    worse: Rows,
    targets: Singles,
    weights: Singles,
    sigma: np.float32,
    slopes: Singles,
) -> float:
    """The slopes of one query's n documents, which start at row ``first``, from listed pairs; the cost."""
    cost = 0.0
    for i in range(n):
        slopes[i] = ZERO_F
    for p in range(begin, end):
        i, j = np.uint64(better[p]) - first, np.uint64(worse[p]) - first
        slope, pair_cost = pair_slope(sigma * (scores[i] - scores[j]), targets[p])
        slope *= sigma * weights[p]
        slopes[i] += slope
        slopes[j] -= slope
        cost += weights[p] * pair_cost
    return cost
