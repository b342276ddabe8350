"""Diagnostics: is a model at an optimum of its measure, and do λ's have a cost that they descend?"""

from __future__ import annotations

from rankwright.diagnostics.conservative import Conservation, conservative
from rankwright.diagnostics.effective_pairs import EffectivePairs, effective_pairs
from rankwright.diagnostics.local_optimality import (
    LocalOptimality,
    confidence,
    directions_needed,
    local_optimality,
)

__all__ = [
    "Conservation",
    "EffectivePairs",
    "LocalOptimality",
    "confidence",
    "conservative",
    "directions_needed",
    "effective_pairs",
    "local_optimality",
]
