"""Scoring by trees: one row at a time by walking, many rows at once by masks.

**Walking** follows each tree from its root; best for a row or two.

**Masks** look at 64 rows at once: a word of 64 bits says for which of them something holds. For each tree

    1. every node's test, for all rows:       right[k] = rows of which x > t     (vector compares)
    2. the rows that come to each node:       reach[left child]  = reach[k] & ~right[k]
       and leaf, parents before children      reach[right child] = reach[k] &  right[k]
    3. the number of each row's leaf,         bit 0 of it = reach[leaf 1] | reach[leaf 3] | …
       bit by bit, then the leaves' values    bit 1 of it = reach[leaf 2] | reach[leaf 3] | reach[leaf 6] | …

No step branches on the data. QuickScorer (Lucchese and others, 2015) gives a row a bit a leaf; the other way
round, a node is four compares and a handful of operations on words, however many leaves there are.

Both ways add the trees' values in the trees' order, so they agree bit for bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwright.runtime.intrinsics import add_where, rows_above, rows_not_below
from rankwright.runtime.kernels import kernel

Singles = NDArray[np.float32]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Ints = NDArray[np.int32]
Words = NDArray[np.uint64]

TILE = 64
RIGHT_ABOVE, RIGHT_UNLESS_BELOW, RIGHT_OUTSIDE = 0, 1, 2
"""A node's test, true where a row goes right: x > t (missing goes left), not x ≤ t, not in a set."""

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_TILE = np.uint64(TILE)
_ZERO, _ONE, _SIX = np.uint64(0), np.uint64(1), np.uint64(6)


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


class Tests(NamedTuple):
    """The nodes' tests, by tree and kind, and where their rows go.

    Those of a kind begin at ``first[tree, kind]``; ``node`` is the node's number in its tree. A child's place
    is its number, leaves counted behind the tree's nodes.
    """

    first: Integers
    node: NDArray[np.uint32]
    feature: NDArray[np.uint32]
    threshold: Singles
    category_set: Ints
    left: NDArray[np.uint32]
    right: NDArray[np.uint32]


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
    outputs = np.uint64(out.shape[1])
    for row in range(np.uint64(begin), np.uint64(end)):
        for o in range(outputs):
            out[row, o] = start[o]
        for tree in range(np.uint64(len(nodes.first_node) - 1)):
            first = np.uint64(nodes.first_node[tree])
            at = np.int64(0) if np.uint64(nodes.first_node[tree + _ONE]) > first else np.int64(-1)
            while at >= 0:
                node = first + np.uint64(at)
                feature = np.uint64(nodes.feature[node])
                x, chosen = X[row, feature], nodes.category_set[node]
                if chosen >= 0:
                    low, high = nodes.first_code[feature], nodes.first_code[feature + _ONE]
                    b = np.uint64(category(nodes.codes, low, high, x))
                    word = nodes.sets[np.uint64(chosen), b >> _SIX]
                    goes_left = (word >> (b & (_TILE - _ONE))) & _ONE != _ZERO
                else:
                    goes_left = x <= nodes.threshold[node] or (x != x and nodes.missing_left[node])
                at = np.int64(nodes.left[node] if goes_left else nodes.right[node])
            leaf = np.uint64(nodes.first_leaf[tree]) + np.uint64(~at)
            for o in range(outputs):
                out[row, o] += nodes.values[leaf, o]


@kernel()
def fill_tile(X: Singles, nodes: Nodes, used: Ints, begin: int, m: int, tile: Singles, bins: Words) -> None:
    """Lay out the features in use of ``m`` rows feature by feature, with the bins of categories."""
    for i in range(np.uint64(m)):
        row = X[np.uint64(begin) + i]
        for u in range(np.uint64(used.size)):
            feature = np.uint64(used[u])
            tile[feature * _TILE + i] = row[feature]
    for u in range(len(used)):
        f = np.int64(used[u])
        low, high = nodes.first_code[f], nodes.first_code[f + 1]
        if high > low:
            for i in range(m):
                bins[f * TILE + i] = np.uint64(category(nodes.codes, low, high, tile[f * TILE + i]))


@kernel()
def test_nodes(tests: Tests, tree: int, nodes: Nodes, tile: Singles, bins: Words, right: Words) -> None:
    """For each node of a tree the rows that its test sends right."""
    bounds = tests.first[tree]
    for k in range(np.uint64(bounds[RIGHT_ABOVE]), np.uint64(bounds[RIGHT_ABOVE + 1])):
        at = np.uint64(tests.feature[k]) * _TILE
        right[np.uint64(tests.node[k])] = rows_above(tile, at, tests.threshold[k])
    for k in range(np.uint64(bounds[RIGHT_UNLESS_BELOW]), np.uint64(bounds[RIGHT_UNLESS_BELOW + 1])):
        at = np.uint64(tests.feature[k]) * _TILE
        right[np.uint64(tests.node[k])] = rows_not_below(tile, at, tests.threshold[k])
    for k in range(np.uint64(bounds[RIGHT_OUTSIDE]), np.uint64(bounds[RIGHT_OUTSIDE + 1])):
        at, chosen = np.uint64(tests.feature[k]) * _TILE, np.uint64(tests.category_set[k])
        outside = _ZERO
        for i in range(_TILE):
            b = bins[at + i]
            inside = (nodes.sets[chosen, b >> _SIX] >> (b & (_TILE - _ONE))) & _ONE
            outside |= (_ONE - inside) << i
        right[np.uint64(tests.node[k])] = outside


@kernel(inline=True)
def leaf_numbers(
    reach: Words, first: int, leaves: int, belongs: Words, planes: Words, numbers: NDArray[np.uint16]
) -> None:
    """The number of each row's leaf, from the rows of each leaf, which stand from ``first`` on in ``reach``.

    ``belongs[p, l]`` has all bits set where bit p of l is. ``reach`` has room for whole blocks of 64 leaves.
    """
    blocks = (leaves + _TILE - _ONE) >> _SIX
    for leaf in range(first + leaves, first + blocks * _TILE):
        reach[leaf] = _ZERO
    for p in range(np.uint64(planes.size)):
        planes[p] = _ZERO
    for block in range(blocks):
        begin = first + block * _TILE
        for p in range(min(_SIX, np.uint64(planes.size))):
            rows = _ZERO
            for leaf in range(_TILE):
                rows |= reach[begin + leaf] & belongs[p, leaf]
            planes[p] |= rows
        for p in range(_SIX, np.uint64(planes.size)):
            if (block >> (p - _SIX)) & _ONE != 0:
                rows = _ZERO
                for leaf in range(_TILE):
                    rows |= reach[begin + leaf]
                planes[p] |= rows
    for i in range(_TILE):
        numbers[i] = 0
    for p in range(np.uint64(planes.size)):
        add_where(planes[p], _ONE << p, numbers)


@kernel()
def by_masks(
    X: Singles,
    nodes: Nodes,
    tests: Tests,
    used: Ints,
    belongs: Words,
    start: Floats,
    begin: int,
    end: int,
    out: Floats,
) -> None:
    """Score the rows from ``begin`` to ``end`` by masks, 64 at a time."""
    outputs = np.uint64(out.shape[1])
    most = 1
    for tree in range(len(nodes.first_leaf) - 1):
        most = max(most, nodes.first_leaf[tree + 1] - nodes.first_leaf[tree])
    tile, bins = np.zeros(X.shape[1] * TILE, np.float32), np.zeros(X.shape[1] * TILE, np.uint64)
    right, reach = np.zeros(most, np.uint64), np.zeros(2 * most + TILE, np.uint64)
    planes, numbers = np.zeros(belongs.shape[0], np.uint64), np.zeros(TILE, np.uint16)
    total, values = np.empty((out.shape[1], TILE), np.float64), nodes.values.reshape(nodes.values.size)
    sums = total[0]
    for tile_begin in range(begin, end, TILE):
        m = min(TILE, end - tile_begin)
        fill_tile(X, nodes, used, tile_begin, m, tile, bins)
        for o in range(outputs):
            for i in range(_TILE):
                total[o, i] = start[o]
        for tree in range(len(nodes.first_node) - 1):
            # 1. The rows that each node sends right.
            test_nodes(tests, tree, nodes, tile, bins, right)
            # 2. The rows that come to each node and leaf.
            first, n = (
                np.uint64(nodes.first_node[tree]),
                np.uint64(nodes.first_node[tree + 1] - nodes.first_node[tree]),
            )
            reach[0] = _ALL
            for k in range(n):
                here, there = reach[k], right[k]
                reach[np.uint64(tests.left[first + k])] = here & ~there
                reach[np.uint64(tests.right[first + k])] = here & there
            # 3. Each row's leaf, and its values.
            leaf0, leaf1 = np.uint64(nodes.first_leaf[tree]), np.uint64(nodes.first_leaf[tree + 1])
            leaf_numbers(reach, n, leaf1 - leaf0, belongs, planes, numbers)
            if outputs == _ONE:
                for i in range(_TILE):
                    sums[i] += values[leaf0 + np.uint64(numbers[i])]
            else:
                for o in range(outputs):
                    for i in range(_TILE):
                        total[o, i] += values[(leaf0 + np.uint64(numbers[i])) * outputs + o]
        for o in range(outputs):
            for i in range(m):
                out[tile_begin + i, o] = total[o, i]
