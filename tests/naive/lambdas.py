"""λ's of one query, pair by pair, as 2006 equation 3 and 2010 sections 4 and 7 have them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def ranked(scores: Sequence[float]) -> list[int]:
    """Documents from the highest score to the lowest, equal scores as given."""
    return sorted(range(len(scores)), key=lambda d: -scores[d])


def lambdas(
    labels: Sequence[float],
    scores: Sequence[float],
    change: Callable[[Sequence[float], int, int], float],
    *,
    sigma: float = 1.0,
    truncation: int | None = None,
    weights: Sequence[float] | None = None,
    query_weight: float = 1.0,
    by_distance: bool = False,
    by_total: bool = False,
    keys: Sequence[float] | None = None,
) -> tuple[Any, Any]:
    """λ (positive is up) and w of each document; ``change(labels in ranked order, i, j)`` is a swap's.

    Ranked by ``keys``, where those are given.
    """
    n, order = len(labels), ranked(scores if keys is None else keys)
    in_order = [labels[d] for d in order]
    lams, hess, total = np.zeros(n), np.zeros(n), 0.0
    for i in range(n):
        for j in range(i + 1, n):
            if truncation is not None and i >= truncation:
                continue
            if not (in_order[i] < in_order[j] or in_order[i] > in_order[j]):
                continue  # equal, or one of them unjudged
            better, worse = (order[i], order[j]) if in_order[i] > in_order[j] else (order[j], order[i])
            delta = abs(change(in_order, i, j))
            if weights is not None:
                delta *= weights[better] * weights[worse]
            if by_distance and max(scores) != min(scores):
                delta /= 0.01 + abs(scores[better] - scores[worse])
            distance = sigma * (scores[better] - scores[worse])
            rho, other = 1.0 / (1.0 + math.exp(distance)), 1.0 / (1.0 + math.exp(-distance))  # other = 1 − ρ
            force, curve = sigma * delta * rho, sigma**2 * delta * rho * other
            lams[better] += force
            lams[worse] -= force
            hess[better] += curve
            hess[worse] += curve
            total += 2.0 * force
    factor = math.log2(1.0 + total) / total if by_total and total > 0 else 1.0
    return lams * factor * query_weight, hess * factor * query_weight


def ranknet_cost(labels: Sequence[float], scores: Sequence[float], sigma: float) -> float:
    """2005 equation 3 with P̄ = 1, added up over all pairs with different labels."""
    return math.fsum(
        math.log1p(math.exp(-sigma * (scores[i] - scores[j])))
        for i in range(len(labels))
        for j in range(len(labels))
        if labels[i] > labels[j]
    )


def lambda_loss_change(
    gain: Callable[[float], float], discount: Callable[[int], float], constant: float, mu: float
) -> Any:
    """NDCG-Loss2++'s weight of ranks i and j (from 0) in the place of a swap's gain.

    ``discount`` is of ranks from 1 on, before any cut-off.
    """

    def change(labels: Sequence[float], i: int, j: int) -> float:
        apart = abs(i - j)
        rho = abs(discount(i + 1) - discount(j + 1))
        delta = abs(discount(apart) - discount(apart + 1))
        return constant * abs(gain(labels[i]) - gain(labels[j])) * (rho + mu * delta)

    return change
