"""Binning: each feature's values in at most 255 bins, once, before the first tree.

Bin 0 holds what is missing; values have the bins 1, 2, …, and a value belongs to the first bin whose upper
bound is not below it. The binned data is kept twice, since histograms read rows and splits read columns:

    rows      one byte a value, row after row, so that a row's bins lie together
    columns   the same, feature after feature
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.runtime.errors import InputError
from rankwright.runtime.kernels import kernel, readonly
from rankwright.runtime.threads import in_chunks

Singles = NDArray[np.float32]
Bytes = NDArray[np.uint8]

BINS = 256
SAMPLE = 200_000
CHUNK = 8192
TILE = 512
TOGETHER = 16
"""Features whose bounds are chosen together: their values in a row share a cache line."""
ROW_PADDING = 128
"""Bytes behind the last row: blocks of features read past a row's end, vectors past a block's."""


@dataclasses.dataclass(frozen=True, eq=False)
class Bins:
    """How each feature's values map to bins.

    ``bounds[f]`` are the upper bounds of the bins of feature f, padded with infinity; for a categorical
    feature they are its categories in rising order instead, and a value in none of them is missing.
    ``counts[f]`` is how many bins are in use, that of the missing included.
    """

    bounds: Singles
    counts: NDArray[np.int64]
    categorical: NDArray[np.bool_]
    has_missing: NDArray[np.bool_]

    @classmethod
    def of(
        cls, X: Singles, max_bins: int = 255, categorical: Sequence[int] = (), n_jobs: int | None = None
    ) -> Bins:
        """Choose bins of about equal weight from (a sample of) the rows of a matrix.

        >>> bins = Bins.of(np.array([[1.0], [2.0], [5.0], [np.nan]], np.float32))
        >>> bins.counts, bins.bounds[0, :3]
        (array([4]), array([1.5, 3.5, inf], dtype=float32))
        """
        if not 2 <= max_bins < BINS:
            raise InputError(f"max_bins is {max_bins}; it is a number from 2 to {BINS - 1}")
        n, n_features = X.shape
        every = slice(None)
        rows = every if n <= SAMPLE else np.sort(np.random.default_rng(0).choice(n, SAMPLE, replace=False))
        is_categorical = np.zeros(n_features, np.bool_)
        is_categorical[list(categorical)] = True
        bounds = np.full((n_features, BINS), np.inf, np.float32)
        counts = np.empty(n_features, np.int64)

        def choose(begin: int, end: int) -> None:
            some = np.sort(X[rows, begin:end].T, axis=1)  # a few features at a time: no second copy of all
            for f, values in zip(range(begin, end), some, strict=True):
                values = values[: np.searchsorted(values, np.nan)]
                find = frequent_values if is_categorical[f] else equal_weight_bounds
                upper = find(values, max_bins)
                bounds[f, : len(upper)] = upper
                counts[f] = 1 + len(upper) + (not is_categorical[f])

        in_chunks(choose, [*range(0, n_features, TOGETHER), n_features], n_jobs)
        return cls(bounds, counts, is_categorical, missing_features(X, n_jobs))

    def assign(self, X: Singles, n_jobs: int | None = None) -> BinnedData:
        """The bins of a matrix's values."""
        n, n_features = X.shape
        rows = np.zeros(n * n_features + ROW_PADDING, np.uint8)
        columns = np.empty((n_features, n), np.uint8)
        edges = [*range(0, n, CHUNK), n]
        in_chunks(
            lambda begin, end: assign_bins(
                X, self.bounds, self.counts, self.categorical, begin, end, rows, columns
            ),
            edges,
            n_jobs,
        )
        return BinnedData(rows, columns, self)


@dataclasses.dataclass(frozen=True, eq=False)
class BinnedData:
    """A matrix in bins, row after row and feature after feature."""

    rows: Bytes
    columns: Bytes
    bins: Bins

    def __len__(self) -> int:
        """How many rows there are."""
        return int(self.columns.shape[1])


def equal_weight_bounds(values: Singles, max_bins: int) -> Singles:
    """Upper bounds that cut sorted values into bins of about equal weight, none through equal values.

    Values that fill a bin by themselves get one of their own. The last bin has no bound.

    >>> equal_weight_bounds(np.array([1, 1, 1, 2, 3], np.float32), 2)
    array([1.5], dtype=float32)
    """
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1])[: len(values)])
    distinct = values[starts]
    if len(distinct) <= 1:
        return np.empty(0, np.float32)
    weights = np.diff(np.append(starts, len(values)))
    if len(distinct) <= max_bins:
        ends = np.arange(len(distinct) - 1)
    else:
        ends = np.empty(max_bins - 1, np.int64)
        ends = ends[: fill_bins(weights, max_bins, ends)]
    below, above = distinct[ends], distinct[ends + 1]
    middle = ((below.astype(np.float64) + above) / 2).astype(np.float32)
    # Between neighbouring floats the middle rounds to one of them: a bound must stay below the next value.
    return np.where(middle < above, middle, below)


@kernel("int64(int64[::1], int64, int64[::1])")
def fill_bins(weights: NDArray[np.int64], max_bins: int, ends: NDArray[np.int64]) -> Any:
    """Write the last distinct value of each bin but the last, greedily from the lowest up; how many."""
    total = np.int64(0)
    for i in range(weights.size):
        total += weights[i]
    left, bins_left = total, max_bins
    for i in range(weights.size):
        if weights[i] * max_bins >= total:  # fills a bin by itself
            left -= weights[i]
            bins_left -= 1
    filled: Any = np.int64(0)
    found = np.int64(0)
    for i in range(weights.size - 1):
        filled += weights[i]
        target = left / max(bins_left, 1)
        alone, next_alone = weights[i] * max_bins >= total, weights[i + 1] * max_bins >= total
        if alone or filled >= target or (next_alone and filled >= target / 2):
            ends[found] = i
            found += 1
            if not alone:
                bins_left -= 1
                left -= filled
            filled = 0
            if found == max_bins - 1:
                break
    return found


def frequent_values(values: Singles, max_bins: int) -> Singles:
    """The most frequent values, at most ``max_bins`` of them, in rising order."""
    distinct, weights = np.unique(values, return_counts=True)
    return np.sort(distinct[np.argsort(-weights, kind="stable")[:max_bins]])


def missing_features(X: Singles, n_jobs: int | None = None) -> NDArray[np.bool_]:
    """Which features have a missing value anywhere."""
    found = in_chunks(
        lambda begin, end: np.isnan(X[begin:end]).any(axis=0), [*range(0, len(X), CHUNK), len(X)], n_jobs
    )
    return np.logical_or.reduce(found)


def _assign_types() -> Any:
    import numba as nb

    return nb.void(
        readonly("float32", 2), nb.float32[:, ::1], nb.int64[::1], nb.boolean[::1], nb.int64, nb.int64,
        nb.uint8[::1], nb.uint8[:, ::1],
    )  # fmt: skip


@kernel(_assign_types)
def assign_bins(
    X: Singles,
    bounds: Singles,
    counts: NDArray[np.int64],
    categorical: NDArray[np.bool_],
    begin: int,
    end: int,
    rows: Bytes,
    columns: Bytes,
) -> None:
    """Write the bins of the rows from ``begin`` to ``end``, tile by tile and feature by feature.

    The search halves 256 bounds eight times without a branch, so that LLVM runs it for a vector of values.
    """
    n_features = np.uint64(X.shape[1])
    values = np.empty(TILE, np.float32)
    found = np.empty(TILE, np.int32)
    for tile in range(begin, end, TILE):
        first = np.uint64(tile)
        m = np.uint64(min(TILE, end - tile))
        for f in range(n_features):
            for i in range(m):
                values[i] = X[first + i, f]
            bound = bounds[f]
            for i in range(m):
                v = values[i]
                p = np.uint32(128) if v > bound[np.uint32(127)] else np.uint32(0)
                p = p + (np.uint32(64) if v > bound[p + np.uint32(63)] else np.uint32(0))
                p = p + (np.uint32(32) if v > bound[p + np.uint32(31)] else np.uint32(0))
                p = p + (np.uint32(16) if v > bound[p + np.uint32(15)] else np.uint32(0))
                p = p + (np.uint32(8) if v > bound[p + np.uint32(7)] else np.uint32(0))
                p = p + (np.uint32(4) if v > bound[p + np.uint32(3)] else np.uint32(0))
                p = p + (np.uint32(2) if v > bound[p + np.uint32(1)] else np.uint32(0))
                p = p + (np.uint32(1) if v > bound[p] else np.uint32(0))
                found[i] = np.int32(p) + np.int32(1) if v == v else np.int32(0)
            if categorical[f]:
                for i in range(m):
                    b = found[i]
                    if b > 0 and (b >= counts[f] or bound[b - 1] != values[i]):
                        found[i] = 0
            for i in range(m):
                rows[(first + i) * n_features + f] = found[i]
            for i in range(m):
                columns[f, first + i] = found[i]
