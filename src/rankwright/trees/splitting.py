"""Splitting: the best split of a leaf, from its histogram.

With G and H the sums of gradients and hessians, a leaf of value v = −G / (H + l2) lowers the second-order
cost by half its *score* G² / (H + l2); a split gains

    score(left) + score(right) − score(leaf)

Bins of a numeric feature are split between neighbours, with what is missing (bin 0) tried on both sides;
categories are put in the order of their G / H first. The left side is a set of bins: 256 bits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwright.runtime.intrinsics import bits_of_float, float_of_bits
from rankwright.runtime.kernels import kernel
from rankwright.runtime.mixing import mixed
from rankwright.trees.binning import BINS

Integers = NDArray[np.int64]
Singles = NDArray[np.float32]

CATEGORY_ROWS = np.float32(10.0)
"""Rows of average hessian added to each category before ordering, so that rare ones stay in the middle."""

NOTHING = 1e-12
"""A gain of so little beside the scores that it is the difference of is a rounding."""

# A found split as a line of int64: feature, last bin of the left side, the left side's two words of sums,
# then the left side's bins as 4 × 64 bits. A feature of −1 says that there is none.
FEATURE, BIN, WORD0, WORD1, SET = 0, 1, 2, 3, 4
FOUND = 8

_LOW = np.int64(0xFFFFFFFF)
_ZERO, _ONE = np.float32(0), np.float32(1)
_LANES = 32


class Leaf(NamedTuple):
    """What the search knows of the leaf: its sums, what a unit of them is worth, rows, what is allowed."""

    word0: int
    word1: int
    g_unit: np.float32
    h_unit: np.float32
    rows: np.float32
    l2: np.float32
    min_hessian: np.float32
    min_rows: np.float32
    lowest: np.float32
    highest: np.float32
    wide: bool
    count_bits: int
    seed: Any


# Scratch for one feature, one column a bin. ``longs``: the left side's packed sums (two words) and the order
# of the categories; ``floats``: its sums as floats, its rows, the categories' keys; ``gains``: float bits.
ORDER = 2
G, H, N, KEY = 0, 1, 2, 3


class Scan(NamedTuple):
    """Scratch for the scan of one feature."""

    longs: NDArray[np.int64]
    floats: NDArray[np.float32]
    gains: NDArray[np.int32]


def new_scan() -> Scan:
    """Scratch for one thread."""
    size = BINS + _LANES
    return Scan(np.zeros((3, size), np.int64), np.zeros((4, size), np.float32), np.zeros(size, np.int32))


@kernel()
def unpacked(word0: int, word1: int, leaf: Leaf) -> Any:
    """Gradient, hessian and rows of packed sums. (In the narrow form rows are guessed from the hessian.)"""
    if leaf.wide:
        h = word1 >> leaf.count_bits
        count = word1 - (h << leaf.count_bits)
        return np.float32(word0) * leaf.g_unit, np.float32(h) * leaf.h_unit, np.float32(count)
    whole = np.float32(leaf.word0 & _LOW)
    part = np.float32(word0 & _LOW)
    rows = part * (leaf.rows / whole) if whole > _ZERO else _ZERO
    return np.float32(word0 >> 32) * leaf.g_unit, part * leaf.h_unit, rows


@kernel()
def leaf_score(g: Any, h: Any, leaf: Leaf) -> Any:
    """G² / (H + l2), or with bounds on the value twice what the best allowed value gains."""
    bottom = h + leaf.l2
    if not bottom > _ZERO:
        return _ZERO
    value = min(max(-g / bottom, leaf.lowest), leaf.highest)
    return -(np.float32(2) * g * value + bottom * value * value)


@kernel()
def exact_gain(word0: int, word1: int, leaf: Leaf) -> Any:
    """What a split with these sums on the left gains, in double precision; 0 where it is but a rounding.

    The search is in single precision, and what a split of equal gradients seems to gain there is not nothing.
    """
    g_unit, h_unit = np.float64(leaf.g_unit), np.float64(leaf.h_unit)
    if leaf.wide:
        g, g_leaf = word0 * g_unit, leaf.word0 * g_unit
        h, h_leaf = (word1 >> leaf.count_bits) * h_unit, (leaf.word1 >> leaf.count_bits) * h_unit
    else:
        g, g_leaf = (word0 >> 32) * g_unit, (leaf.word0 >> 32) * g_unit
        h, h_leaf = (word0 & _LOW) * h_unit, (leaf.word0 & _LOW) * h_unit
    both = leaf_score(g, h, leaf) + leaf_score(g_leaf - g, h_leaf - h, leaf)
    gain = both - leaf_score(g_leaf, h_leaf, leaf)
    return gain if gain > NOTHING * both else np.float64(0)


@kernel()
def unpack_sums(scan: Scan, m: int, leaf: Leaf) -> None:
    """Turn the first m packed sums of the scan into floats."""
    if leaf.wide:
        for b in range(m):
            scan.floats[G, b] = np.float32(scan.longs[0, b]) * leaf.g_unit
            h = scan.longs[1, b] >> leaf.count_bits
            scan.floats[H, b] = np.float32(h) * leaf.h_unit
            scan.floats[N, b] = np.float32(scan.longs[1, b] - (h << leaf.count_bits))
    else:
        whole = np.float32(leaf.word0 & _LOW)
        rows = leaf.rows / whole if whole > _ZERO else _ZERO
        for b in range(m):
            part = np.float32(scan.longs[0, b] & _LOW)
            scan.floats[G, b] = np.float32(scan.longs[0, b] >> 32) * leaf.g_unit
            scan.floats[H, b] = part * leaf.h_unit
            scan.floats[N, b] = part * rows


@kernel(fastmath={"nnan", "ninf", "nsz", "arcp", "contract"})
def best_gain(scan: Scan, m: int, leaf: Leaf) -> np.int32:
    """Write both sides' summed scores at each of m bins as ordered bits; the highest, 0 if none is allowed.

    A float that is not negative orders as its bits do, and a maximum of integers vectorises.
    """
    g_leaf, h_leaf, n_leaf = unpacked(leaf.word0, leaf.word1, leaf)
    best = np.int32(0)
    for b in range(m):
        g, h, n = scan.floats[G, b], scan.floats[H, b], scan.floats[N, b]
        g_right, h_right, n_right = g_leaf - g, h_leaf - h, n_leaf - n
        allowed = (
            (h >= leaf.min_hessian)
            & (h_right >= leaf.min_hessian)
            & (n >= leaf.min_rows)
            & (n_right >= leaf.min_rows)
        )
        bottom = h + leaf.l2 if allowed else _ONE
        bottom_right = h_right + leaf.l2 if allowed else _ONE
        score = g * g / bottom + g_right * g_right / bottom_right
        bits = bits_of_float(score if allowed else _ZERO)
        scan.gains[b] = bits
        best = max(best, bits)
    return best


@kernel()
def best_bounded_gain(scan: Scan, m: int, leaf: Leaf, monotone: int) -> np.int32:
    """The same with bounds on the values and a feature whose values must not fall (1) or not rise (−1)."""
    g_leaf, h_leaf, n_leaf = unpacked(leaf.word0, leaf.word1, leaf)
    best = np.int32(0)
    for b in range(m):
        g, h, n = scan.floats[G, b], scan.floats[H, b], scan.floats[N, b]
        scan.gains[b] = 0
        if min(h, h_leaf - h) < leaf.min_hessian or min(n, n_leaf - n) < leaf.min_rows:
            continue
        left = min(max(-g / (h + leaf.l2), leaf.lowest), leaf.highest)
        right = min(max(-(g_leaf - g) / (h_leaf - h + leaf.l2), leaf.lowest), leaf.highest)
        if monotone * (right - left) < 0:
            continue
        score = leaf_score(g, h, leaf) + leaf_score(g_leaf - g, h_leaf - h, leaf)
        bits = bits_of_float(max(score, _ZERO))
        scan.gains[b] = bits
        best = max(best, bits)
    return best


@kernel()
def accumulate(histogram: NDArray[np.int64], first: int, bins: int, leaf: Leaf, scan: Scan) -> None:
    """Sum the bins 1 to b of a feature for every b; at 0 stands nothing."""
    for word in range(1 + np.int64(leaf.wide)):
        total = np.int64(0)
        scan.longs[word, 0] = 0
        for b in range(1, bins):
            total += histogram[word, first + b]
            scan.longs[word, b] = total


@kernel()
def order_categories(histogram: NDArray[np.int64], first: int, bins: int, leaf: Leaf, scan: Scan) -> int:
    """Order the categories that have rows by their G / H, and sum them in that order; how many there are."""
    _, h_leaf, n_leaf = unpacked(leaf.word0, leaf.word1, leaf)
    smooth = CATEGORY_ROWS * h_leaf / max(n_leaf, _ONE)
    m = 0
    for b in range(bins):
        word0 = histogram[0, first + b]
        word1 = histogram[1, first + b] if leaf.wide else np.int64(0)
        if word0 == 0 and word1 == 0:
            continue
        g, h, _ = unpacked(word0, word1, leaf)
        key = g / (h + smooth)
        # Insertion keeps equal keys in the order of their bins.
        k = m
        while k > 0 and scan.floats[KEY, k - 1] > key:
            scan.floats[KEY, k] = scan.floats[KEY, k - 1]
            scan.longs[ORDER, k] = scan.longs[ORDER, k - 1]
            k -= 1
        scan.floats[KEY, k] = key
        scan.longs[ORDER, k] = b
        m += 1
    for word in range(1 + np.int64(leaf.wide)):
        total = np.int64(0)
        for k in range(m):
            total += histogram[word, first + scan.longs[ORDER, k]]
            scan.longs[word, k] = total
    return m


@kernel()
def add_missing(histogram: NDArray[np.int64], first: int, m: int, leaf: Leaf, scan: Scan) -> None:
    """Add what is missing to the left side of every split."""
    for word in range(1 + np.int64(leaf.wide)):
        missing = histogram[word, first]
        for b in range(m):
            scan.longs[word, b] += missing


@kernel()
def best_bin(scan: Scan, m: int, leaf: Leaf, monotone: int, bounded: bool, random: int) -> int:
    """The bin of the highest gain among m, −1 if no split is allowed; with ``random`` ≥ 0 a random one.

    The gain stands in ``scan.gains``.
    """
    padded = -(-m // _LANES) * _LANES
    unpack_sums(scan, m, leaf)
    for b in range(m, padded):
        scan.floats[H, b] = np.float32(-1)  # below any minimum
    if bounded:
        best = best_bounded_gain(scan, m, leaf, monotone)
    else:
        best = best_gain(scan, padded, leaf)
    if best == 0:
        return -1
    if random >= 0:
        chosen = random % m
        return chosen if scan.gains[chosen] > 0 else -1
    b = 0
    while scan.gains[b] != best:
        b += 1
    return b


@kernel()
def write_split(
    feature: int, last: int, categorical: bool, missing_left: bool, scan: Scan, found: Integers
) -> None:
    """Write a split: left are the bins 1 to ``last`` (0 where missing goes left), or the first categories."""
    found[FEATURE], found[BIN] = feature, last
    found[WORD0], found[WORD1] = scan.longs[0, last], scan.longs[1, last]
    for k in range(4):
        found[SET + k] = 0
    for k in range(last + 1):
        if categorical or k > 0 or missing_left:
            b = scan.longs[ORDER, k] if categorical else k
            found[SET + (b >> 6)] |= np.int64(1) << np.int64(b & 63)


class Features(NamedTuple):
    """What the search knows of each feature; ``monotone`` is 1, −1 or 0, ``allowed`` 0 leaves one out."""

    counts: Integers
    categorical: NDArray[np.bool_]
    has_missing: NDArray[np.bool_]
    monotone: NDArray[np.int8]
    bounded: bool
    random_bins: bool


@kernel()
def best_split(
    histogram: NDArray[np.int64],
    features: Features,
    allowed: NDArray[np.uint8],
    begin: int,
    end: int,
    leaf: Leaf,
    scan: Scan,
    found: Integers,
) -> np.float32:
    """Write the best split among the features from ``begin`` to ``end``; the summed scores of its sides."""
    best = _ZERO
    found[FEATURE] = -1
    for feature in range(begin, end):
        bins = features.counts[feature]
        if bins < 2 or not allowed[feature]:
            continue
        first = feature << 8
        random = np.int64(-1)
        if features.random_bins:
            random = np.int64(mixed(np.uint64(leaf.seed), np.uint64(feature)))
        missing = features.has_missing[feature] and not features.categorical[feature]
        if features.categorical[feature]:
            m = order_categories(histogram, first, bins, leaf, scan) - 1
        else:
            # Without what is missing bin 0 is empty on the left, and no split; with it the last bin of all is
            # one: the values on the left, the missing on the right. (The other way round comes below, and
            # both are needed where the feature has a direction.)
            accumulate(histogram, first, bins, leaf, scan)
            m = bins - 1 + np.int64(missing)
        for missing_left in range(1 + np.int64(missing)):
            if missing_left:
                m = bins - 1
                add_missing(histogram, first, m, leaf, scan)
            b = best_bin(scan, m, leaf, features.monotone[feature], features.bounded, random) if m > 0 else -1
            if b >= 0 and float_of_bits(scan.gains[b]) > best:
                best = float_of_bits(scan.gains[b])
                write_split(feature, b, features.categorical[feature], missing_left > 0, scan, found)
    return best
