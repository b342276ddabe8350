"""bpref (Buckley and Voorhees, 2004; 2006 section 2), as trec_eval has it: only judged documents count.

    bpref = 1/R · Σ over retrieved relevant documents of φ(c),   φ(c) = 1 − min(c, R) / min(R, N)

with c the judged irrelevant documents above it, R and N the judged relevant and irrelevant ones, and φ(0) = 1
where N = 0. As c ≤ N, min(c, R) is min(c, B) with B = min(R, N).

Swapping i < j moves the c of all between by d = (j is irrelevant) − (i is irrelevant). For d = 1 those with
c < B lose 1/B, for d = −1 those with c ≤ B gain it (each has i above it, so c ≥ 1): differences of counts.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from rankwright.measures.base import (
    CONSTANT,
    ONE,
    PREPARE,
    ROW,
    VALUE,
    Floats,
    Measure,
    Singles,
    judged_relevant,
)
from rankwright.runtime.kernels import Kernel, kernel

SHIFT = 2.0**26
"""A constant is one number and bpref needs two, R and B. Both are whole, below 2²⁶: R · 2²⁶ + B is exact."""


@kernel(CONSTANT)
def bpref_constant(n: int, judged: Floats, ranks: Floats, parameters: Floats) -> float:
    """R · 2²⁶ + B; 0 where nothing is relevant."""
    good, bad = 0.0, 0.0
    for gain in judged:
        if gain > 0.0:
            good += 1.0
        elif gain == 0.0:
            bad += 1.0
    return good * SHIFT + min(good, bad) if good > 0.0 else 0.0


@kernel(VALUE)
def bpref_value(gains: Floats, constant: float, ranks: Floats) -> float:
    """The mean of φ over the relevant documents."""
    good = np.floor(constant / SHIFT)
    bound = constant - good * SHIFT
    total, bad = 0.0, 0.0
    for gain in gains:
        if gain > 0.0:
            total += 1.0 - min(bad, bound) / bound if bad > 0.0 else 1.0
        elif gain == 0.0:
            bad += 1.0
    return total / good


@kernel(PREPARE)
def bpref_prepare(n: int, gains: Floats, constant: float, tables: Floats) -> None:
    """φ at each rank and behind it, and counts of relevant documents above with c < B and with c ≤ B.

    They fill rows 1 to 4, each divided by what the row kernel would: φ by R, the counts by R · B.
    """
    good = np.floor(constant / SHIFT)
    bound = constant - good * SHIFT
    step = 1.0 / (good * bound) if bound > 0.0 else 0.0
    below, up_to, bad = 0.0, 0.0, 0.0
    for r in range(n):
        tables[1, r] = 1.0 / good - min(bad, bound) * step
        tables[3, r] = below * step
        tables[4, r] = up_to * step
        if gains[r] > 0.0:
            below += 1.0 if bad < bound else 0.0
            up_to += 1.0 if bad <= bound else 0.0
        elif gains[r] == 0.0:
            bad += 1.0
        tables[2, r] = 1.0 / good - min(bad, bound) * step
    tables[3, n] = below * step


@kernel(ROW, fastmath={"contract", "nsz"})
def bpref_row(i: int, n: int, gains: Floats, tables: Floats, out: Singles) -> None:
    """What the documents between lose or gain, and what i and j themselves do: the kind of i decides."""
    worth, worth_behind, below, up_to = tables[1], tables[2], tables[3], tables[4]
    gain, here, below_here, up_to_here = gains[i], tables[1, i], tables[3, i + ONE], tables[4, i]
    for j in range(i + ONE, n):
        up = here - worth[j] if gains[j] > 0.0 else 0.0
        lost = below[j] - below_here if gains[j] == 0.0 else 0.0
        of_good = worth_behind[j] - here - lost
        of_bad = up_to[j] - up_to_here + up
        change = of_good if gain > 0.0 else (of_bad if gain == 0.0 else up - lost)
        out[j] = np.float32(0.0 if gains[j] == gain else change)


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class Bpref(Measure):
    """How few judged irrelevant documents stand above the relevant ones; unjudged documents do not count.

    ``threshold``: the lowest relevant label.

    >>> Bpref().value([1, 0, float("nan"), 1, 0])
    0.75
    """

    threshold: float = 1

    names: ClassVar[dict[str, dict[str, Any]]] = {"bpref": {}}
    scratch: ClassVar[int] = 4

    constant_kernel: ClassVar[Kernel] = bpref_constant
    value_kernel: ClassVar[Kernel] = bpref_value
    prepare_kernel: ClassVar[Kernel | None] = bpref_prepare
    row_kernel: ClassVar[Kernel | None] = bpref_row

    def gains(self, labels: Floats) -> Floats:
        """1 where relevant, 0 where judged and not, −1 where unjudged."""
        return judged_relevant(labels, self.threshold)

    def ranks(self, n: int) -> Floats:
        """All ranks alike."""
        return np.ones(n)
