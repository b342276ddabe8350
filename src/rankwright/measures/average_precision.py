"""Average precision, after 2006 section 2, 2009 and 2008 section 2.2.4 (whose 1/n⁺ was forgotten in print).

    AP@k = 1/R · Σ over relevant ranks r ≤ k of (relevant documents up to r) / r,   R = all relevant documents

Write y for 0 or 1 at each rank, w for 1/r up to k and 0 behind, c for the count of relevant documents up to a
rank. Swapping i < j with u = yⱼ − yᵢ brings u·(wᵢ(cᵢ₋₁ + 1) + Σ over i < m < j of yₘwₘ − wⱼcⱼ) / R: each
relevant document between them sees one more above it. With S the sums of yw from a rank to the end, this is
u·(Aᵢ − Bⱼ) with A = w(c₋₁ + 1) + S₊₁ and B = S + wc; sums from the end, since the small gains of deep ranks
would drown in sums from the front.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Literal

import numpy as np

from rankwright.measures.base import (
    CONSTANT,
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
from rankwright.runtime.arrays import Integers
from rankwright.runtime.errors import InputError
from rankwright.runtime.kernels import Kernel, kernel


@kernel(CONSTANT)
def ap_constant(n: int, judged: Floats, ranks: Floats, parameters: Floats) -> float:
    """The reciprocal of the relevant documents, or of the most that fit above the cut-off."""
    count = 0.0
    for gain in judged:
        count += gain
    if count == 0.0:
        return 0.0
    return 1.0 / min(count, parameters[0])


@kernel(VALUE)
def ap_value(gains: Floats, constant: float, ranks: Floats) -> float:
    """The mean of the precisions at the relevant documents."""
    count, total = 0.0, 0.0
    for r in range(gains.size):
        count += gains[r]
        total += gains[r] * count * ranks[r]
    return total * constant


@kernel(EXPECTED)
def ap_expected(gains: Floats, ends: Integers, constant: float, ranks: Floats) -> float:
    """The mean over the orders of tied documents (McSherry and Najork, 2008).

    In a group of n with m relevant, a rank is relevant with probability m/n, and each rank of the group above
    it is then relevant with probability (m − 1)/(n − 1).
    """
    total, above = 0.0, 0.0
    first = 0
    while first < gains.size:
        end = ends[first]
        good = 0.0
        for r in range(first, end):
            good += gains[r]
        share = good / (end - first)
        others = (good - 1.0) / max(1, end - first - 1)
        for r in range(first, end):
            total += share * (above + 1.0 + (r - first) * others) * ranks[r]
        above += good
        first = end
    return total * constant


@kernel(PREPARE)
def ap_prepare(n: Any, gains: Floats, constant: float, tables: Floats) -> None:
    """A in row 1 and B in row 2, divided by R."""
    count = 0.0
    for r in range(n):
        tables[1, r] = tables[0, r] * (count + 1.0)
        count += gains[r]
        tables[2, r] = tables[0, r] * count
    behind = 0.0  # S of the next rank
    for back in range(n):
        r = n - ONE - back
        tables[1, r] = (tables[1, r] + behind) * constant
        behind += gains[r] * tables[0, r]
        tables[2, r] = (tables[2, r] + behind) * constant


@kernel(ROW, fastmath={"contract", "nsz"})
def ap_row(i: int, n: int, gains: Floats, tables: Floats, out: Singles) -> None:
    """(yⱼ − yᵢ)(Aᵢ − Bⱼ)."""
    gain, a, b = gains[i], tables[1, i], tables[2]
    for j in range(i + ONE, n):
        out[j] = np.float32((gains[j] - gain) * (a - b[j]))


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class AveragePrecision(Measure):
    """The mean of the precisions at the relevant documents: ``map``, or ``ap@k`` where cut off.

    ``threshold``: the lowest relevant label. ``denominator``: "R" (all relevant documents) or "min(R,k)" (as
    many of them as fit above the cut-off).

    >>> AveragePrecision().value([1, 0, 1])
    0.8333333333333333
    >>> AveragePrecision(k=1, denominator="min(R,k)").value([1, 0, 1])
    1.0
    """

    k: int | None = None
    threshold: float = 1
    denominator: Literal["R", "min(R,k)"] = "R"

    names: ClassVar[dict[str, dict[str, Any]]] = {"map": {}, "ap": {}}
    scratch: ClassVar[int] = 2

    constant_kernel: ClassVar[Kernel] = ap_constant
    value_kernel: ClassVar[Kernel] = ap_value
    expected_kernel: ClassVar[Kernel | None] = ap_expected
    prepare_kernel: ClassVar[Kernel | None] = ap_prepare
    row_kernel: ClassVar[Kernel | None] = ap_row

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.denominator not in ("R", "min(R,k)"):
            raise InputError(f"denominator={self.denominator!r} is not known; it is R or min(R,k)")

    def gains(self, labels: Floats) -> Floats:
        """1 where relevant."""
        return relevant(labels, self.threshold)

    def ranks(self, n: int) -> Floats:
        """1/rank."""
        return reciprocal_ranks(n, self.k)

    @property
    def parameters(self) -> Floats:
        """The most that the denominator may be."""
        return np.array([np.inf if self.k is None or self.denominator == "R" else float(self.k)])
