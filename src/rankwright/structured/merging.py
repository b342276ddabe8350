"""The worst ordering for a decay by rank, φ_dorm (2008, section 3.5), with labels good and bad.

    max over y of Σ over documents of A(rank) s  −  Σ over good documents of a(g) v(rank)

The paper solves an assignment of documents to ranks in O(n³). But A does not rise, so that documents of one
kind are best in the order of their scores, and a ranking is a merge of two sorted lists: the best of those
that have placed g good and b bad documents is

    V(g, b) = max of V(g − 1, b) + A(r) s_g − a(g) v(r) and V(g, b − 1) + A(r) s_b,   r = g + b − 1

It knows how many good documents stand above, so average precision and the reciprocal rank can be had too,
which an assignment cannot. From rank k on v is 0 and the rest of both lists is best merged by score. That is
O(k²) cells and, of the k + 1 cells at rank k, a merge each; without a cut-off O(n⁺n⁻).
"""

from __future__ import annotations

import numpy as np

from rankwright.measures.base import Floats
from rankwright.runtime.arrays import Integers
from rankwright.runtime.kernels import kernel
from rankwright.structured.feature_maps import Decay
from rankwright.structured.oracle import PLACE, Placing, loss_of, tables_of


@kernel("float64(float64[::1], float64[::1], int64, int64, float64[::1])")
def merged_by_score(good: Floats, bad: Floats, g: int, b: int, decay: Floats) -> float:
    """Σ A(rank) s of the good documents from g on and the bad ones from b on, by score behind the others."""
    total = 0.0
    for r in range(g + b, good.size + bad.size):
        if decay[r] == 0.0:
            break
        if g == good.size or (b < bad.size and bad[b] > good[g]):
            total += decay[r] * bad[b]
            b += 1
        else:
            total += decay[r] * good[g]
            g += 1
    return total


@kernel(PLACE)
def place_by_merging(
    good: Floats, bad: Floats, scale: float, constant: float, k: int, tables: Floats, above: Integers
) -> float:
    """Bad documents above each good one; ranks from ``k`` on are worth nothing."""
    worths, counts, decay = tables[0], tables[1], tables[2]
    n_good, n_bad = good.size, bad.size
    cut = min(k, n_good + n_bad)
    values = np.zeros(min(n_good, cut) + 1)
    is_good = np.zeros((values.size, min(n_bad, cut) + 1), np.bool_)
    for r in range(cut):
        for g in range(min(r + 1, n_good), max(0, r + 1 - n_bad) - 1, -1):
            b = r + 1 - g
            best = -np.inf
            if b > 0:
                best = values[g] + decay[r] * bad[b - 1]
            if g > 0:
                value = values[g - 1] + decay[r] * good[g - 1] - constant * counts[g - 1] * worths[r]
                is_good[g, b] = value >= best
                best = max(best, value)
            values[g] = best
    best, inside = -np.inf, 0
    for g in range(max(0, cut - n_bad), min(cut, n_good) + 1):
        value = values[g] + merged_by_score(good, bad, g, cut - g, decay)
        if value >= best:
            best, inside = value, g
    b = cut - inside
    for g in range(inside, n_good):
        while b < n_bad and bad[b] > good[g]:
            b += 1
        above[g] = b
    g, b = inside, cut - inside
    while g > 0:
        if is_good[g, b]:
            g -= 1
            above[g] = b
        else:
            b -= 1
    return loss_of(constant, tables, above)


def by_merging(worths: Floats, constants: Floats, counts: Floats, k: int, decay: Decay) -> Placing:
    """The merge for what ranks are worth and what the first, second, … good document counts."""
    tables = tables_of(len(worths), 3)
    tables[0, :-1] = worths
    tables[1, : len(counts)] = counts
    tables[2, :-1] = decay.weights(len(worths))
    return Placing(place_by_merging, constants, tables, k)
