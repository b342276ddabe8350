"""Orderings drawn by chance: scores with Gumbel noise, whose order is one of Plackett and Luce's model.

    keyᵢ = sᵢ / noise + Gᵢ,    Gᵢ = −ln(−ln Uᵢ)

draws the first document with the probability exp(sᵢ / noise) / Σ exp(s / noise), the second likewise from
the rest, and so on. The numbers belong to a row and a seed, so that they are the same on any threads.
"""

from __future__ import annotations

import numpy as np

from rankwright.measures.base import Floats
from rankwright.runtime.exponential import logarithm
from rankwright.runtime.kernels import kernel, readonly
from rankwright.runtime.mixing import mixed

HALF, STEP, DROPPED = np.float32(0.5), np.float32(2.0**-23), np.uint64(9)


@kernel("float32(uint64, uint64)")
def uniform(seed: int, row: int) -> np.float32:
    """A number inside (0, 1), one of 2²³, for a seed and a row."""
    return (np.float32(mixed(seed, row) >> DROPPED) + HALF) * STEP


def _keys_types() -> object:
    import numba as nb

    return nb.void(nb.uint64, nb.float64, readonly("float64"), nb.int64, nb.int64, nb.float64[::1])


@kernel(_keys_types)
def drawn_keys(seed: int, noise: float, scores: Floats, begin: int, end: int, keys: Floats) -> None:
    """Keys to rank the rows from ``begin`` to ``end`` by: their scores plus noise times Gumbel's."""
    for row in range(begin, end):
        gumbel = -logarithm(-logarithm(uniform(seed, np.uint64(row))))
        keys[row] = scores[row] + noise * np.float64(gumbel)
