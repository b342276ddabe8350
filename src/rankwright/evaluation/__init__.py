"""Evaluation: how good rankings are, whether one is better than another, and cross-validation."""

from __future__ import annotations

from rankwright.evaluation.compare import Comparison, Contrast, compare
from rankwright.evaluation.evaluate import evaluate
from rankwright.evaluation.importance import Importance, permutation_importance
from rankwright.evaluation.result import Evaluation, MeasureResult

__all__ = [
    "Comparison", "Contrast", "Evaluation", "Importance", "MeasureResult",
    "compare", "evaluate", "permutation_importance",
]  # fmt: skip
