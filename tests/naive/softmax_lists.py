"""The listwise cross-entropy and drawn orderings, in float64 and with whole matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

LOW = 2**32 - 1


def mixed(seed: int, x: int) -> int:
    """The 32 bits that belong to a seed and a number."""
    state = 0
    for part in (seed & LOW, seed >> 32, x & LOW):
        state = state ^ part ^ 0x9E3779B9
        state = ((state ^ (state >> 16)) * 0x7FEB352D) & LOW
        state = ((state ^ (state >> 15)) * 0x846CA68B) & LOW
        state ^= state >> 16
    return state


def uniform(seed: int, x: int) -> float:
    """The middle of one of 2²³ equal parts of (0, 1)."""
    return ((mixed(seed, x) >> 9) + 0.5) / 2**23


def gumbel(seed: int, x: int) -> float:
    return -math.log(-math.log(uniform(seed, x)))


def softmax(scores: Any, weights: Any) -> Any:
    powers = weights * np.exp(scores - scores.max())
    return powers / powers.sum()


def targets(worth: Any, drawn: Any, weights: Any) -> Any:
    phi = weights * (worth + drawn)
    return phi / phi.sum()


def cost(scores: Any, phi: Any, weights: Any) -> float:
    """−Σ φ ln ρ."""
    return -float(np.sum(phi * np.log(softmax(scores, weights) / np.where(weights > 0, weights, 1))))


def gradients(scores: Sequence[float], phi: Any, weights: Any, corrections: int) -> tuple[Any, Any]:
    """The gradient with so many terms of the series D H⁻¹ = 1 + RD⁻¹ + (RD⁻¹)² + …, and the diagonal D."""
    rho = softmax(np.asarray(scores), weights)
    hessian = np.diag(rho) - np.outer(rho, rho)
    diagonal = np.diag(np.diag(hessian))
    passed = (diagonal - hessian) @ np.linalg.pinv(diagonal)
    term, total = rho - phi, rho - phi
    for _ in range(corrections):
        term = passed @ term
        total = total + term
    return total, np.diag(hessian)
