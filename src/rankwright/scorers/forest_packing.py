"""Packing trees for QuickScorer: which leaf bits each node clears, sorted by tree and test."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.runtime.kernels import kernel, readonly
from rankwright.scorers.forest_kernels import (
    RIGHT_ABOVE,
    RIGHT_OUTSIDE,
    RIGHT_UNLESS_BELOW,
    WORD,
    Entries,
    Integers,
    Ints,
    Nodes,
    Words,
)

TESTS = 3


def _number_types() -> Any:
    import numba as nb

    longs, shorts, out = readonly("int64"), readonly("int32"), nb.int64[::1]
    return nb.void(longs, longs, shorts, shorts, out, out, out, out)


@kernel(_number_types)
def number_leaves(
    first_node: Integers,
    first_leaf: Integers,
    left: Ints,
    right: Ints,
    counts: Integers,
    starts: Integers,
    in_left: Integers,
    position: Integers,
) -> None:
    """Number each tree's leaves from left to right.

    Writes for each node the first leaf below it and how many stand in its left subtree, for each leaf its
    number. Children stand behind their parents, so one pass back and one forth are enough.
    """
    for tree in range(len(first_node) - 1):
        node0, leaf0 = first_node[tree], first_leaf[tree]
        n = first_node[tree + 1] - node0
        if n == 0:
            position[leaf0] = 0
            continue
        for k in range(n - 1, -1, -1):
            a, b = np.int64(left[node0 + k]), np.int64(right[node0 + k])
            in_left[node0 + k] = counts[node0 + a] if a >= 0 else 1
            counts[node0 + k] = in_left[node0 + k] + (counts[node0 + b] if b >= 0 else 1)
        starts[node0] = 0
        for k in range(n):
            begin = starts[node0 + k]
            for side in range(2):
                child = np.int64(right[node0 + k] if side else left[node0 + k])
                at = begin + in_left[node0 + k] if side else begin
                if child >= 0:
                    starts[node0 + child] = at
                else:
                    position[leaf0 + ~child] = at


def words(trees: Nodes) -> int:
    """How many words of bits a row needs: one a leaf of the largest tree."""
    return -(-int(np.diff(trees.first_leaf).max(initial=1)) // WORD)


def pack(trees: Nodes) -> Entries:
    """The trees' entries for QuickScorer; up to the square of a lopsided tree's leaves."""
    n_trees, n_nodes = len(trees.first_node) - 1, len(trees.feature)
    counts, starts, in_left = np.zeros((3, n_nodes), np.int64)
    position = np.zeros(len(trees.values), np.int64)
    number_leaves(
        trees.first_node, trees.first_leaf, trees.left, trees.right, counts, starts, in_left, position
    )
    node, word, mask = left_bits(starts, in_left)
    tree = np.repeat(np.arange(n_trees), np.diff(trees.first_node))
    by_missing = np.where(trees.missing_left, RIGHT_ABOVE, RIGHT_UNLESS_BELOW)
    group = tree * TESTS + np.where(trees.category_set >= 0, RIGHT_OUTSIDE, by_missing)
    order = np.lexsort((trees.feature[node], group[node]))
    node = node[order]
    first = np.searchsorted(group[node], np.arange(n_trees * TESTS + 1))
    values = np.empty_like(trees.values)
    values[np.repeat(trees.first_leaf[:-1], np.diff(trees.first_leaf)) + position] = trees.values
    return Entries(
        first=first[TESTS * np.arange(n_trees)[:, None] + np.arange(TESTS + 1)],
        feature=trees.feature[node].astype(np.uint32),
        threshold=trees.threshold[node],
        word=word[order].astype(np.uint32),
        mask=mask[order],
        category_set=trees.category_set[node],
        values=values,
    )


def left_bits(starts: Integers, in_left: Integers) -> tuple[Integers, Integers, Words]:
    """For each node and word that its left subtree reaches into: node, word, and all other leaves' bits.

    >>> node, word, mask = left_bits(np.array([62]), np.array([3]))
    >>> node, word, [hex(~m & (2**64 - 1)) for m in mask.tolist()]
    (array([0, 0]), array([0, 1]), ['0xc000000000000000', '0x1'])
    """
    first = starts // WORD
    reached = (starts + in_left - 1) // WORD - first + 1
    node = np.repeat(np.arange(len(starts)), reached)
    word = first[node] + np.arange(len(node)) - np.repeat(np.cumsum(reached) - reached, reached)
    low = np.maximum(starts[node] - word * WORD, 0).astype(np.uint64)
    high = np.minimum(starts[node] + in_left[node] - word * WORD, WORD).astype(np.uint64)
    ones: NDArray[np.uint64] = np.full(len(node), 0xFFFFFFFFFFFFFFFF, np.uint64)
    return node, word, ~((ones >> (np.uint64(WORD) - (high - low))) << low)
