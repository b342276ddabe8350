"""Kernels that several measures share: sums of gain × rank weight, and the plainest of constants."""

from __future__ import annotations

import numpy as np

from rankwright.measures.base import CONSTANT, ONE, PREPARE, ROW, VALUE, Floats, Singles
from rankwright.runtime.kernels import kernel


@kernel(CONSTANT)
def one_if_any(n: int, judged: Floats, ranks: Floats, parameters: Floats) -> float:
    """1 where a judged document has a gain, else 0: the query is blank."""
    for gain in judged:
        if gain > 0.0:
            return 1.0
    return 0.0


@kernel(VALUE)
def weighted_sum(gains: Floats, constant: float, ranks: Floats) -> float:
    """The sum over ranks of gain × rank weight, times the constant."""
    total = 0.0
    for r in range(gains.size):
        total += gains[r] * ranks[r]
    return total * constant


@kernel(PREPARE)
def weighted_prepare(n: int, gains: Floats, constant: float, tables: Floats) -> None:
    """The constant alone."""
    tables[1, 0] = constant


@kernel(ROW, fastmath={"contract", "nsz"})
def weighted_row(i: int, n: int, gains: Floats, tables: Floats, out: Singles) -> None:
    """(gⱼ − gᵢ)(wᵢ − wⱼ) times the constant: all that a swap changes in a weighted sum."""
    weights, constant = tables[0], tables[1, 0]
    gain, weight = gains[i], weights[i]
    for j in range(i + ONE, n):
        out[j] = np.float32((gains[j] - gain) * (weight - weights[j]) * constant)
