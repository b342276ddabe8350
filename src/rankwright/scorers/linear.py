"""The linear core: bias + Σ weight · value."""

from __future__ import annotations

import dataclasses
import operator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from rankwright.runtime.arrays import Floats
from rankwright.runtime.errors import InputError
from rankwright.scorers.arrays import StoredArrays, frozen
from rankwright.scorers.base import Scorer


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class LinearScorer(Scorer):
    """A weighted sum of the features. A feature of weight 0 is not read, so it may be missing.

    >>> LinearScorer([0.5, -1.0], bias=2.0).predict([[1, 2], [3, 0]])
    array([0.5, 3.5])
    """

    weights: Floats
    bias: float = 0.0

    kind: ClassVar[str] = "linear"

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", frozen(self.weights, "weights"))
        object.__setattr__(self, "bias", float(self.bias))
        if not np.isfinite(self.bias):
            raise InputError(f"bias is {self.bias}; give a finite number")
        super().__post_init__()

    @classmethod
    def feature(cls, index: int, n_features: int, **about: Any) -> Self:
        """One feature as the score, counted from 0.

        >>> LinearScorer.feature(1, 2).predict([[1, 2], [3, 0]])
        array([2., 0.])
        """
        if not 0 <= operator.index(index) < n_features:
            raise InputError(f"there is no feature {index}; there are {n_features} features, counted from 0")
        return cls(np.eye(1, n_features, index)[0], **about)

    @property
    def n_features(self) -> int:
        """One a weight."""
        return len(self.weights)

    def _score(self, values: NDArray[np.floating]) -> Floats:
        used = np.flatnonzero(self.weights)
        terms = np.empty((len(values), 1 + len(used)))
        terms[:, 0] = self.bias
        read = values if len(used) == self.n_features else values[:, used]
        np.multiply(read, self.weights[used], out=terms[:, 1:])
        # Unlike a matrix product or a sum, accumulate adds from left to right whatever the array's shape.
        return np.add.accumulate(terms, axis=1)[:, -1]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Weights and bias."""
        return {"weights": self.weights, "bias": np.array(self.bias)}

    @classmethod
    def from_arrays(cls, stored: StoredArrays, n_features: int, **about: Any) -> Self:
        """One weight a feature, and the bias."""
        return cls(stored.floats("weights", (n_features,)), float(stored.floats("bias", ())), **about)
