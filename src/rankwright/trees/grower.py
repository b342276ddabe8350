"""``Grower``: the memory of tree growing, kept from tree to tree, and one call a tree."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from rankwright.runtime.barrier import new_barrier
from rankwright.runtime.kernels import kernel
from rankwright.runtime.threads import in_chunks, thread_count
from rankwright.trees import growing, histogram
from rankwright.trees.binning import BinnedData
from rankwright.trees.growing import BLOCK_BINS
from rankwright.trees.growth import (
    APART,
    BEGIN,
    HIGHEST,
    LOWEST,
    ROWS,
    Data,
    Growth,
    Limits,
    Mine,
    Shared,
    new_growth,
)
from rankwright.trees.splitting import FOUND, Features, new_scan
from rankwright.trees.tree import Tree

Singles = NDArray[np.float32]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SMALLEST = np.finfo(np.float32).tiny
"""The least hessian of a leaf, whatever is asked for: without any it has no value."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Shape:
    """What trees may be. ``monotone`` has 1, −1 or 0 for each feature; ``features_per_node`` 0 means all."""

    max_leaf_nodes: int = 31
    max_depth: int | None = None
    min_samples_leaf: int = 20
    min_hessian: float = 1e-3
    l2_regularization: float = 0.0
    min_gain: float = 0.0
    monotone: Sequence[int] | None = None
    features_per_node: int = 0
    random_bins: bool = False
    exact_counts: bool = False


@dataclasses.dataclass(frozen=True, eq=False)
class GrownTree:
    """A tree's splits, and its leaves' rows: leaf k has ``index[begins[k] : begins[k] + rows[k]]``."""

    growth: Growth
    n_leaves: int
    index: NDArray[np.uint32]

    @property
    def begins(self) -> Integers:
        """Where each leaf's rows begin in the index."""
        return np.ascontiguousarray(self.growth.leaves[: self.n_leaves, BEGIN])

    @property
    def rows(self) -> Integers:
        """How many rows each leaf has."""
        return np.ascontiguousarray(self.growth.leaves[: self.n_leaves, ROWS])


class Grower:
    """Grows trees on one binned data set.

    >>> from rankwright.trees.binning import Bins
    >>> X = np.arange(8, dtype=np.float32).reshape(-1, 1)
    >>> grower = Grower(Bins.of(X).assign(X), Shape(max_leaf_nodes=2, min_samples_leaf=1), n_jobs=1)
    >>> gradients, hessians = np.float32([-1, -1, -1, 2, 2, 2, 2, 2]), np.ones(8, np.float32)
    >>> grown = grower.grow(gradients, hessians)
    >>> tree = grower.tree(grown, grower.newton_values(grown, gradients, hessians))
    >>> tree.threshold, tree.values
    (array([2.5], dtype=float32), array([ 1., -2.]))
    """

    def __init__(self, data: BinnedData, shape: Shape, n_jobs: int | None = None):
        self.data = data
        self.shape = shape
        self.threads = thread_count(n_jobs)
        self._pool: ThreadPoolExecutor | None = None
        n, n_features = len(data), len(data.bins.counts)
        bins = data.bins
        monotone = (
            np.zeros(n_features, np.int8) if shape.monotone is None else np.array(shape.monotone, np.int8)
        )
        self._features = Features(
            bins.counts, bins.categorical, bins.has_missing, monotone, bool(monotone.any()), shape.random_bins
        )
        self._blocks = histogram.blocks(n_features)
        size = self._blocks * BLOCK_BINS
        words = 1 + shape.exact_counts
        self._shared = Shared(
            packed=np.empty((words, n), np.int64),
            rows=np.empty(n, np.uint32),
            moved=np.empty(n, np.uint32),
            histograms=np.empty((shape.max_leaf_nodes, words, size), np.int64),
            private=np.empty((self.threads, words, size), np.int64),
            counts=np.zeros(APART * self.threads, np.int64),
            found=np.zeros((self.threads, 2, FOUND), np.int64),
            scores=np.zeros((self.threads, 2), np.float32),
            allowed=np.ones((3, n_features), np.uint8),
            barrier=new_barrier(),
        )
        self._mine = [
            Mine(
                t,
                self.threads,
                self._blocks * t // self.threads,
                self._blocks * (t + 1) // self.threads,
                *histogram.scratch(n_features),
                np.zeros(256, np.uint8),
                new_scan(),
            )
            for t in range(self.threads)
        ]

    def grow(
        self,
        gradients: Singles,
        hessians: Singles,
        *,
        rows: NDArray[np.uint32] | None = None,
        features: NDArray[np.bool_] | None = None,
        seed: int = 0,
    ) -> GrownTree:
        """Grow the structure of one tree: on some rows and features, or all; deterministic given the seed."""
        shape, n = self.shape, len(self.data)
        g_unit, h_unit = self._pack(gradients, hessians)
        self._shared.allowed[2] = 1 if features is None else features
        limits = Limits(
            leaves=shape.max_leaf_nodes,
            depth=shape.max_leaf_nodes if shape.max_depth is None else shape.max_depth,
            min_rows=shape.min_samples_leaf,
            min_hessian=max(np.float32(shape.min_hessian), SMALLEST),
            l2=np.float32(shape.l2_regularization),
            min_gain=np.float32(shape.min_gain),
            g_unit=np.float32(g_unit),
            h_unit=np.float32(h_unit),
            wide=shape.exact_counts,
            count_bits=histogram.count_bits(n),
            features_per_node=shape.features_per_node,
            seed=seed,
        )
        chosen = np.empty(0, np.uint32) if rows is None else rows
        data = Data(self.data.rows, self.data.columns, chosen, rows is None, self._blocks)
        growth = new_growth(shape.max_leaf_nodes, n if rows is None else len(rows))
        counts = self._together(
            lambda mine: growing.grow(data, self._features, self._shared, growth, limits, mine)
        )
        return GrownTree(growth, counts[0], self._shared.rows)

    def leaf_sums(self, grown: GrownTree, gradients: Singles, hessians: Singles) -> Floats:
        """The exact sums of gradients and hessians of each leaf, added in the order of its rows."""
        sums = np.empty((grown.n_leaves, 2))
        begins, rows = grown.begins, grown.rows
        in_chunks(
            lambda begin, end: sum_leaves(grown.index, begins, rows, gradients, hessians, begin, end, sums),
            range(grown.n_leaves + 1),
            self.threads,
        )
        return sums

    def newton_values(self, grown: GrownTree, gradients: Singles, hessians: Singles) -> Floats:
        """−G / (H + l2) of each leaf, within the bounds that monotone features set."""
        sums = self.leaf_sums(grown, gradients, hessians)
        bottom = sums[:, 1] + self.shape.l2_regularization
        values = np.divide(-sums[:, 0], bottom, out=np.zeros(len(sums)), where=bottom > 0)
        bounds = grown.growth.values[: grown.n_leaves]
        return np.clip(values, bounds[:, LOWEST], bounds[:, HIGHEST])

    def add_values(self, grown: GrownTree, values: Floats, scores: Floats) -> None:
        """Add each leaf's value to the scores of its rows."""
        begins, rows = grown.begins, grown.rows
        in_chunks(
            lambda begin, end: spread_values(grown.index, begins, rows, values, begin, end, scores),
            range(grown.n_leaves + 1),
            self.threads,
        )

    def tree(self, grown: GrownTree, values: Floats) -> Tree:
        """The grown tree with these leaf values, on raw features."""
        return Tree.of_splits(grown.growth, grown.rows, values, self.data.bins)

    def _together(self, work: Callable[[Mine], int]) -> list[int]:
        """Run a kernel on all threads at once: it waits at barriers, so each needs a thread of its own."""
        if self.threads == 1:
            return [work(self._mine[0])]
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="rankwright-trees")
        return list(self._pool.map(work, self._mine))

    def _pack(self, gradients: Singles, hessians: Singles) -> tuple[float, float]:
        if self.shape.exact_counts:
            packed, packed_wide = self._shared.packed
            return histogram.pack_wide(gradients, hessians, packed, packed_wide, self.threads)
        return histogram.pack(gradients, hessians, self._shared.packed[0], self.threads)


@kernel(
    "void(uint32[::1], int64[::1], int64[::1], float32[::1], float32[::1], int64, int64, float64[:, ::1])"
)
def sum_leaves(
    index: NDArray[np.uint32],
    begins: Integers,
    rows: Integers,
    gradients: Singles,
    hessians: Singles,
    begin: int,
    end: int,
    sums: Floats,
) -> None:
    """Sum the gradients and hessians of the leaves from ``begin`` to ``end``, row by row."""
    for leaf in range(begin, end):
        g, h = np.float64(0), np.float64(0)
        for i in range(np.uint64(begins[leaf]), np.uint64(begins[leaf] + rows[leaf])):
            row = np.uint64(index[i])
            g += gradients[row]
            h += hessians[row]
        sums[leaf, 0] = g
        sums[leaf, 1] = h


@kernel("void(uint32[::1], int64[::1], int64[::1], float64[::1], int64, int64, float64[::1])")
def spread_values(
    index: NDArray[np.uint32],
    begins: Integers,
    rows: Integers,
    values: Floats,
    begin: int,
    end: int,
    scores: Floats,
) -> None:
    """Add the values of the leaves from ``begin`` to ``end`` to the scores of their rows."""
    for leaf in range(begin, end):
        value = values[leaf]
        for i in range(np.uint64(begins[leaf]), np.uint64(begins[leaf] + rows[leaf])):
            scores[np.uint64(index[i])] += value
