"""Growing: one tree, leaf by leaf, the leaf whose split gains most first.

One kernel a tree runs on every thread, and the threads meet at a barrier. Each owns a range of feature
blocks, for which it keeps the histograms of all leaves and searches splits; rows are shared out anew for each
leaf. A split does

    1. partition    each thread its share of the leaf's rows:  index  a b c d e f │ g h i j k l
                                                               moved  a c d ← lefts     rights → f e b
                    then, knowing how many went where, puts them in place, in their order
    2. histogram    of the smaller child; large ones by rows into private histograms that are then added,
                    small ones by features
    3. subtract     the larger child's histogram is the parent's minus the smaller one's
    4. search       both children, each thread among its own features
    5. book         thread 0 notes the split and chooses among the threads' findings

Everything that crosses threads is a sum of integers or a choice with a stated order, so the tree does not
depend on how many there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwright.runtime.barrier import meet
from rankwright.runtime.kernels import kernel
from rankwright.runtime.mixing import mixed
from rankwright.trees.growth import (
    APART,
    BEGIN,
    BEST,
    DEPTH,
    GAIN,
    HIGHEST,
    LOWEST,
    PARENT,
    ROWS,
    SLOT,
    SPLIT,
    STRICTNESS,
    SUM0,
    SUM1,
    Data,
    Growth,
    Limits,
    Mine,
    Shared,
    as_leaf,
    share,
)
from rankwright.trees.histogram import BLOCK, add_rows
from rankwright.trees.partitioning import place_rows, split_rows
from rankwright.trees.splitting import (
    FEATURE,
    FOUND,
    SET,
    WORD0,
    WORD1,
    Features,
    best_split,
    exact_gain,
    unpacked,
)

BY_ROWS = 3000
"""Leaves whose smaller child has this many rows are summed by rows, smaller ones by features."""
BLOCK_BINS = BLOCK * 256

_NO_SPLIT = np.float32(0)


@kernel()
def fill_histogram(
    slot: int, begin: int, n: int, data: Data, shared: Shared, limits: Limits, mine: Mine
) -> None:
    """Step 2: this thread's blocks of the histogram of the rows ``index[begin : begin + n]``."""
    by_rows = n >= BY_ROWS and mine.threads > 1
    histogram = shared.private[mine.thread] if by_rows else shared.histograms[slot]
    first_block, last_block = (0, data.blocks) if by_rows else (mine.first_block, mine.last_block)
    first = begin + share(mine.thread, mine.threads, n) if by_rows else begin
    last = begin + share(mine.thread + 1, mine.threads, n) if by_rows else begin + n
    for word in range(1 + np.int64(limits.wide)):
        total = histogram[word]
        for k in range(first_block * BLOCK_BINS, last_block * BLOCK_BINS):
            total[k] = 0
        if last > first:
            add_rows(
                data.rows,
                np.uint64(data.columns.shape[0]),
                shared.rows,
                shared.packed[word],
                np.uint64(first),
                np.uint64(last),
                np.uint64(first_block),
                np.uint64(last_block),
                total,
                mine.copied,
                mine.amounts,
            )
    if by_rows:
        meet(shared.barrier, mine.threads)
        add_private(slot, shared, limits, mine)


@kernel()
def add_private(slot: int, shared: Shared, limits: Limits, mine: Mine) -> None:
    """Set this thread's blocks of a histogram to the sum of the threads' private ones."""
    low, high = mine.first_block * BLOCK_BINS, mine.last_block * BLOCK_BINS
    for word in range(1 + np.int64(limits.wide)):
        total = shared.histograms[slot, word]
        for k in range(low, high):
            total[k] = shared.private[0, word, k]
        for t in range(1, mine.threads):
            part = shared.private[t, word]
            for k in range(low, high):
                total[k] += part[k]


@kernel()
def subtract(parent: int, child: int, shared: Shared, limits: Limits, mine: Mine) -> None:
    """Step 3: turn the parent's histogram into that of the other child."""
    low, high = mine.first_block * BLOCK_BINS, mine.last_block * BLOCK_BINS
    for word in range(1 + np.int64(limits.wide)):
        large, small = shared.histograms[parent, word], shared.histograms[child, word]
        for k in range(low, high):
            large[k] -= small[k]


@kernel()
def search(
    leaf: int, line: int, features: Features, shared: Shared, growth: Growth, limits: Limits, mine: Mine
) -> None:
    """Step 4: the best split of a leaf among this thread's features, into line 0 or 1 of its findings."""
    found = shared.found[mine.thread, line]
    found[FEATURE] = -1
    shared.scores[mine.thread, line] = _NO_SPLIT
    if growth.leaves[leaf, ROWS] < 2 * limits.min_rows or growth.leaves[leaf, DEPTH] >= limits.depth:
        return
    shared.scores[mine.thread, line] = best_split(
        shared.histograms[growth.leaves[leaf, SLOT]],
        features,
        shared.allowed[line],
        mine.first_block * BLOCK,
        min(mine.last_block * BLOCK, len(features.counts)),
        as_leaf(leaf, growth, limits),
        mine.scan,
        found,
    )


@kernel()
def choose(leaf: int, line: int, shared: Shared, growth: Growth, limits: Limits, threads: int) -> None:
    """Step 5: the best of the threads' findings becomes the leaf's; the lowest feature wins a tie."""
    best = 0
    for t in range(1, threads):
        if shared.scores[t, line] > shared.scores[best, line]:
            best = t
    for k in range(FOUND):
        growth.leaves[leaf, BEST + k] = shared.found[best, line, k]
    growth.values[leaf, GAIN] = _NO_SPLIT
    if shared.scores[best, line] > _NO_SPLIT:
        word0, word1 = growth.leaves[leaf, BEST + WORD0], growth.leaves[leaf, BEST + WORD1]
        gain = np.float32(exact_gain(word0, word1, as_leaf(leaf, growth, limits)))
        growth.values[leaf, GAIN] = gain if gain > limits.min_gain else _NO_SPLIT


@kernel()
def draw_features(leaf: int, line: int, growth: Growth, limits: Limits, shared: Shared) -> None:
    """Allow a random choice of ``features_per_node`` of the tree's features (line 2) to a leaf's search."""
    allowed, of_tree = shared.allowed[line], shared.allowed[2]
    if limits.features_per_node <= 0:
        for feature in range(of_tree.size):
            allowed[feature] = of_tree[feature]
        return
    left = np.int64(0)
    for feature in range(of_tree.size):
        allowed[feature] = 0
        left += of_tree[feature]
    wanted: Any = min(limits.features_per_node, left)
    seed = np.uint64(
        limits.seed + 7919 * (leaf + 1) + 31 * growth.leaves[leaf, DEPTH] + growth.leaves[leaf, ROWS]
    )
    # Each feature in turn is taken with the chance (still wanted) / (still left).
    for feature in range(of_tree.size):
        if of_tree[feature]:
            if np.int64(mixed(seed, np.uint64(feature))) % left < wanted:
                allowed[feature] = 1
                wanted -= 1
            left -= 1


@kernel()
def book(leaf: int, new: int, total_left: int, features: Features, growth: Growth, limits: Limits) -> None:
    """Step 5: note the split of a leaf; its left side keeps its number, the right side is ``new``."""
    found, split = growth.leaves[leaf, BEST:], growth.splits[new - 1]
    split[PARENT] = leaf
    for k in range(FOUND):
        split[SPLIT + k] = found[k]
    growth.gains[new - 1] = growth.values[leaf, GAIN]
    feature = found[FEATURE]
    if not features.has_missing[feature] and not features.categorical[feature]:
        # What was never missing in training goes, where it is missing later, with the most rows.
        split[SPLIT + SET] |= np.int64(2 * total_left >= growth.leaves[leaf, ROWS])
    growth.leaves[new, BEGIN] = growth.leaves[leaf, BEGIN] + total_left
    growth.leaves[new, ROWS] = growth.leaves[leaf, ROWS] - total_left
    growth.leaves[leaf, ROWS] = total_left
    growth.leaves[new, SUM0] = growth.leaves[leaf, SUM0] - found[WORD0]
    growth.leaves[new, SUM1] = growth.leaves[leaf, SUM1] - found[WORD1]
    growth.leaves[leaf, SUM0], growth.leaves[leaf, SUM1] = found[WORD0], found[WORD1]
    growth.leaves[leaf, DEPTH] += 1
    growth.leaves[new, DEPTH] = growth.leaves[leaf, DEPTH]
    growth.values[leaf, STRICTNESS] = growth.values[new, STRICTNESS] = np.float32(1)
    growth.values[new, LOWEST], growth.values[new, HIGHEST] = (
        growth.values[leaf, LOWEST],
        growth.values[leaf, HIGHEST],
    )
    direction = features.monotone[feature]
    if direction != 0:
        bound_children(leaf, new, direction, growth, limits)


@kernel()
def bound_children(leaf: int, new: int, direction: int, growth: Growth, limits: Limits) -> None:
    """Keep all values of the lower side below the middle of the two, and all of the upper side above it."""
    middle = np.float32(0)
    for side in (leaf, new):
        told = as_leaf(side, growth, limits)
        g, h, _ = unpacked(told.word0, told.word1, told)
        value = -g / (h + limits.l2) if h + limits.l2 > np.float32(0) else np.float32(0)
        middle += min(max(value, growth.values[side, LOWEST]), growth.values[side, HIGHEST]) / np.float32(2)
    below, above = (leaf, new) if direction > 0 else (new, leaf)
    growth.values[below, HIGHEST] = min(growth.values[below, HIGHEST], middle)
    growth.values[above, LOWEST] = max(growth.values[above, LOWEST], middle)


@kernel()
def best_leaf(growth: Growth, n_leaves: int) -> Any:
    """The leaf whose split gains most, −1 if none gains; the lowest number wins a tie."""
    best = 0
    for leaf in range(1, n_leaves):
        if growth.values[leaf, GAIN] > growth.values[best, GAIN]:
            best = leaf
    return best if growth.values[best, GAIN] > _NO_SPLIT else -1


@kernel()
def start(data: Data, shared: Shared, growth: Growth, limits: Limits, mine: Mine) -> None:
    """The root's rows and their sums."""
    n = growth.leaves[0, ROWS]
    sums = shared.counts[mine.thread * APART : mine.thread * APART + 2]
    sums[0] = sums[1] = 0
    for i in range(share(mine.thread, mine.threads, n), share(mine.thread + 1, mine.threads, n)):
        row = np.uint32(i) if data.all_rows else data.chosen[i]
        shared.rows[i] = row
        for word in range(1 + np.int64(limits.wide)):
            sums[word] += shared.packed[word, row]
    meet(shared.barrier, mine.threads)
    if mine.thread == 0:
        for t in range(mine.threads):
            growth.leaves[0, SUM0] += shared.counts[t * APART]
            growth.leaves[0, SUM1] += shared.counts[t * APART + 1]
        draw_features(np.int64(0), np.int64(0), growth, limits, shared)


@kernel()
def divide(
    leaf: int,
    new: int,
    data: Data,
    features: Features,
    shared: Shared,
    growth: Growth,
    limits: Limits,
    mine: Mine,
) -> bool:
    """Step 1 and its booking: split a leaf's rows; False where a side would hold too few of them.

    The search guesses rows from the hessian (in the narrow form), and where it guessed too many the leaf is
    to be searched again, more strictly.
    """
    left = split_rows(leaf, data, shared, growth, mine)
    n, parent_slot = growth.leaves[leaf, ROWS], growth.leaves[leaf, SLOT]
    enough = min(left, n - left) >= limits.min_rows
    if enough:
        place_rows(leaf, left, shared, growth, mine)
    meet(shared.barrier, mine.threads)
    if mine.thread == 0:
        if enough:
            book(leaf, new, left, features, growth, limits)
            # The smaller child's histogram is made anew, the larger one's takes the parent's place.
            small, large = (leaf, new) if 2 * left <= n else (new, leaf)
            growth.leaves[small, SLOT], growth.leaves[large, SLOT] = new, parent_slot
            draw_features(new, np.int64(1), growth, limits, shared)
        else:
            growth.values[leaf, STRICTNESS] *= np.float32(2)
        draw_features(leaf, np.int64(0), growth, limits, shared)
    meet(shared.barrier, mine.threads)
    return enough


@kernel()
def grow(data: Data, features: Features, shared: Shared, growth: Growth, limits: Limits, mine: Mine) -> Any:
    """Grow one tree, on all threads together; how many leaves it has."""
    start(data, shared, growth, limits, mine)
    meet(shared.barrier, mine.threads)
    # (Typed, since Numba would compile the callees for literal numbers too.)
    n_leaves, leaf, new, divided = np.int64(1), np.int64(0), np.int64(0), True
    while True:
        # 2. and 3. The histogram of the root or of the smaller child; the larger child's by subtraction.
        if divided:
            small = leaf if growth.leaves[leaf, SLOT] == new else new
            fill_histogram(
                new, growth.leaves[small, BEGIN], growth.leaves[small, ROWS], data, shared, limits, mine
            )
            if new > 0:
                subtract(growth.leaves[leaf + new - small, SLOT], new, shared, limits, mine)
        meet(shared.barrier, mine.threads)
        # 4. Search what is new, or the leaf that was searched too loosely.
        lines = 2 if divided and new > 0 else 1
        for line in range(lines):
            search(leaf if line == 0 else new, line, features, shared, growth, limits, mine)
        meet(shared.barrier, mine.threads)
        # 5. Choose.
        if mine.thread == 0:
            for line in range(lines):
                choose(leaf if line == 0 else new, line, shared, growth, limits, mine.threads)
        meet(shared.barrier, mine.threads)
        leaf = best_leaf(growth, n_leaves)
        if leaf < 0:
            return n_leaves
        # 1. Partition.
        new = n_leaves
        divided = divide(leaf, new, data, features, shared, growth, limits, mine)
        n_leaves += np.int64(divided)
        if n_leaves == limits.leaves:
            return n_leaves
