"""(Normalised) discounted cumulative gain, after 2006 equation 1 and 2010 section 3.

    DCG@k  = Σ over ranks r ≤ k of g(label at r) · d(r),   g(l) = 2^l − 1,   d(r) = 1 / log2(r + 1)
    NDCG@k = DCG@k / the DCG@k of the best ordering of all judged documents

Swapping ranks i and j changes it by (gⱼ − gᵢ)(dᵢ − dⱼ) over the ideal.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from rankwright.measures.base import CONSTANT, HIGHEST_GAIN, Floats, Measure, cut, number_table
from rankwright.measures.formulas import weighted_prepare, weighted_row, weighted_sum
from rankwright.measures.ordering import descending
from rankwright.runtime.errors import InputError
from rankwright.runtime.kernels import Kernel, kernel

HIGHEST_LABEL = 1000.0  # 2^l − 1 is a finite float64 up to l = 1023; the sum of gains must be one too.


@kernel(CONSTANT)
def ndcg_constant(n: int, judged: Floats, ranks: Floats, parameters: Floats) -> float:
    """The reciprocal of the ideal DCG, or 1 where the DCG is not normalised."""
    ideal = 0.0
    best = np.empty(min(judged.size, ranks.size))
    descending(judged, best)
    for r in range(best.size):
        ideal += best[r] * ranks[r]
    if ideal == 0.0:
        return 0.0
    return 1.0 / ideal if parameters[0] else 1.0


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class NDCG(Measure):
    """(Normalised) discounted cumulative gain at rank k.

    ``gain``: "exp" (2^label − 1), "linear" (the label) or a table of gains by label. ``discount``: "log2",
    "letor" (1 for the first two ranks, then 1/log2(rank); 2008's), "zipf" (1/rank) or a table by rank.

    >>> NDCG(k=3).value([3, 2, 3, 0, 1, 2])
    0.9594535145926795
    >>> NDCG(k=10, gain="linear", blank=0)
    ndcg@10(gain=linear, blank=0)
    """

    k: int | None = None
    gain: str | tuple[float, ...] = "exp"
    discount: str | tuple[float, ...] = "log2"
    normalised: bool = True

    names: ClassVar[dict[str, dict[str, Any]]] = {"ndcg": {"normalised": True}, "dcg": {"normalised": False}}
    additive: ClassVar[bool] = True
    graded: ClassVar[bool] = True
    scratch: ClassVar[int] = 1

    constant_kernel: ClassVar[Kernel] = ndcg_constant
    value_kernel: ClassVar[Kernel] = weighted_sum
    prepare_kernel: ClassVar[Kernel | None] = weighted_prepare
    row_kernel: ClassVar[Kernel | None] = weighted_row

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gain not in ("exp", "linear"):
            object.__setattr__(self, "gain", number_table(self.gain, "gain", ("exp", "linear")))
        if self.discount not in ("log2", "letor", "zipf"):
            known = ("log2", "letor", "zipf")
            object.__setattr__(self, "discount", number_table(self.discount, "discount", known))

    def gains(self, labels: Floats) -> Floats:
        """2^label − 1, the label itself, or the table's entry."""
        known = np.where(np.isnan(labels), 0.0, labels)
        if self.gain == "linear":
            return known
        if self.gain == "exp":
            return np.exp2(known) - 1.0
        return np.asarray(self.gain)[known.astype(np.int64)]

    def ranks(self, n: int) -> Floats:
        """The discount of each rank."""
        r = np.arange(1.0, n + 1.0)
        if self.discount == "log2":
            weights = 1.0 / np.log2(r + 1.0)
        elif self.discount == "letor":
            weights = 1.0 / np.log2(np.maximum(r, 2.0))
        elif self.discount == "zipf":
            weights = 1.0 / r
        else:
            weights = np.zeros(n)
            table = np.asarray(self.discount[:n])
            weights[: len(table)] = table
        return cut(weights, self.k)

    @property
    def parameters(self) -> Floats:
        """Whether to divide by the ideal."""
        return np.array([float(self.normalised)])

    def check_labels(self, labels: Floats) -> None:
        """Refuse labels below 0, labels whose gain overflows, and labels that the table of gains lacks."""
        super().check_labels(labels)
        if isinstance(self.gain, tuple):
            outside = (labels >= len(self.gain)) | (labels != np.floor(labels)) & ~np.isnan(labels)
            cure = f"the table has gains for the labels 0 to {len(self.gain) - 1}"
        elif self.gain == "exp":
            outside = labels > HIGHEST_LABEL
            cure = "its gain 2^label − 1 overflows; use gain=linear or a table of gains"
        else:
            outside = labels > HIGHEST_GAIN
            cure = "the sum of such gains overflows; scale the labels"
        bad = np.flatnonzero(outside)
        if len(bad):
            raise InputError(f"row {bad[0]}: label {labels[bad[0]]:g} cannot be used by {self!r}: {cure}")
