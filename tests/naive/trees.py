"""Trees as one would write them down: bins by counting, every split of every leaf tried, in float64.

Rows are numbers, ``bins[row][feature]`` is a bin (0: missing), and the left side of a split is a set of bins.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any, NamedTuple

import numpy as np


def equal_weight_bounds(values: Any, max_bins: int) -> list[np.float32]:
    """Upper bounds of the bins, from the lowest values up.

    A value with at least an equal share of the rows is heavy: it gets a bin of its own, as far as what stands
    below it is worth half a bin by itself. The others fill bins of equal share of what is left.
    """
    rows = Counter(float(value) for value in values if value == value)
    distinct = sorted(rows)
    if len(distinct) <= max_bins:
        last = distinct[:-1]
    else:
        heavy = {value for value in distinct if rows[value] * max_bins >= sum(rows.values())}
        rows_left = sum(rows[value] for value in distinct if value not in heavy)
        bins_left = max_bins - len(heavy)
        last, filled = [], 0
        for value, following in itertools.pairwise(distinct):
            filled += rows[value]
            share = rows_left / max(bins_left, 1)
            is_full = value in heavy or filled >= share or (following in heavy and filled >= share / 2)
            if not is_full or len(last) == max_bins - 1:
                continue
            last.append(value)
            if value not in heavy:
                rows_left, bins_left = rows_left - filled, bins_left - 1
            filled = 0
    above = dict(itertools.pairwise(distinct))
    return [between(value, above[value]) for value in last]


def between(below: float, above: float) -> np.float32:
    """The middle of two floats, or the lower one where no float lies between them."""
    middle = np.float32((below + above) / 2)
    return middle if middle < np.float32(above) else np.float32(below)


def categories(values: Any, max_bins: int) -> list[float]:
    """The most frequent values in rising order; of equally frequent ones the lowest."""
    rows = Counter(float(value) for value in values if value == value)
    return sorted(sorted(rows, key=lambda value: (-rows[value], value))[:max_bins])


def bin_of(value: float, bounds: list[np.float32]) -> int:
    return 0 if math.isnan(value) else 1 + sum(bool(bound < value) for bound in bounds)


def category_of(value: float, known: list[float]) -> int:
    return known.index(value) + 1 if value in known else 0


class Options(NamedTuple):
    leaves: int = 31
    depth: int | None = None
    min_rows: int = 1
    min_hessian: float = 1e-3
    l2: float = 0.0
    min_gain: float = 0.0
    monotone: tuple[int, ...] = ()
    categorical: tuple[int, ...] = ()
    has_missing: tuple[int, ...] = ()
    exact_counts: bool = True
    """Whether the search knows how many rows go left, or guesses it from the hessian."""


class Leaf(NamedTuple):
    rows: list[int]
    depth: int = 0
    lowest: float = -math.inf
    highest: float = math.inf
    strictness: int = 1


class Split(NamedTuple):
    gain: float
    feature: int
    left: frozenset[int]


def sums(column: Any, amounts: Any) -> Any:
    """What the rows of each bin add up to."""
    total = [0] * 256
    for b, amount in zip(column, amounts, strict=True):
        total[b] += amount
    return np.array(total)


def value(g: float, h: float, leaf: Leaf, l2: float) -> float:
    return min(max(-g / (h + l2), leaf.lowest), leaf.highest)


def score(g: float, h: float, leaf: Leaf, l2: float) -> float:
    """Twice what a leaf's value takes off the second-order cost g·v + (h + l2)·v²/2."""
    v = value(g, h, leaf, l2)
    return -(2 * g * v + (h + l2) * v * v)


def sides(G: Any, H: Any, N: Any, feature: int, options: Options) -> list[frozenset[int]]:
    """The left sides to try, the one that wins a tie first."""
    used = np.flatnonzero(N)
    if feature in options.categorical:
        smooth = 10 * H.sum() / N.sum()
        order = sorted(used, key=lambda b: G[b] / (H[b] + smooth))
        return [frozenset(order[:k]) for k in range(1, len(order))]
    upto = [frozenset(range(1, b + 1)) for b in range(max(used) + 1)]
    missing = [side | {0} for side in upto] if feature in options.has_missing else []
    return upto + missing


def splits(bins: Any, g: Any, h: Any, leaf: Leaf, options: Options) -> list[Split]:
    """All splits of a leaf that are allowed and gain something."""
    found = []
    rows = leaf.rows
    if options.depth is not None and leaf.depth >= options.depth:
        return []
    g_leaf, h_leaf = g[rows].sum(), h[rows].sum()
    own = score(g_leaf, h_leaf, leaf, options.l2)
    least_rows = options.min_rows * leaf.strictness - 1e-9 * len(rows)
    for feature in range(bins.shape[1]):
        column = bins[rows, feature]
        G, H, N = sums(column, g[rows]), sums(column, h[rows]), sums(column, np.ones(len(rows)))
        told = N if options.exact_counts else H * len(rows) / h_leaf
        direction = options.monotone[feature] if options.monotone else 0
        for side in sides(G, H, N, feature, options):
            left = sorted(side)
            # One after the other: bins without rows then change nothing, and the first of equal sides wins.
            g_left, h_left, n_left = (sum(part[left].tolist()) for part in (G, H, told))
            g_right, h_right = g_leaf - g_left, h_leaf - h_left
            if min(n_left, len(rows) - n_left) < least_rows or min(h_left, h_right) < options.min_hessian:
                continue
            rise = value(g_right, h_right, leaf, options.l2) - value(g_left, h_left, leaf, options.l2)
            if direction * rise < 0:
                continue
            gain = score(g_left, h_left, leaf, options.l2) + score(g_right, h_right, leaf, options.l2) - own
            if gain > options.min_gain:
                found.append(Split(gain, feature, side))
    return found


def divided(bins: Any, g: Any, h: Any, leaf: Leaf, split: Split, options: Options) -> tuple[Leaf, Leaf]:
    """The two leaves that a split makes of one."""
    goes_left = [int(bins[row, split.feature]) in split.left for row in leaf.rows]
    left = leaf._replace(
        rows=[row for row, goes in zip(leaf.rows, goes_left, strict=True) if goes],
        depth=leaf.depth + 1,
        strictness=1,
    )
    right = left._replace(rows=[row for row, goes in zip(leaf.rows, goes_left, strict=True) if not goes])
    direction = options.monotone[split.feature] if options.monotone else 0
    if direction == 0:
        return left, right
    middle = (
        sum(value(g[side.rows].sum(), h[side.rows].sum(), leaf, options.l2) for side in (left, right)) / 2
    )
    if direction > 0:
        return left._replace(highest=min(leaf.highest, middle)), right._replace(
            lowest=max(leaf.lowest, middle)
        )
    return left._replace(lowest=max(leaf.lowest, middle)), right._replace(highest=min(leaf.highest, middle))


def grow(bins: Any, g: Any, h: Any, rows: list[int], options: Options) -> tuple[list[Any], list[Leaf]]:
    """The splits, each with the leaf that it divides, and the leaves; the new one is the right side."""
    bins, g, h = np.asarray(bins), np.asarray(g, np.float64), np.asarray(h, np.float64)
    leaves, made = [Leaf(list(rows))], []
    best: list[Split | None] = [None]
    changed = {0}
    while True:
        for k in changed:
            tried = splits(bins, g, h, leaves[k], options)
            best[k] = max(tried, key=lambda split: split.gain) if tried else None
        open_leaves = [k for k in range(len(leaves)) if best[k] is not None]
        if not open_leaves or len(leaves) == options.leaves:
            return made, leaves
        k = max(open_leaves, key=lambda k: best[k].gain)
        left, right = divided(bins, g, h, leaves[k], best[k], options)
        if min(len(left.rows), len(right.rows)) < options.min_rows:
            # Guessed rows: look again for splits that leave more of them on both sides.
            leaves[k] = leaves[k]._replace(strictness=2 * leaves[k].strictness)
            changed = {k}
            continue
        made.append((k, best[k]))
        leaves[k] = left
        leaves.append(right)
        best.append(None)
        changed = {k, len(leaves) - 1}


def leaf_of(row_bins: Any, made: list[Any]) -> int:
    """The leaf that a row ends in: the splits one after the other, each asked only in its own leaf."""
    leaf = 0
    for number, (parent, split) in enumerate(made):
        if leaf == parent and int(row_bins[split.feature]) not in split.left:
            leaf = number + 1
    return leaf


class Node(NamedTuple):
    """A node on raw values; a child is a node or the values of a leaf.

    With ``categories`` (those that go left) there is no threshold, and what is not in ``known`` is missing.
    """

    feature: int
    threshold: float
    missing_left: bool
    left: Any
    right: Any
    categories: frozenset[float] | None = None
    known: frozenset[float] = frozenset()


def walk(node: Any, x: Any) -> Any:
    """The values of the leaf that a row ends in."""
    while isinstance(node, Node):
        v = float(x[node.feature])
        if node.categories is not None:
            goes_left = v in node.categories if v in node.known else node.missing_left
        else:
            goes_left = node.missing_left if math.isnan(v) else v <= node.threshold
        node = node.left if goes_left else node.right
    return node
