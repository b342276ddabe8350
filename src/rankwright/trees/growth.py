"""A tree as it grows: what the threads share, what each has to itself, and the leaves and splits so far."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwright.runtime.kernels import kernel
from rankwright.runtime.mixing import mixed
from rankwright.trees.binning import Bytes
from rankwright.trees.splitting import FOUND, Integers, Leaf, Scan, Singles

APART = 8
"""Counters of different threads lie this many int64 apart: a cache line."""

_ROUNDED = np.float32(2**-22)
"""Rows told from hessians come out so much of a leaf's too few; the minimum is held to when they part."""


class Data(NamedTuple):
    """The binned data, and the rows to grow on (``all_rows``: each of them, in order)."""

    rows: Bytes
    columns: NDArray[np.uint8]
    chosen: NDArray[np.uint32]
    all_rows: bool
    blocks: int


class Limits(NamedTuple):
    """What a tree may be."""

    leaves: int
    depth: int
    min_rows: int
    min_hessian: np.float32
    l2: np.float32
    min_gain: np.float32
    g_unit: np.float32
    h_unit: np.float32
    wide: bool
    count_bits: int
    features_per_node: int
    seed: int


class Shared(NamedTuple):
    """Memory that the threads share.

    ``packed[word, row]``, ``histograms[slot, word]``, ``private[thread, word]``; ``counts`` has a cache line
    a thread; ``found`` and ``scores`` have two lines a thread, one for each child; ``allowed`` has three, the
    last for the tree.
    """

    packed: NDArray[np.int64]
    rows: NDArray[np.uint32]
    moved: NDArray[np.uint32]
    histograms: NDArray[np.int64]
    private: NDArray[np.int64]
    counts: Integers
    found: NDArray[np.int64]
    scores: NDArray[np.float32]
    allowed: NDArray[np.uint8]
    barrier: Integers


# A leaf as a line of int64: its rows are index[BEGIN : BEGIN + ROWS], then its sums, the slot of its
# histogram, its depth and its best split; and as a line of float32: that split's gain, how many times its
# minimum of rows is demanded of the search, and the bounds on its value.
BEGIN, ROWS, SUM0, SUM1, SLOT, DEPTH, BEST = 0, 1, 2, 3, 4, 5, 6
GAIN, STRICTNESS, LOWEST, HIGHEST = 0, 1, 2, 3
# A split as a line of int64: the leaf that it divides, and what was found.
PARENT, SPLIT = 0, 1


class Growth(NamedTuple):
    """The tree as it grows: split k divides leaf ``splits[k, PARENT]``, whose right side is leaf k + 1."""

    leaves: NDArray[np.int64]
    values: NDArray[np.float32]
    splits: NDArray[np.int64]
    gains: Singles


def new_growth(n_leaves: int, rows: int) -> Growth:
    """A tree that is a root so far."""
    leaves = np.zeros((n_leaves, BEST + FOUND), np.int64)
    leaves[0, ROWS] = rows
    values = np.tile(np.array([0, 1, -np.inf, np.inf], np.float32), (n_leaves, 1))
    return Growth(
        leaves, values, np.zeros((n_leaves, SPLIT + FOUND), np.int64), np.zeros(n_leaves, np.float32)
    )


class Mine(NamedTuple):
    """What one thread has to itself."""

    thread: int
    threads: int
    first_block: int
    last_block: int
    copied: Bytes
    amounts: Integers
    goes_left: Bytes
    scan: Scan


@kernel()
def share(thread: int, threads: int, n: int) -> Any:
    """Where the share of a thread in n begins."""
    return n * thread // threads


@kernel()
def as_leaf(leaf: int, growth: Growth, limits: Limits) -> Leaf:
    """What the search needs to know of a leaf."""
    line, values = growth.leaves[leaf], growth.values[leaf]
    return Leaf(
        line[SUM0],
        line[SUM1],
        limits.g_unit,
        limits.h_unit,
        np.float32(line[ROWS]),
        limits.l2,
        limits.min_hessian,
        np.float32(limits.min_rows) * values[STRICTNESS] - np.float32(line[ROWS]) * _ROUNDED,
        values[LOWEST],
        values[HIGHEST],
        limits.wide,
        limits.count_bits,
        np.int64(mixed(np.uint64(limits.seed), np.uint64(leaf * 1000003 + line[ROWS]))),
    )
