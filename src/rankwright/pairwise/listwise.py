"""The smooth listwise cross-entropy, XE-NDCG (Bruch, 2021): a softmax over the documents of a query.

    ρ = softmax(s),    φᵢ = (gᵢ + Uᵢ) / Σ (g + U),    C = −Σ φᵢ ln ρᵢ,    ∂C/∂sᵢ = ρᵢ − φᵢ

with g what labels are worth to the measure and Uᵢ uniform in [0, 1), drawn anew each step (the paper's
2^l − γ is 2^l − 1 plus such a number). The Hessian H = diag(ρ) − ρρᵀ is full, and trees take a diagonal D,
ρ(1 − ρ); so the gradient is corrected by the next two terms of the series for what a Newton step would be:

    D H⁻¹ g = g + R D⁻¹ g + (R D⁻¹)² g + …,    R = D − H,  (R D⁻¹ x)ᵢ = ρᵢ Σ over j ≠ i of xⱼ / (1 − ρⱼ)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rankwright.measures.base import Floats, Singles
from rankwright.measures.ranking import Codes
from rankwright.pairwise.orderings import uniform
from rankwright.runtime.arrays import Integers
from rankwright.runtime.kernels import kernel, readonly

CORRECTIONS = 2
LEAST = 1e-15


class Listed(NamedTuple):
    """Queries, what each label's number is worth, the weights of documents (0: in no list) and queries."""

    offsets: Integers
    codes: Codes
    gains: Floats
    weights: Floats
    query_weights: Floats


def _list_types() -> Any:
    import numba as nb

    listed = nb.types.NamedTuple(
        (nb.int64[::1], nb.int32[::1], nb.float64[::1], nb.float64[::1], nb.float64[::1]), Listed
    )
    singles = nb.float32[::1]
    return nb.void(nb.uint64, readonly("float64"), listed, nb.int64, nb.int64, singles, singles)


@kernel(_list_types)
def list_gradients(
    seed: int, scores: Floats, listed: Listed, begin: int, end: int, gradients: Singles, hessians: Singles
) -> None:
    """Gradients and hessians of each query, written to its documents' rows; zeros where nothing counts."""
    longest = 0
    for q in range(begin, end):
        longest = max(longest, listed.offsets[q + 1] - listed.offsets[q])
    shares, slopes = np.empty(longest), np.empty(longest)
    for q in range(begin, end):
        a, b = listed.offsets[q], listed.offsets[q + 1]
        gradients[a:b] = np.float32(0)
        hessians[a:b] = np.float32(0)
        highest, worth = -np.inf, 0.0
        for i in range(a, b):
            if listed.weights[i] > 0.0:
                highest = max(highest, scores[i])
                worth += listed.gains[listed.codes[i]] * listed.weights[i]
        if worth == 0.0:
            continue
        # 1. What the model and the labels say of each document.
        total, wanted = 0.0, 0.0
        for i in range(a, b):
            power = listed.weights[i] * np.exp(scores[i] - highest) if listed.weights[i] > 0.0 else 0.0
            drawn = np.float64(uniform(seed, np.uint64(i)))
            slopes[i - a] = listed.weights[i] * (listed.gains[listed.codes[i]] + drawn)
            shares[i - a] = power
            total += power
            wanted += slopes[i - a]
        # 2. The slopes.
        for r in range(b - a):
            shares[r] /= total
            slopes[r] = shares[r] - slopes[r] / wanted
            gradients[a + r] = np.float32(slopes[r])
        # 3. What the other documents' steps make of them.
        for _ in range(CORRECTIONS):
            moved = 0.0
            for r in range(b - a):
                slopes[r] /= max(1.0 - shares[r], LEAST)
                moved += slopes[r]
            for r in range(b - a):
                slopes[r] = shares[r] * (moved - slopes[r])
                gradients[a + r] += np.float32(slopes[r])
        weight = listed.query_weights[q]
        for r in range(b - a):
            gradients[a + r] *= np.float32(weight)
            hessians[a + r] = np.float32(weight * shares[r] * (1.0 - shares[r]))
