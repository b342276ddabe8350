"""Expected reciprocal rank, after 2010 section 3: one over the rank at which a reader is expected to stop.

    ERR@k = Σ over ranks r ≤ k of 1/r · R_r · π_r,   π_r = Π over i < r of 1 − R_i,   R = (2^l − 1) / 2^l_max

The paper gets the change of a swap in O(n²) a query in four steps; collected, with T = 1 − R, w for 1/rank up
to k and 0 behind, swapping i < j brings

    (Rⱼ − Rᵢ) · (πᵢwᵢ − Σ over i < m < j of wₘRₘπₘ/Tᵢ − wⱼπⱼ/Tᵢ)  =  (Rⱼ − Rᵢ)(Aᵢ − Bⱼ/Tᵢ)

    A = πw − C₊₁/T,   B = πw − C,   C = Σ over m from a rank to the end of wₘRₘπₘ

The paper's prefix sums are sums from the end here: their differences are exact relative to π, which falls
fast. Where Tᵢ = 0 all behind i is hidden, and that one row is summed by itself.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Literal

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
    is_number,
    reciprocal_ranks,
)
from rankwright.measures.formulas import one_if_any
from rankwright.runtime.arrays import Integers
from rankwright.runtime.errors import InputError
from rankwright.runtime.kernels import Kernel, kernel

HIGHEST_LABEL = 1000


@kernel(VALUE)
def err_value(gains: Floats, constant: float, ranks: Floats) -> float:
    """The expected reciprocal of the rank at which the reader stops."""
    total, reached = 0.0, 1.0
    for r in range(gains.size):
        total += ranks[r] * gains[r] * reached
        reached *= 1.0 - gains[r]
    return total * constant


@kernel(EXPECTED)
def err_expected(gains: Floats, ends: Integers, constant: float, ranks: Floats) -> float:
    """The mean over the orders of tied documents.

    With T̄ᵢ the mean product of i of a group's T's, a reader reaches the group's rank i with probability
    π·T̄ᵢ and goes on with π·T̄ᵢ₊₁. Adding the m-th document to a group makes T̄ᵢ the mean of the choices of i
    documents without it, (m − i)/m of them, and with it.
    """
    total, reached = 0.0, 1.0
    passed = np.empty(gains.size + 1)
    first = 0
    while first < gains.size:
        end = ends[first]
        passed[0] = 1.0
        for r in range(first, end):
            m = r - first + 1
            passed[m] = 0.0
            for i in range(m, 0, -1):
                passed[i] = ((m - i) * passed[i] + i * (1.0 - gains[r]) * passed[i - 1]) / m
        for r in range(first, end):
            total += ranks[r] * reached * (passed[r - first] - passed[r - first + 1])
        reached *= passed[end - first]
        first = end
    return total * constant


@kernel(PREPARE)
def err_prepare(n: Any, gains: Floats, constant: float, tables: Floats) -> None:
    """π in row 1, A in row 2 and B in row 3."""
    reached = 1.0
    for r in range(n):
        tables[1, r] = reached
        reached *= 1.0 - gains[r]
    behind = 0.0  # C of the next rank
    for back in range(n):
        r = n - ONE - back
        here = tables[0, r] * tables[1, r]
        passed = 1.0 - gains[r]
        tables[2, r] = here - behind / passed if passed > 0.0 else 0.0
        behind += here * gains[r]
        tables[3, r] = here - behind


@kernel(ROW, fastmath={"contract", "nsz"})
def err_row(i: int, n: int, gains: Floats, tables: Floats, out: Singles) -> None:
    """(Rⱼ − Rᵢ)(Aᵢ − Bⱼ/Tᵢ)."""
    gain, a, b = gains[i], tables[2, i], tables[3]
    passed = 1.0 / (1.0 - gain) if gain < 1.0 else 0.0
    for j in range(i + ONE, n):
        out[j] = np.float32((gains[j] - gain) * (a - b[j] * passed))
    weights, reached = tables[0], tables[1, i]
    left = reached * weights[i]
    for j in range(i + ONE, n if gain == 1.0 else i):
        out[j] = np.float32((gains[j] - gain) * (left - reached * weights[j]))
        left -= reached * weights[j] * gains[j]
        reached *= 1.0 - gains[j]


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class ERR(Measure):
    """Expected reciprocal rank at k.

    ``max_label``: the highest label there may be; a label above it is an error. ``stop``: how likely a reader
    stops at a document: "exp", (2^label − 1) / 2^max_label, or "label", the label itself.

    >>> ERR(k=20).value([4, 0, 2])
    0.94140625
    """

    k: int | None = None
    max_label: float = 4
    stop: Literal["exp", "label"] = "exp"

    names: ClassVar[dict[str, dict[str, Any]]] = {"err": {}}
    graded: ClassVar[bool] = True
    scratch: ClassVar[int] = 3

    constant_kernel: ClassVar[Kernel] = one_if_any
    value_kernel: ClassVar[Kernel] = err_value
    expected_kernel: ClassVar[Kernel | None] = err_expected
    prepare_kernel: ClassVar[Kernel | None] = err_prepare
    row_kernel: ClassVar[Kernel | None] = err_row

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.stop not in ("exp", "label"):
            raise InputError(f"stop={self.stop!r} is not known; it is exp or label")
        if not is_number(self.max_label) or not 0 < self.max_label <= HIGHEST_LABEL:
            raise InputError(
                f"max_label={self.max_label!r} is not known; it is above 0 and at most {HIGHEST_LABEL}"
            )

    def gains(self, labels: Floats) -> Floats:
        """The probability that the reader stops there."""
        known = np.where(np.isnan(labels), 0.0, labels)
        return known if self.stop == "label" else (np.exp2(known) - 1.0) / 2.0**self.max_label

    def ranks(self, n: int) -> Floats:
        """1/rank."""
        return reciprocal_ranks(n, self.k)

    def check_labels(self, labels: Floats) -> None:
        """Refuse labels below 0 or above the highest there may be."""
        super().check_labels(labels)
        highest = self.max_label if self.stop == "exp" else min(self.max_label, 1)
        bad = np.flatnonzero(labels > highest)
        if len(bad):
            cure = (
                f"its highest label is {highest:g}; give the data's own as max_label"
                if self.stop == "exp"
                else "with stop=label a label is a probability"
            )
            raise InputError(f"row {bad[0]}: label {labels[bad[0]]:g} cannot be used by {self!r}: {cure}")
