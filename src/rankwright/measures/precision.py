"""Precision at k: how much of the top is relevant.

P@k = (relevant documents among the first k) / k
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Literal

import numpy as np

from rankwright.measures.base import CONSTANT, Floats, Measure, cut, relevant
from rankwright.measures.formulas import weighted_prepare, weighted_row, weighted_sum
from rankwright.runtime.errors import InputError
from rankwright.runtime.kernels import Kernel, kernel


@kernel(CONSTANT)
def precision_constant(n: int, judged: Floats, ranks: Floats, parameters: Floats) -> float:
    """The reciprocal of the documents looked at."""
    looked_at = min(float(n), parameters[0]) if parameters[1] else parameters[0]
    for gain in judged:
        if gain > 0.0:
            return 1.0 / max(1.0, looked_at)
    return 0.0


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class Precision(Measure):
    """The share of relevant documents among the first k, or in the whole list.

    ``threshold``: the lowest relevant label. ``denominator``: what a list shorter than k is divided by: "k",
    or "n", its own length.

    >>> Precision(k=5).value([1, 0])
    0.2
    >>> Precision(k=5, denominator="n").value([1, 0])
    0.5
    """

    k: int | None = None
    threshold: float = 1
    denominator: Literal["k", "n"] = "k"

    names: ClassVar[dict[str, dict[str, Any]]] = {"p": {}}
    additive: ClassVar[bool] = True
    scratch: ClassVar[int] = 1

    constant_kernel: ClassVar[Kernel] = precision_constant
    value_kernel: ClassVar[Kernel] = weighted_sum
    prepare_kernel: ClassVar[Kernel | None] = weighted_prepare
    row_kernel: ClassVar[Kernel | None] = weighted_row

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.denominator not in ("k", "n"):
            raise InputError(f"denominator={self.denominator!r} is not known; it is k or n")

    def gains(self, labels: Floats) -> Floats:
        """1 where relevant."""
        return relevant(labels, self.threshold)

    def ranks(self, n: int) -> Floats:
        """1 up to the cut-off."""
        return cut(np.ones(n), self.k)

    @property
    def parameters(self) -> Floats:
        """The cut-off, and whether a shorter list is divided by its own length."""
        most = np.inf if self.k is None else float(self.k)
        return np.array([most, float(self.k is None or self.denominator == "n")])
