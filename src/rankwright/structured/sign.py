"""The worst ordering for AUC and pairs (2008, equation 8): each pair stands wrong where that pays.

    max over y of Σ over pairs that stand wrong of (1/n⁺n⁻ − scale (s_g − s_b)),   scale = 2/n⁺n⁻ if averaged

so the bad document b stands above the good one g where s_g − s_b < 1/2, and the merge of the two sorted lists
that counts 1/2 on the bad documents' side does that for all pairs at once.
"""

from __future__ import annotations

import numpy as np

from rankwright.measures.auc import AUC
from rankwright.measures.base import Floats
from rankwright.runtime.arrays import Integers
from rankwright.runtime.kernels import kernel
from rankwright.structured.feature_maps import LocalOrder, PartialOrder
from rankwright.structured.oracle import PLACE, Kinds, Placing, tables_of


@kernel(PLACE)
def place_by_sign(
    good: Floats, bad: Floats, scale: float, constant: float, k: int, tables: Floats, above: Integers
) -> float:
    """Bad documents above each good one: those that come within the margin of it."""
    b, wrong = 0, 0.0
    for g in range(good.size):
        while b < bad.size and constant - scale * (good[g] - bad[b]) > 0.0:
            b += 1
        above[g] = b
        wrong += b
    return wrong * constant


def auc(measure: AUC, feature_map: PartialOrder | LocalOrder, kinds: Kinds) -> Placing:
    """AUC with pairs."""
    return Placing(place_by_sign, 1.0 / np.maximum(kinds.good * kinds.bad, 1), tables_of(kinds.longest, 2))
