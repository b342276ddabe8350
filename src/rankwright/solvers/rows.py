"""Rows times a vector, and sums of rows in groups: the same at any number of threads."""

from __future__ import annotations

import numpy as np

from rankwright.runtime.arrays import Floats, Integers, Singles
from rankwright.runtime.kernels import kernel
from rankwright.runtime.threads import in_chunks

SUMS = {"reassoc", "contract", "nsz"}
ROWS_AT_ONCE = 1 << 14


# The two forms differ in their last bits: the compiled one adds several parts of a row side by side.
@kernel("void(float32[:, ::1], float64[::1], int64, int64, float64[::1])", fastmath=SUMS)
def row_products(rows: Singles, weights: Floats, begin: int, end: int, out: Floats) -> None:
    """x·w of the rows from ``begin`` to ``end``."""
    for i in range(begin, end):
        row = rows[i]
        total = 0.0
        for j in range(weights.size):
            total += row[j] * weights[j]
        out[i] = total


@kernel("void(float32[:, ::1], float64[::1], int64[::1], int64, int64, float64[:, ::1])")
def group_sums(
    rows: Singles, coefficients: Floats, offsets: Integers, begin: int, end: int, out: Floats
) -> None:
    """Σ c·x over the rows of each group from ``begin`` to ``end``; most c are 0."""
    for g in range(begin, end):
        total = out[g]
        total[:] = 0.0
        for i in range(offsets[g], offsets[g + 1]):
            c = coefficients[i]
            if c != 0.0:
                row = rows[i]
                for j in range(total.size):
                    total[j] += c * row[j]


def products(rows: Singles, weights: Floats, n_jobs: int | None = None) -> Floats:
    """x·w of each row.

    >>> products(np.ones((2, 3), np.float32), np.array([1.0, 2.0, 3.0]))
    array([6., 6.])
    """
    out = np.empty(len(rows))
    bounds = [*range(0, len(rows), ROWS_AT_ONCE), len(rows)]
    in_chunks(lambda begin, end: row_products(rows, weights, begin, end, out), bounds, n_jobs)
    return out


def sums(rows: Singles, coefficients: Floats, offsets: Integers, n_jobs: int | None = None) -> Floats:
    """Σ c·x over the rows of each group.

    >>> sums(np.ones((3, 2), np.float32), np.array([1.0, 2.0, 5.0]), np.array([0, 2, 3]))
    array([[3., 3.],
           [5., 5.]])
    """
    out = np.empty((len(offsets) - 1, rows.shape[1]))
    parts = np.arange(0, offsets[-1] + ROWS_AT_ONCE, ROWS_AT_ONCE)
    bounds = np.unique(np.minimum(np.searchsorted(offsets, parts), len(out))).tolist()
    in_chunks(lambda begin, end: group_sums(rows, coefficients, offsets, begin, end, out), bounds, n_jobs)
    return out
