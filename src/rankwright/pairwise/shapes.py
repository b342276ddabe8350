"""The shapes of a force between two documents, as kernels at row grain: what the λ rules are made of.

``force(i, n, constant, scores, levels, swaps, parameters, out)`` looks from the document at rank i at those
below it, i < j < n, all in ranked order, and writes

    out[0, j]   the force on i from j; positive is up, and j gets the opposite, so that Σλ = 0
    out[1, j]   its derivative −∂out[0, j]/∂sᵢ
    out[2, j]   its potential, whose derivative −∂/∂sᵢ the force is

``levels`` are what labels are worth to the measure, ``swaps[j]`` is what swapping ranks i and j would change
it by (signed), ``constant`` its normaliser. Below d is the better document's score minus the worse one's, and
Δ the swap gain.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.runtime.kernels import kernel

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

FORCE = (
    "void(uint64, uint64, float64, float64[::1], float64[::1], float32[::1], float64[::1], float64[:, ::1])"
)
ONE = np.uint64(1)


@kernel(FORCE)
def cross_entropy(
    i: Any,
    n: Any,
    constant: float,
    scores: Floats,
    levels: Floats,
    swaps: Singles,
    parameters: Floats,
    out: Floats,
) -> None:
    """σ/(1 + exp(σ(d − margin))) · max(|Δ|, least · constant): RankNet's force."""
    sigma, margin, least = parameters[0], parameters[1], parameters[2] * constant
    score, level = scores[i], levels[i]
    for j in range(i + ONE, n):
        way = 1.0 if level > levels[j] else (-1.0 if level < levels[j] else 0.0)
        weight = abs(way) * max(np.float64(abs(swaps[j])), least)
        if weight == 0.0:  # most pairs of a measure with a cut-off, and e^x is what costs time
            out[0, j], out[1, j], out[2, j] = 0.0, 0.0, 0.0
            continue
        x = sigma * (way * (score - scores[j]) - margin)
        small = np.exp(-abs(x))
        wrong = (small if x > 0.0 else 1.0) / (1.0 + small)  # how likely the model has the pair wrong
        pull = sigma * weight * wrong
        out[0, j] = way * pull
        out[1, j] = sigma * pull * (1.0 - wrong)
        out[2, j] = weight * (max(-x, 0.0) + np.log1p(small))


@kernel(FORCE)
def step(
    i: Any,
    n: Any,
    constant: float,
    scores: Floats,
    levels: Floats,
    swaps: Singles,
    parameters: Floats,
    out: Floats,
) -> None:
    """|Δ| while d < margin, then nothing."""
    margin = parameters[0]
    score, level = scores[i], levels[i]
    for j in range(i + ONE, n):
        way = 1.0 if level > levels[j] else (-1.0 if level < levels[j] else 0.0)
        d = way * (score - scores[j])
        weight = abs(way) * abs(swaps[j]) if d < margin else 0.0
        out[0, j] = way * weight
        out[1, j] = 0.0
        # A constant force without an end has no end of its potential to count from.
        out[2, j] = weight * ((margin if margin < np.inf else 0.0) - d)


@kernel(FORCE)
def spring(
    i: Any,
    n: Any,
    constant: float,
    scores: Floats,
    levels: Floats,
    swaps: Singles,
    parameters: Floats,
    out: Floats,
) -> None:
    """|Δ| · (margin − d): pushed apart while d < margin; pulled together beyond it where ``elastic``."""
    margin, elastic = parameters[0], parameters[1]
    score, level = scores[i], levels[i]
    for j in range(i + ONE, n):
        way = 1.0 if level > levels[j] else (-1.0 if level < levels[j] else 0.0)
        short = margin - way * (score - scores[j])
        weight = abs(way) * abs(swaps[j]) if short > 0.0 or elastic else 0.0
        out[0, j] = way * weight * short
        out[1, j] = weight
        out[2, j] = 0.5 * weight * short * short


@kernel(FORCE)
def difference(
    i: Any,
    n: Any,
    constant: float,
    scores: Floats,
    levels: Floats,
    swaps: Singles,
    parameters: Floats,
    out: Floats,
) -> None:
    """−Δ/(sᵢ − sⱼ + margin): what the measure would change by, over how far the scores have to go."""
    margin = parameters[0]
    score = scores[i]
    for j in range(i + ONE, n):
        far = score - scores[j] + margin
        out[0, j] = -swaps[j] / far
        out[1, j] = out[0, j] / far
        out[2, j] = swaps[j] * np.log(far)
