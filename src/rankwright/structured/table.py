"""The worst ordering for NDCG and average precision with a cut-off, with pairs as the feature map.

The table of 2008's Figure 2: S[g, h] is the best of all placements of the good documents 0 … g that put g
below h bad ones, at rank g + h; what the good document g counts there is a(g) v(g + h), and what the feature
map gains is σ(g, h) (``free``).

    S[g, h] = max over p ≤ h of S[g − 1, p]  −  a(g) v(g + h)  +  σ(g, h)

The maximum over p runs along with h, so a cell takes O(1); h goes to n⁻, which is the place after the last
bad document. From rank k on, v is 0: once a good document stands there, so do all after it, and each is free
but for standing no higher than rank k allows. So the table has cells for ranks below k only, and for each g
one sum, known in O(1), of all from g on behind the cut-off:  O(k²) and two passes over the lists, exact.
With k as long as the list it is the whole table.
"""

from __future__ import annotations

import numpy as np

from rankwright.measures.base import Floats
from rankwright.runtime.arrays import Integers
from rankwright.runtime.kernels import kernel
from rankwright.structured.free import free_places, held_back
from rankwright.structured.oracle import PLACE, Placing, loss_of, tables_of


@kernel(PLACE)
def place_by_table(
    good: Floats, bad: Floats, scale: float, constant: float, k: int, tables: Floats, above: Integers
) -> float:
    """Bad documents above each good one; ranks from ``k`` on are worth nothing."""
    worths, counts = tables[0], tables[1]
    n_good, n_bad = good.size, bad.size
    free, sums = np.empty(n_good, np.int64), np.empty((3, max(n_good, n_bad) + 1))
    free_places(good, bad, scale, free, sums)
    rows, width = min(n_good, k), min(n_bad, k - 1) + 1
    row, rises, best_of = np.empty(width), np.empty((rows, width), np.bool_), np.zeros(rows, np.int64)
    best, inside, reached, end = -np.inf, 0, 0.0, n_good
    for g in range(rows + 1):
        # 1. All from g on behind the cut-off, where there are bad documents enough.
        if g == n_good or k - g <= n_bad:
            while end > g and free[end - 1] >= k - g:
                end -= 1
            behind = 0.0 if g == n_good else held_back(g, max(end, g), k - g, scale, sums)
            if reached + behind >= best:
                best, inside = reached + behind, g
        if g == rows:
            break
        # 2. The row of g: S[g, h] for the ranks before the cut-off.
        before = 0.0 if g == 0 else -np.inf
        reached = -np.inf
        for h in range(min(n_bad, k - 1 - g) + 1):
            rises[g, h] = g > 0 and row[h] > before
            if rises[g, h]:
                before = row[h]
            row[h] = before - constant * counts[g] * worths[g + h] + scale * (sums[0, h] - h * good[g])
            if row[h] > reached:
                reached, best_of[g] = row[h], h
    # 3. Back along the table.
    for g in range(inside, n_good):
        above[g] = max(free[g], k - inside)
    h = best_of[inside - 1] if inside > 0 else 0
    for g in range(inside - 1, -1, -1):
        above[g] = h
        while g > 0 and not rises[g, h]:
            h -= 1
    return loss_of(constant, tables, above)


def by_table(worths: Floats, constants: Floats, by_count: bool, k: int) -> Placing:
    """The table for what ranks are worth, one good document counting 1, or one more than that before it."""
    tables = tables_of(len(worths), 2)
    tables[0, :-1] = worths
    tables[1] = np.arange(1.0, len(worths) + 2.0) if by_count else 1.0
    return Placing(place_by_table, constants, tables, k)
