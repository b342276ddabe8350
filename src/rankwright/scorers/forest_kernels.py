"""Scoring by trees: one row at a time by walking, many rows at once by QuickScorer.

**Walking** follows each tree from its root; best for a row or two.

**QuickScorer** (Lucchese and others, 2015) looks at no path. Number a tree's leaves from left to right, and
give each row one bit a leaf, all set. A node whose test fails (the row goes right) clears the bits of its
left subtree; when all nodes have been looked at, in any order, the lowest bit still set is the row's leaf.
Here it is turned round: for each tree, node by node over 64 rows at once, so that the tests of 16 rows are
one vector compare:

    node:   feature 7, threshold 0.5, left subtree = leaves 2 and 3
    rows:   x₀ … x₆₃ > 0.5   →   bits[row] &= ~0b1100   where so

Trees of more than 64 leaves have several words of bits a row, and a node an *entry* for each word that its
left subtree reaches into. All ways add the trees' values in the trees' order, so they agree bit for bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwright.runtime.intrinsics import trailing_zeros
from rankwright.runtime.kernels import kernel

Singles = NDArray[np.float32]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Ints = NDArray[np.int32]
Words = NDArray[np.uint64]

TILE = 64
WORD = 64
RIGHT_ABOVE, RIGHT_UNLESS_BELOW, RIGHT_OUTSIDE = 0, 1, 2
"""A node's test, true where a row goes right: x > t (missing goes left), not x ≤ t, not in a set."""

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_TILE = np.uint64(TILE)


class Nodes(NamedTuple):
    """The trees' nodes one after the other; a child below 0 is leaf ~child of its tree."""

    first_node: Integers
    first_leaf: Integers
    feature: Ints
    threshold: Singles
    missing_left: NDArray[np.bool_]
    category_set: Ints
    left: Ints
    right: Ints
    values: Floats
    sets: Words
    first_code: Integers
    codes: Singles


class Entries(NamedTuple):
    """The trees for QuickScorer: entries by tree and test, leaf values from left to right.

    Those of a test begin at ``first[tree, test]``.
    """

    first: Integers
    feature: NDArray[np.uint32]
    threshold: Singles
    word: NDArray[np.uint32]
    mask: Words
    category_set: Ints
    values: Floats


@kernel()
def category(codes: Singles, begin: int, end: int, value: float) -> int:
    """The bin of a category: 1 for the first of the sorted codes, 0 where there is no such code."""
    low, high = begin, end
    while low < high:
        middle = (low + high) >> 1
        if codes[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low - begin + 1 if low < end and codes[low] == value else 0


@kernel()
def walk(X: Singles, nodes: Nodes, start: Floats, begin: int, end: int, out: Floats) -> None:
    """Score the rows from ``begin`` to ``end`` one by one; each output begins at its ``start``."""
    outputs = out.shape[1]
    for row in range(begin, end):
        for o in range(outputs):
            out[row, o] = start[o]
        for tree in range(len(nodes.first_node) - 1):
            first = nodes.first_node[tree]
            at = np.int64(0) if nodes.first_node[tree + 1] > first else np.int64(-1)
            while at >= 0:
                node = first + at
                feature = np.int64(nodes.feature[node])
                x = X[row, feature]
                chosen = np.int64(nodes.category_set[node])
                if chosen >= 0:
                    b = category(nodes.codes, nodes.first_code[feature], nodes.first_code[feature + 1], x)
                    goes_left = (nodes.sets[chosen, b >> 6] >> np.uint64(b & 63)) & np.uint64(1) != 0
                else:
                    goes_left = x <= nodes.threshold[node] or (x != x and nodes.missing_left[node])
                at = np.int64(nodes.left[node] if goes_left else nodes.right[node])
            leaf = nodes.first_leaf[tree] + ~at
            for o in range(outputs):
                out[row, o] += nodes.values[leaf, o]


@kernel()
def add_leaves(bits: Words, values: Floats, m: int, total: Floats) -> None:
    """Add the values of the leaf that each row's lowest bit names, for any number of words and outputs."""
    for i in range(m):
        w = np.int64(0)
        while bits[w, i] == np.uint64(0):
            w += 1
        leaf = np.int64(trailing_zeros(bits[w, i])) + w * WORD
        for o in range(total.shape[0]):
            total[o, i] += values[leaf, o]


@kernel()
def quick(
    X: Singles,
    nodes: Nodes,
    entries: Entries,
    words: int,
    used: Ints,
    start: Floats,
    begin: int,
    end: int,
    out: Floats,
) -> None:
    """Score the rows from ``begin`` to ``end`` by QuickScorer, 64 at a time."""
    outputs = out.shape[1]
    tile = np.zeros((X.shape[1], TILE), np.float32)
    categories = np.zeros((X.shape[1], TILE), np.int64)
    bits = np.empty((words, TILE), np.uint64)
    total = np.empty((outputs, TILE), np.float64)
    for tile_begin in range(begin, end, TILE):
        m = min(TILE, end - tile_begin)
        # 1. The features in use, feature by feature.
        for i in range(np.uint64(m)):
            row = X[np.uint64(tile_begin) + i]
            for u in range(np.uint64(used.size)):
                feature = np.uint64(used[u])
                tile[feature, i] = row[feature]
        for u in range(len(used)):
            f = np.int64(used[u])
            low, high = nodes.first_code[f], nodes.first_code[f + 1]
            if high > low:
                for i in range(m):
                    categories[f, i] = category(nodes.codes, low, high, tile[f, i])
        for o in range(outputs):
            for i in range(_TILE):
                total[o, i] = start[o]
        for tree in range(len(nodes.first_node) - 1):
            # 2. Clear the bits of the leaves that each row cannot reach.
            for w in range(words):
                for i in range(_TILE):
                    bits[w, i] = _ALL
            for k in range(entries.first[tree, RIGHT_ABOVE], entries.first[tree, RIGHT_ABOVE + 1]):
                x, t, mask = tile[np.uint64(entries.feature[k])], entries.threshold[k], entries.mask[k]
                b = bits[np.uint64(entries.word[k])]
                for i in range(_TILE):
                    b[i] = b[i] & (mask if x[i] > t else _ALL)
            for k in range(
                entries.first[tree, RIGHT_UNLESS_BELOW], entries.first[tree, RIGHT_UNLESS_BELOW + 1]
            ):
                x, t, mask = tile[np.uint64(entries.feature[k])], entries.threshold[k], entries.mask[k]
                b = bits[np.uint64(entries.word[k])]
                for i in range(_TILE):
                    b[i] = b[i] & (_ALL if x[i] <= t else mask)
            for k in range(entries.first[tree, RIGHT_OUTSIDE], entries.first[tree, RIGHT_OUTSIDE + 1]):
                c, chosen = categories[np.uint64(entries.feature[k])], np.int64(entries.category_set[k])
                mask = entries.mask[k]
                b = bits[np.uint64(entries.word[k])]
                for i in range(m):
                    inside = (nodes.sets[chosen, c[i] >> 6] >> np.uint64(c[i] & 63)) & np.uint64(1)
                    b[i] = b[i] & (_ALL if inside != 0 else mask)
            # 3. The lowest bit left is the row's leaf.
            values = entries.values[nodes.first_leaf[tree] : nodes.first_leaf[tree + 1]]
            if words == 1 and outputs == 1:
                only, line, sums = bits[0], values[:, 0], total[0]
                for i in range(_TILE):
                    sums[i] += line[trailing_zeros(only[i])]
            else:
                add_leaves(bits, values, np.int64(m), total)
        for o in range(outputs):
            for i in range(m):
                out[tile_begin + i, o] = total[o, i]
