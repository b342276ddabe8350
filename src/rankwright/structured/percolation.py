"""The worst ordering for average precision, and for NDCG without a cut-off, with pairs as the feature map.

Write d(g, b) for what the objective gains when the bad document b comes up past the good one g, all before it
being above g already (both counted from 0 by score):

    d(g, b) = a(g) (v(g + b) − v(g + b + 1)) − scale (s_g − s_b)

a is what the g-th good document counts (AP: (1 + g)/n⁺; NDCG: 1/DCG*), v what a rank is worth (AP: 1/(1 + r);
NDCG: the discount). An ordering takes, of each row g, the first few b, and later rows take no fewer. The bad
document b stands above the good ones from t(b) on, and gets Q(b, t) = Σ over g ≥ t of d(g, b).

Yue et al. (2007) let each bad document choose the best t by itself, and prove for AP that no earlier one
chooses a later place. The reason is more general: where v is convex, d(g, b) falls with b, so that
Q(b, t) − Q(b, t + 1) = d(t, b) does. Such a Q is a Monge array, whose best t rises from row to row; with sums
of a(g)(v(g + b) − v(g + b + 1)) known in O(1),

    AP:    Σ = (1/n⁺) [H(m) + (m − 1 − t)/m] taken at its two ends,  m = 1 + t + b,  H the harmonic numbers
    NDCG:  Σ = (1/DCG*) v(t + b) taken at its two ends

halving the rows finds all the best t in O(n⁺ log n⁻ + n⁻), where percolating takes O(n⁺n⁻).

2008's discount 1, 1, 1/log2 3, … is convex but for its first step, which d(0, 0) alone has in it. So either
the first good document stays on top and the others percolate below it, or the first bad one tops the list and
the rest percolate; the better of the two is best.
"""

from __future__ import annotations

import numpy as np

from rankwright.measures.base import Floats
from rankwright.runtime.arrays import Integers
from rankwright.runtime.kernels import kernel
from rankwright.structured.oracle import PLACE, Placing, loss_of, tables_of

ROUNDING = 1e-15


@kernel("float64(float64[::1], float64[::1], float64, float64, float64[:, ::1], int64, int64, int64[::1])")
def percolate(
    below: Floats,
    bad: Floats,
    scale: float,
    constant: float,
    tables: Floats,
    first_bad: int,
    first_good: int,
    places: Integers,
) -> float:
    """The best place of each bad document from ``first_bad`` on, not above the good one ``first_good``.

    ``below[t]`` is the sum of the good documents' scores from t on. Returns what they gain together.
    """
    level, slope = tables[2], tables[3]
    last = below.size - 1
    step = 1
    while 2 * step <= bad.size - first_bad:
        step *= 2
    gained = 0.0
    while step > 0:
        for b in range(first_bad + step - 1, bad.size, 2 * step):
            lowest = places[b - step] if b - step >= first_bad else first_good
            highest = places[b + step] if b + step < bad.size else last
            best, at = -np.inf, highest
            for t in range(highest, lowest - 1, -1):
                value = constant * (level[t + b] + (1.0 + t) * slope[t + b])
                value += scale * ((last - t) * bad[b] - below[t])
                if value > best:
                    best, at = value, t
            places[b] = at
            gained += best - constant * (level[last + b] + (1.0 + last) * slope[last + b])
        step //= 2
    return gained


@kernel(PLACE)
def place_by_percolation(
    good: Floats, bad: Floats, scale: float, constant: float, k: int, tables: Floats, above: Integers
) -> float:
    """Bad documents above each good one; ``k`` is the rank from which on the worth of ranks is convex."""
    level, slope = tables[2], tables[3]
    below = np.zeros(good.size + 1)
    for g in range(good.size - 1, -1, -1):
        below[g] = below[g + 1] + good[g]
    places = np.empty(bad.size, np.int64)
    if k == 0:
        percolate(below, bad, scale, constant, tables, 0, 0, places)
    else:
        under = np.empty(bad.size, np.int64)
        gained_under = percolate(below, bad, scale, constant, tables, 0, 1, under)
        places[0] = 0
        gained = percolate(below, bad, scale, constant, tables, 1, 0, places)
        gained += constant * (level[0] + slope[0]) + scale * (good.size * bad[0] - below[0])
        gained -= constant * (level[good.size] + (1.0 + good.size) * slope[good.size])
        if gained_under >= gained:
            places = under
    b = 0
    for g in range(good.size):
        while b < bad.size and places[b] <= g:
            b += 1
        above[g] = b
    return loss_of(constant, tables, above)


def percolating(worths: Floats, constants: Floats, by_count: bool) -> Placing | None:
    """Percolation for what ranks are worth, one good document counting 1, or one more than that before it.

    None where that is convex neither from the first rank on nor from the second.
    """
    head = convex_from(worths)
    if head > 1:
        return None
    tables = tables_of(len(worths), 4)
    tables[0, :-1] = worths
    tables[1], tables[2, :-1] = 1.0, worths
    if (
        by_count
    ):  # Σ of (1 + g)(1/(1 + r) − 1/(2 + r)): from −H(m) + (1 + t)/m at one end to that at the other
        tables[1] = np.arange(1.0, len(worths) + 2.0)
        tables[2] = -np.cumsum(1.0 / tables[1])
        tables[3] = 1.0 / tables[1]
    return Placing(place_by_percolation, constants, tables, head)


def convex_from(worths: Floats) -> int:
    """The first rank from which on what ranks are worth is convex, up to rounding.

    >>> convex_from(np.array([1.0, 1.0, 0.5, 0.3])), convex_from(np.array([3.0, 2.0, 1.0, 0.0]))
    (1, 0)
    """
    bends = np.flatnonzero(np.diff(worths, 2) < -ROUNDING * np.abs(worths[:-2]))
    return int(bends[-1]) + 1 if len(bends) else 0
