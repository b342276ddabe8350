"""Pairwise correct, after 2006 section 2: the share of pairs in the right order, of all pairs that have one.

    pairs = #{(i, j): i above j, labelᵢ > labelⱼ} / #{pairs of different labels}

Write s(x, y) for the sign of x − y, 0 where either is unjudged. Swapping ranks i and j with labels a and b
turns round their own pair and the pairs of both with each m between them:

    s(b, a) + Σ over i < m < j of s(b, m) + Σ over i < m < j of s(m, a)

The second sum runs along a row; the first is kept by position and loses m = i from row to row.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rankwright.measures.base import CONSTANT, ONE, PREPARE, ROW, VALUE, Floats, Measure, Singles
from rankwright.runtime.kernels import Kernel, kernel

Integers = NDArray[np.int64]


@kernel("int64[::1](float64[::1])")
def levels_of(gains: Floats) -> Integers:
    """The place of each gain among the different ones, from 1; 0 where unjudged."""
    known = np.sort(gains)
    different = np.empty(known.size)
    count = 0
    for gain in known:
        if gain >= 0.0 and (count == 0 or gain > different[count - 1]):
            different[count] = gain
            count += 1
    levels = np.empty(gains.size, np.int64)
    different = different[:count]
    for r in range(gains.size):
        levels[r] = np.searchsorted(different, gains[r]) + 1 if gains[r] >= 0.0 else 0
    return levels


@kernel("int64(int64[::1], int64)")
def counted_up_to(tree: Integers, level: int) -> int:
    """How many entries of a Fenwick tree stand at this level or below."""
    count = 0
    while level > 0:
        count += tree[level]
        level -= level & -level
    return count


@kernel("void(int64[::1], int64)")
def count_one(tree: Integers, level: int) -> None:
    """Add an entry to a Fenwick tree."""
    while level < tree.size:
        tree[level] += 1
        level += level & -level


@kernel("void(float64[::1], float64[::1], float64[::1])")
def count_above(gains: Floats, lower: Floats, higher: Floats) -> None:
    """For each rank, how many documents above it have a lower label, and how many a higher one."""
    levels = levels_of(gains)
    tree = np.zeros(gains.size + 1, np.int64)
    seen = 0
    for r in range(gains.size):
        lower[r], higher[r] = 0.0, 0.0
        level = levels[r]
        if level > 0:
            lower[r] = counted_up_to(tree, level - 1)
            higher[r] = seen - counted_up_to(tree, level)
            count_one(tree, level)
            seen += 1


@kernel(CONSTANT)
def pairs_constant(n: int, judged: Floats, ranks: Floats, parameters: Floats) -> float:
    """The reciprocal of the number of pairs with different labels."""
    levels = levels_of(judged)
    counts = np.zeros(judged.size + 1)
    different, seen = 0.0, 0.0
    for level in levels:
        if level > 0:
            different += seen - counts[level]
            counts[level] += 1.0
            seen += 1.0
    return 1.0 / different if different > 0.0 else 0.0


@kernel(VALUE)
def pairs_value(gains: Floats, constant: float, ranks: Floats) -> float:
    """The share of pairs in the right order."""
    lower, higher = np.empty(gains.size), np.empty(gains.size)
    count_above(gains, lower, higher)
    total = 0.0
    for count in higher:
        total += count
    return total * constant


@kernel(PREPARE)
def pairs_prepare(n: int, gains: Floats, constant: float, tables: Floats) -> None:
    """Row 1: by position, the sum of signs against all documents above. Row 3: the constant."""
    ranked = gains[:n]
    count_above(ranked, tables[1, :n], tables[2, :n])
    for r in range(n):
        tables[1, r] -= tables[2, r]
    tables[3, 0] = constant


@kernel(ROW, fastmath={"contract", "nsz"})
def pairs_row(i: int, n: int, gains: Floats, tables: Floats, out: Singles) -> None:
    """The sum of signs over all pairs that a swap turns round."""
    gain, against, constant = gains[i], tables[1], tables[3, 0]
    between = tables[2]
    total = 0  # Σ over i < m < j of s(m, a)
    for j in range(i + ONE, n):
        between[j] = total
        if gain >= 0.0 and gains[j] >= 0.0:
            total += int(gains[j] > gain) - int(gains[j] < gain)
    for j in range(i + ONE, n):
        judged = (gain >= 0.0) & (gains[j] >= 0.0)
        sign = (1.0 if judged & (gains[j] > gain) else 0.0) - (1.0 if judged & (gains[j] < gain) else 0.0)
        against[j] -= sign
        out[j] = np.float32((sign + against[j] + between[j]) * constant)


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class Pairs(Measure):
    """The share of pairs of judged documents with different labels that stand in the right order.

    >>> Pairs().value([2, 0, 1])
    0.6666666666666666
    """

    names: ClassVar[dict[str, dict[str, Any]]] = {"pairs": {}}
    graded: ClassVar[bool] = True
    midpoint: ClassVar[bool] = True
    scratch: ClassVar[int] = 3

    constant_kernel: ClassVar[Kernel] = pairs_constant
    value_kernel: ClassVar[Kernel] = pairs_value
    prepare_kernel: ClassVar[Kernel | None] = pairs_prepare
    row_kernel: ClassVar[Kernel | None] = pairs_row

    def gains(self, labels: Floats) -> Floats:
        """The label, or −1 where unjudged: such a document is in no pair."""
        return np.where(np.isnan(labels), -1.0, labels)

    def ranks(self, n: int) -> Floats:
        """All ranks alike."""
        return np.ones(n)
