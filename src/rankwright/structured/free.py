"""Where good documents stand if only the feature map counts: what lies behind a cut-off is worth nothing.

With σ(g, h) = scale Σ over the first h bad documents of (s_b − s_g), what the map gains by h bad documents
above the good one g: it is concave in h, and highest where all bad documents with a higher score, and no
others, stand above. Held back behind at least h of them, a good document that would stand higher stands at h.
"""

from __future__ import annotations

from rankwright.measures.base import Floats
from rankwright.runtime.arrays import Integers
from rankwright.runtime.kernels import kernel


@kernel("void(float64[::1], float64[::1], float64, int64[::1], float64[:, ::1])")
def free_places(good: Floats, bad: Floats, scale: float, free: Integers, sums: Floats) -> None:
    """The best h of each good document, and sums of scores.

    ``sums``: of the bad documents above each, of the good ones above each, and of the best σ from each on.
    """
    sums[0, 0], sums[1, 0] = 0.0, 0.0
    for b in range(bad.size):
        sums[0, b + 1] = sums[0, b] + bad[b]
    b = 0
    for g in range(good.size):
        sums[1, g + 1] = sums[1, g] + good[g]
        while b < bad.size and bad[b] > good[g]:
            b += 1
        free[g] = b
    sums[2, good.size] = 0.0
    for g in range(good.size - 1, -1, -1):
        sums[2, g] = sums[2, g + 1] + scale * (sums[0, free[g]] - free[g] * good[g])


@kernel("float64(int64, int64, int64, float64, float64[:, ::1])")
def held_back(first: int, end: int, h: int, scale: float, sums: Floats) -> float:
    """Σ of σ from the good document ``first`` on, those before ``end`` at h, the others where they like."""
    held = (end - first) * sums[0, h] - h * (sums[1, end] - sums[1, first])
    return sums[2, end] + scale * held
