"""Reciprocal rank, after 2006 section 2, 2008 section 2.2.2 and 2009.

    RR@k = 1 / (rank of the first relevant document), 0 where that is behind k

A swap of i < j changes it in two cases only. With f the first relevant rank and w for 1/rank: a relevant
document comes up from j to an i above f (wᵢ − w_f), or the first one goes down from i = f to an irrelevant
j, and the first is then j or the second relevant one, whichever comes first (max(wⱼ, w_second) − w_f).
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from rankwright.measures.base import (
    EXPECTED,
    ONE,
    PREPARE,
    ROW,
    VALUE,
    Floats,
    Measure,
    Singles,
    reciprocal_ranks,
    relevant,
)
from rankwright.measures.formulas import one_if_any
from rankwright.runtime.arrays import Integers
from rankwright.runtime.kernels import Kernel, kernel


@kernel(VALUE)
def rr_value(gains: Floats, constant: float, ranks: Floats) -> float:
    """The weight of the first relevant rank."""
    for r in range(gains.size):
        if gains[r] > 0.0:
            return ranks[r] * constant
    return 0.0


@kernel(EXPECTED)
def rr_expected(gains: Floats, ends: Integers, constant: float, ranks: Floats) -> float:
    """The mean over the orders of tied documents (McSherry and Najork, 2008).

    As long as none was found, a rank holds one of the group's relevant documents with probability
    (relevant documents) / (documents left in the group).
    """
    total, none_found = 0.0, 1.0
    first = 0
    while first < gains.size:
        end = ends[first]
        good = 0.0
        for r in range(first, end):
            good += gains[r]
        for r in range(first, end):
            found = none_found * min(1.0, good / (end - r))
            total += found * ranks[r]
            none_found -= found
        first = end
    return total * constant


@kernel(PREPARE)
def rr_prepare(n: int, gains: Floats, constant: float, tables: Floats) -> None:
    """Row 1: relevant documents above each rank. Rows 2 and 3, column 0: weights of the first two of them."""
    count = 0
    tables[2, 0] = 0.0
    tables[3, 0] = 0.0
    for r in range(n):
        tables[1, r] = count
        if gains[r] > 0.0:
            count += 1
            if count <= 2:
                tables[1 + count, 0] = tables[0, r]


@kernel(ROW, fastmath={"contract", "nsz"})
def rr_row(i: int, n: int, gains: Floats, tables: Floats, out: Singles) -> None:
    """What the first relevant rank gains or loses."""
    weights, first, second = tables[0], tables[2, 0], tables[3, 0]
    above, gain, up = tables[1, i], gains[i], tables[0, i] - tables[2, 0]
    for j in range(i + ONE, n):
        down = (1.0 - gains[j]) * (max(weights[j], second) - first)
        change = down if gain > 0.0 else gains[j] * up
        out[j] = np.float32(0.0 if above > 0.0 else change)


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class ReciprocalRank(Measure):
    """The reciprocal of the first relevant rank: ``mrr``, or ``rr@k`` where cut off.

    ``threshold``: the lowest relevant label.

    >>> ReciprocalRank().value([0, 0, 1, 1])
    0.3333333333333333
    >>> ReciprocalRank(k=2).value([0, 0, 1, 1])
    0.0
    """

    k: int | None = None
    threshold: float = 1

    names: ClassVar[dict[str, dict[str, Any]]] = {"mrr": {}, "rr": {}}
    scratch: ClassVar[int] = 3

    constant_kernel: ClassVar[Kernel] = one_if_any
    value_kernel: ClassVar[Kernel] = rr_value
    expected_kernel: ClassVar[Kernel | None] = rr_expected
    prepare_kernel: ClassVar[Kernel | None] = rr_prepare
    row_kernel: ClassVar[Kernel | None] = rr_row

    def gains(self, labels: Floats) -> Floats:
        """1 where relevant."""
        return relevant(labels, self.threshold)

    def ranks(self, n: int) -> Floats:
        """1/rank."""
        return reciprocal_ranks(n, self.k)
