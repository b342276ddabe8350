"""Rank-biased precision (Moffat and Zobel, 2008): a reader goes on to the next document with probability p.

RBP = (1 − p) · Σ over relevant ranks r of p^(r − 1)
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from rankwright.measures.base import Floats, Measure, cut, is_number, relevant
from rankwright.measures.formulas import one_if_any, weighted_prepare, weighted_row, weighted_sum
from rankwright.runtime.errors import InputError
from rankwright.runtime.kernels import Kernel


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class RBP(Measure):
    """What a reader finds who goes on from each document to the next with probability ``p``.

    ``threshold``: the lowest relevant label.

    >>> RBP(p=0.5).value([1, 0, 1])
    0.625
    """

    k: int | None = None
    p: float = 0.8
    threshold: float = 1

    names: ClassVar[dict[str, dict[str, Any]]] = {"rbp": {}}
    additive: ClassVar[bool] = True
    scratch: ClassVar[int] = 1

    constant_kernel: ClassVar[Kernel] = one_if_any
    value_kernel: ClassVar[Kernel] = weighted_sum
    prepare_kernel: ClassVar[Kernel | None] = weighted_prepare
    row_kernel: ClassVar[Kernel | None] = weighted_row

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_number(self.p) or not 0 < self.p < 1:
            raise InputError(f"p={self.p!r} is not known; it is a probability between 0 and 1")

    def gains(self, labels: Floats) -> Floats:
        """1 where relevant."""
        return relevant(labels, self.threshold)

    def ranks(self, n: int) -> Floats:
        """(1 − p) p^(rank − 1)."""
        return cut((1.0 - self.p) * np.power(float(self.p), np.arange(n)), self.k)
