"""The quadratic core: Σᵢ vᵢ xᵢ + Σᵢ≤ⱼ Vᵢⱼ xᵢ xⱼ, whose products are made as they are needed and never stored.

It is a linear model of the features and of every quadratic combination of them (2005 section 6.2: 569
features make 162,734). The weights are those of the features, then those of x₁x₁, x₁x₂, …, x₂x₂, x₂x₃, …
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from rankwright.runtime.arrays import Floats
from rankwright.runtime.errors import InputError
from rankwright.runtime.kernels import kernel
from rankwright.scorers.arrays import StoredArrays, frozen
from rankwright.scorers.base import Scorer

SUMS = {"reassoc", "contract", "nsz"}


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class QuadraticScorer(Scorer):
    """A weighted sum of the features and of the products of every two of them.

    >>> QuadraticScorer([1.0, 0.0, 0.0, 2.0, -1.0]).predict([[3, 1], [1, 2]])
    array([8., 1.])
    """

    weights: Floats

    kind: ClassVar[str] = "quadratic"

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", frozen(self.weights, "weights"))
        if combinations(self.n_features) != len(self.weights):
            raise InputError(
                f"there are {len(self.weights)} weights; d features and their products take d + d (d + 1) / 2"
            )
        super().__post_init__()

    @property
    def n_features(self) -> int:
        """The d for which there are d + d (d + 1) / 2 weights."""
        return round((np.sqrt(9 + 8 * len(self.weights)) - 3) / 2)

    def _score(self, values: NDArray[np.floating]) -> Floats:
        return linear_scores(np.ascontiguousarray(values, np.float64), self.weights.copy())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The weights."""
        return {"weights": self.weights}

    @classmethod
    def from_arrays(cls, stored: StoredArrays, n_features: int, **about: Any) -> Self:
        """As many weights as features and products."""
        return cls(stored.floats("weights", (combinations(n_features),)), **about)


def combinations(n_features: int) -> int:
    """How many features and products of two features there are.

    >>> combinations(569)
    162734
    """
    return n_features + n_features * (n_features + 1) // 2


@kernel(fastmath=SUMS)
def row_score(row: NDArray[Any], weights: Floats) -> float:
    """The weighted sum of a row's features and, if there are weights for them, of their products."""
    d = row.size
    total = 0.0
    for i in range(d):
        total += weights[i] * row[i]
    if weights.size == d:
        return total
    at = d
    for i in range(d):
        part = 0.0
        for j in range(d - i):
            part += weights[at + j] * row[i + j]
        total += row[i] * part
        at += d - i
    return total


@kernel(fastmath=SUMS)
def add_row(amount: float, row: NDArray[Any], weights: Floats) -> None:
    """Add a row's features, and their products if there are weights for them, to the weights."""
    d = row.size
    for i in range(d):
        weights[i] += amount * row[i]
    if weights.size == d:
        return
    at = d
    for i in range(d):
        scaled = amount * row[i]
        for j in range(d - i):
            weights[at + j] += scaled * row[i + j]
        at += d - i


@kernel()
def score_rows(rows: NDArray[Any], weights: Floats, out: Floats) -> None:
    """The score of each row."""
    for r in range(len(rows)):
        out[r] = row_score(rows[r], weights)


def linear_scores(rows: NDArray[Any], weights: Floats) -> Floats:
    """The score of each row, from the weights of its features (and of their products, if there are any).

    >>> linear_scores(np.array([[1.0, 2.0]]), np.array([3.0, 4.0]))
    array([11.])
    """
    out = np.empty(len(rows))
    score_rows(rows, weights, out)
    return out
