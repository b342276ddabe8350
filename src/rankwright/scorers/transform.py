"""Transforms: what happens to the features before a scorer's core sees them; frozen data in its file."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwright.runtime.arrays import Floats, Integers, Singles, feature_matrix
from rankwright.runtime.errors import InputError
from rankwright.scorers.arrays import StoredArrays, frozen


@dataclasses.dataclass(frozen=True, eq=False)
class Transform:
    """What happens to the features first."""

    kind: ClassVar[str]
    needs_queries: ClassVar[bool] = False
    """Whether a row's values depend on the other rows of its query, so that predicting needs ``qid``."""

    def __call__(self, features: Singles, offsets: Integers | None) -> NDArray[np.floating]:
        """The core's input; ``offsets`` bound the queries, for a transform that needs them."""
        raise NotImplementedError

    def check(self, n_features: int) -> None:
        """Refuse a scorer with another number of features."""

    def arrays(self) -> dict[str, Floats]:
        """What it needs, for the model file."""
        return {}

    @classmethod
    def from_arrays(cls, stored: StoredArrays, n_features: int) -> Self:
        """What ``arrays`` gave, checked, made whole again."""
        return cls()


@dataclasses.dataclass(frozen=True, eq=False)
class Unchanged(Transform):
    """The features as they are."""

    kind: ClassVar[str] = "none"

    def __call__(self, features: Singles, offsets: Integers | None) -> NDArray[np.floating]:
        """The features themselves."""
        return features


@dataclasses.dataclass(frozen=True, eq=False)
class Standardising(Transform):
    """(x − mean) / scale for each feature; a missing value counts as the mean.

    >>> Standardising([1.0], [2.0])(np.float32([[5], [np.nan]]), None)
    array([[2.],
           [0.]])
    """

    mean: Floats
    scale: Floats

    kind: ClassVar[str] = "standardise"

    def __init__(self, mean: ArrayLike, scale: ArrayLike):
        object.__setattr__(self, "mean", frozen(mean, "mean"))
        object.__setattr__(self, "scale", frozen(scale, "scale"))
        if self.mean.shape != self.scale.shape:
            raise InputError(
                f"there are {len(self.mean)} means and {len(self.scale)} scales; give one of each a feature"
            )
        if not (self.scale > 0).all():
            feature = int(np.flatnonzero(~(self.scale > 0))[0])
            raise InputError(f"feature {feature}: the scale is {self.scale[feature]:g}; scales are above 0")

    @classmethod
    def of(cls, X: ArrayLike) -> Self:
        """The transform that gives these features mean 0 and standard deviation 1; constant ones only mean 0.

        >>> Standardising.of([[1, 3], [5, 3]]).scale
        array([2., 1.])
        """
        features = feature_matrix(X)
        known = ~np.isnan(features)
        count = np.maximum(known.sum(axis=0), 1)
        values = np.where(known, features, np.float32(0))
        mean = values.sum(axis=0, dtype=np.float64) / count
        deviation = np.where(known, values - mean, 0.0)
        scale = np.sqrt((deviation**2).sum(axis=0) / count)
        return cls(mean, np.where(scale > 0, scale, 1.0))

    def __call__(self, features: Singles, offsets: Integers | None) -> NDArray[np.floating]:
        """Standardised features."""
        return np.where(np.isnan(features), 0.0, (features - self.mean) / self.scale)

    def check(self, n_features: int) -> None:
        """One mean a feature."""
        if len(self.mean) != n_features:
            raise InputError(f"the transform has {len(self.mean)} features and the scorer {n_features}")

    def arrays(self) -> dict[str, Floats]:
        """Mean and scale."""
        return {"mean": self.mean, "scale": self.scale}

    @classmethod
    def from_arrays(cls, stored: StoredArrays, n_features: int) -> Self:
        """Mean and scale of each feature."""
        return cls(stored.floats("mean", (n_features,)), stored.floats("scale", (n_features,)))


@dataclasses.dataclass(frozen=True, eq=False)
class QueryScaling(Transform):
    """Each feature scaled to [0, 1] within its query, after 2008 section 4.1; 0 where a query has one value.

    >>> QueryScaling()(np.float32([[2], [4], [7]]), np.array([0, 2, 3]))
    array([[0.],
           [1.],
           [0.]])
    """

    kind: ClassVar[str] = "query-scaling"
    needs_queries: ClassVar[bool] = True

    def __call__(self, features: Singles, offsets: Integers | None) -> NDArray[np.floating]:
        """Features scaled by query; a missing value stays missing."""
        assert offsets is not None
        values = features.astype(np.float64)
        lowest = np.fmin.reduceat(values, offsets[:-1], axis=0)
        span = np.fmax.reduceat(values, offsets[:-1], axis=0) - lowest
        sizes = np.diff(offsets)
        return (values - np.repeat(lowest, sizes, axis=0)) / np.repeat(
            np.where(span > 0, span, 1.0), sizes, axis=0
        )


UNCHANGED = Unchanged()
TRANSFORMS: tuple[type[Transform], ...] = (Unchanged, Standardising, QueryScaling)
