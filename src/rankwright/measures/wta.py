"""Winner takes all, after 2006 section 2: whether the first document is relevant.

The paper's cost is 1 − this.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from rankwright.measures.base import Floats, Measure, cut, relevant
from rankwright.measures.formulas import one_if_any, weighted_prepare, weighted_row, weighted_sum
from rankwright.runtime.kernels import Kernel


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class WTA(Measure):
    """1 if the first document is relevant, else 0.

    ``threshold``: the lowest relevant label.

    >>> WTA().value([2, 0]), WTA().value([0, 2])
    (1.0, 0.0)
    """

    threshold: float = 1

    names: ClassVar[dict[str, dict[str, Any]]] = {"wta": {}}
    additive: ClassVar[bool] = True
    scratch: ClassVar[int] = 1

    constant_kernel: ClassVar[Kernel] = one_if_any
    value_kernel: ClassVar[Kernel] = weighted_sum
    prepare_kernel: ClassVar[Kernel | None] = weighted_prepare
    row_kernel: ClassVar[Kernel | None] = weighted_row

    def gains(self, labels: Floats) -> Floats:
        """1 where relevant."""
        return relevant(labels, self.threshold)

    def ranks(self, n: int) -> Floats:
        """1 for the first rank."""
        return cut(np.ones(n), 1)
