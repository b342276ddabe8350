"""The area under the ROC curve, after 2008 section 2.2.1: pairwise correct with two kinds of documents.

    AUC = #{(i, j): i above j, i relevant, j not} / (R · N)

Swapping i < j changes it by s(j, i) + h(j) − h(i), where h counts the irrelevant documents between them for
a relevant one, minus the relevant ones for an irrelevant one, and nothing for one that is unjudged.
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


@kernel(CONSTANT)
def auc_constant(n: int, judged: Floats, ranks: Floats, parameters: Floats) -> float:
    """The reciprocal of the number of pairs, relevant and not."""
    good, bad = 0.0, 0.0
    for gain in judged:
        if gain > 0.0:
            good += 1.0
        elif gain == 0.0:
            bad += 1.0
    return 1.0 / (good * bad) if good * bad > 0.0 else 0.0


@kernel(VALUE)
def auc_value(gains: Floats, constant: float, ranks: Floats) -> float:
    """The share of pairs in the right order."""
    total, good = 0.0, 0.0
    for gain in gains:
        if gain > 0.0:
            good += 1.0
        elif gain == 0.0:
            total += good
    return total * constant


@kernel(PREPARE)
def auc_prepare(n: int, gains: Floats, constant: float, tables: Floats) -> None:
    """Irrelevant and relevant documents above each rank, in rows 1 and 2; the constant in row 3."""
    good, bad = 0.0, 0.0
    for r in range(n):
        tables[1, r] = bad
        tables[2, r] = good
        if gains[r] > 0.0:
            good += 1.0
        elif gains[r] == 0.0:
            bad += 1.0
    tables[3, 0] = constant


@kernel(ROW, fastmath={"contract", "nsz"})
def auc_row(i: int, n: int, gains: Floats, tables: Floats, out: Singles) -> None:
    """s(j, i) + h(j) − h(i), with the signs folded in: the kinds of i and j decide what moves past what."""
    gain, bad, good, constant = gains[i], tables[1], tables[2], tables[3, 0]
    bad_here, good_here = tables[1, i], tables[2, i]
    for j in range(i + ONE, n):
        past_bad, past_good = bad[j] - bad_here, good[j] - good_here
        of_good = -past_bad - (past_good if gains[j] == 0.0 else 0.0)
        of_bad = past_good + (past_bad if gains[j] > 0.0 else 0.0)
        of_unjudged = (past_bad if gains[j] > 0.0 else 0.0) - (past_good if gains[j] == 0.0 else 0.0)
        change = of_good if gain > 0.0 else (of_bad if gain == 0.0 else of_unjudged)
        out[j] = np.float32(0.0 if gains[j] == gain else change * constant)


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class AUC(Measure):
    """The area under the ROC curve: the share of pairs, one relevant and one not, in the right order.

    ``threshold``: the lowest relevant label.

    >>> AUC().value([1, 0, 1, 0])
    0.75
    """

    threshold: float = 1

    names: ClassVar[dict[str, dict[str, Any]]] = {"auc": {}}
    midpoint: ClassVar[bool] = True
    scratch: ClassVar[int] = 3

    constant_kernel: ClassVar[Kernel] = auc_constant
    value_kernel: ClassVar[Kernel] = auc_value
    prepare_kernel: ClassVar[Kernel | None] = auc_prepare
    row_kernel: ClassVar[Kernel | None] = auc_row

    def gains(self, labels: Floats) -> Floats:
        """1 where relevant, −1 where unjudged: such a document is in no pair."""
        return judged_relevant(labels, self.threshold)

    def ranks(self, n: int) -> Floats:
        """All ranks alike."""
        return np.ones(n)
