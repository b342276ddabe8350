"""The hinge of all pairs in linear time (after Joachims 2006): h = max(0, 1 − s_i + s_j), i better than j.

    linear    Δ = Σ w_i w_j over pairs with h > 0,  and the coefficients c of Δ − Σ c·s = Σ w_i w_j h
    squared   Σ w_i w_j h²,  and its slope by each score

Both need, of each worse document j, the better ones with s_i < s_j + 1: how much they weigh, and Σ w s and
Σ w s² over them. Swept in the order of scores they only come in, so sums by label, kept as a binary indexed
tree, give this in O(n log n). Of each better document the worse ones are the same with scores and labels
upside down.
"""

from __future__ import annotations

import numpy as np

from rankwright.measures.base import Floats
from rankwright.runtime.arrays import Integers
from rankwright.runtime.kernels import kernel
from rankwright.runtime.threads import in_chunks

DOCUMENTS_AT_ONCE = 1 << 14


@kernel("void(int64[::1], float64[::1], int64[::1], float64[::1], float64[:, ::1], float64[:, ::1])")
def partners(
    order: Integers, scores: Floats, levels: Integers, weights: Floats, tree: Floats, out: Floats
) -> None:
    """Σ w, Σ ws and Σ ws² over the documents of higher level that score less than 1 above each.

    ``order`` sorts the scores, levels count from 0, those below 0 take no part; ``tree`` has a column for
    each level and one more.
    """
    n, top = order.size, tree.shape[1] - 1
    tree[:] = 0.0
    p = 0
    for r in range(n):
        j = order[r]
        while p < n and scores[order[p]] < scores[j] + 1.0:
            i = order[p]
            # The highest level comes first, so that higher levels are a prefix.
            at = top - levels[i]
            if levels[i] >= 0:
                while at <= top:
                    tree[0, at] += weights[i]
                    tree[1, at] += weights[i] * scores[i]
                    tree[2, at] += weights[i] * scores[i] * scores[i]
                    at += at & -at
            p += 1
        a, b, c = 0.0, 0.0, 0.0
        if levels[j] >= 0:
            at = top - levels[j] - 1
            while at > 0:
                a += tree[0, at]
                b += tree[1, at]
                c += tree[2, at]
                at -= at & -at
        out[0, j], out[1, j], out[2, j] = a, b, c


@kernel(
    "void(float64[::1], int64[::1], int64[::1], float64[::1], b1, int64, int64, float64[::1], float64[::1])"
)
def query_hinges(
    scores: Floats,
    offsets: Integers,
    levels: Integers,
    weights: Floats,
    squared: bool,
    begin: int,
    end: int,
    losses: Floats,
    out: Floats,
) -> None:
    """The loss of each query from ``begin`` to ``end``, and its coefficient or slope of each document."""
    for q in range(begin, end):
        a, b = offsets[q], offsets[q + 1]
        n, n_levels = b - a, 0
        for i in range(a, b):
            n_levels = max(n_levels, levels[i] + 1)
        losses[q] = 0.0
        out[a:b] = 0.0
        if n_levels < 2:
            continue
        # About their middle, so that squares of scores stay small.
        middle = 0.5 * (scores[a:b].min() + scores[a:b].max())
        own, flipped, w = scores[a:b] - middle, middle - scores[a:b], weights[a:b]
        order = np.argsort(own, kind="mergesort")
        tree, above, below = np.empty((3, n_levels + 1)), np.empty((3, n)), np.empty((3, n))
        partners(order, own, levels[a:b].copy(), w, tree, above)
        upside_down = np.where(levels[a:b] >= 0, n_levels - 1 - levels[a:b], -1)
        partners(order[::-1].copy(), flipped, upside_down, w, tree, below)
        total = 0.0
        for i in range(n):
            if squared:
                t = 1.0 + own[i]
                total += w[i] * (t * t * above[0, i] - 2.0 * t * above[1, i] + above[2, i])
                slope = t * above[0, i] - above[1, i] - (1.0 + flipped[i]) * below[0, i] + below[1, i]
                out[a + i] = 2.0 * w[i] * slope
            else:
                total += w[i] * above[0, i]
                out[a + i] = w[i] * (below[0, i] - above[0, i])
        losses[q] = total


class Hinges:
    """The pairs of different labels in each query, ready for scores. NaN is unjudged.

    >>> hinges = Hinges(np.array([0.0, 1.0]), np.array([0, 2]), np.ones(2))
    >>> losses, coefficients = hinges.at(np.array([0.25, 0.5]))
    >>> losses.tolist(), coefficients.tolist()
    ([1.0], [-1.0, 1.0])
    >>> hinges.at(np.array([0.25, 0.5]), squared=True)[0].tolist()
    [0.5625]
    """

    def __init__(self, labels: Floats, offsets: Integers, weights: Floats, n_jobs: int | None = None):
        self._offsets = np.array(offsets, np.int64)
        self._levels = _levels(labels, self._offsets)
        self._weights = np.array(weights, np.float64)
        self._n_jobs = n_jobs
        parts = np.arange(0, offsets[-1] + DOCUMENTS_AT_ONCE, DOCUMENTS_AT_ONCE)
        n = len(offsets) - 1
        self._bounds = np.unique(np.minimum(np.searchsorted(offsets, parts), n)).tolist()

    def at(self, scores: Floats, squared: bool = False) -> tuple[Floats, Floats]:
        """Each query's loss, and each document's coefficient (linear) or slope (squared)."""
        losses, out = np.empty(len(self._offsets) - 1), np.empty(len(scores))
        in_chunks(
            lambda begin, end: query_hinges(
                scores, self._offsets, self._levels, self._weights, squared, begin, end, losses, out
            ),
            self._bounds,
            self._n_jobs,
        )
        return losses, out


def _levels(labels: Floats, offsets: Integers) -> Integers:
    """The labels of each query by number, the lowest being 0; −1 where there is none."""
    query_of = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((labels, query_of))  # NaN comes last in its query
    own, query = labels[order], query_of[order]
    new = np.append(0, (own[1:] != own[:-1]) & (query[1:] == query[:-1]))
    counted = np.cumsum(new)
    numbers = counted - counted[offsets[:-1]][query]
    levels = np.empty(len(labels), np.int64)
    levels[order] = np.where(np.isnan(own), -1, numbers)
    return levels
