"""Sorting gains: the kernel that ideal orderings stand on."""

from __future__ import annotations

import numpy as np

from rankwright.measures.base import Floats
from rankwright.runtime.kernels import kernel

LEVELS = 64


@kernel("void(float64[::1])")
def shell_sort(values: Floats) -> None:
    """Sort from the highest to the lowest, NaN last, in place.

    NumPy's sort takes Numba three seconds to compile.
    """
    gap = 1
    while gap < values.size // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, values.size):
            value = values[i]
            if np.isnan(value):
                continue
            j = i
            while j >= gap and not values[j - gap] >= value:  # also where that is NaN
                values[j] = values[j - gap]
                j -= gap
            values[j] = value
        gap //= 3


@kernel("void(float64[::1], float64[::1])")
def descending(values: Floats, out: Floats) -> None:
    """Write the highest of ``values`` to ``out``, as many as it holds, from the highest to the lowest.

    Gains of graded labels are small whole numbers, and counting them is ten times faster than sorting.
    """
    counts = np.zeros(LEVELS, np.int64)
    small = True
    for value in values:
        if not (0.0 <= value < LEVELS and value == np.floor(value)):
            small = False
            break
        counts[int(value)] += 1
    if not small:
        ordered = values.copy()
        shell_sort(ordered)
        for r in range(out.size):
            out[r] = ordered[r]
        return
    r = 0
    for level in range(LEVELS - 1, -1, -1):
        for _ in range(min(counts[level], out.size - r)):
            out[r] = level
            r += 1
