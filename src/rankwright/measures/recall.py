"""Recall at k: how much of what is relevant is at the top.

Recall@k = (relevant documents among the first k) / (all relevant documents)
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from rankwright.measures.base import CONSTANT, Floats, Measure, cut, relevant
from rankwright.measures.formulas import weighted_prepare, weighted_row, weighted_sum
from rankwright.runtime.kernels import Kernel, kernel


@kernel(CONSTANT)
def recall_constant(n: int, judged: Floats, ranks: Floats, parameters: Floats) -> float:
    """The reciprocal of the relevant documents."""
    count = 0.0
    for gain in judged:
        count += gain
    return 1.0 / count if count > 0.0 else 0.0


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class Recall(Measure):
    """The share of the relevant documents that are among the first k, or retrieved at all.

    ``threshold``: the lowest relevant label.

    >>> Recall(k=2).value([1, 0, 1, 1])
    0.3333333333333333
    """

    k: int | None = None
    threshold: float = 1

    names: ClassVar[dict[str, dict[str, Any]]] = {"recall": {}}
    additive: ClassVar[bool] = True
    scratch: ClassVar[int] = 1

    constant_kernel: ClassVar[Kernel] = recall_constant
    value_kernel: ClassVar[Kernel] = weighted_sum
    prepare_kernel: ClassVar[Kernel | None] = weighted_prepare
    row_kernel: ClassVar[Kernel | None] = weighted_row

    def gains(self, labels: Floats) -> Floats:
        """1 where relevant."""
        return relevant(labels, self.threshold)

    def ranks(self, n: int) -> Floats:
        """1 up to the cut-off."""
        return cut(np.ones(n), self.k)
