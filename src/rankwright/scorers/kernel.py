"""The kernel core: a sum of kernel functions about centres (2005 equation 18).

f(x) = Σᵢ αᵢ k(x, zᵢ)       k(x, z) = exp(−γ |x − z|²)  or  (γ x·z + 1)^degree
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwright.runtime.arrays import Floats
from rankwright.runtime.errors import InputError
from rankwright.scorers.arrays import StoredArrays, frozen
from rankwright.scorers.base import Scorer

KERNELS = ("rbf", "polynomial")
HIGHEST_DEGREE = 20


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class KernelScorer(Scorer):
    """Kernel functions about ``centres`` (one a row), weighed by ``coefficients`` and added up.

    >>> KernelScorer([[0.0], [1.0]], [1.0, 1.0], "polynomial", degree=2).predict([[1]])
    array([5.])
    """

    centres: ArrayLike
    coefficients: Floats
    function: str = "rbf"
    gamma: float = 1.0
    degree: int = 3

    kind: ClassVar[str] = "kernel"

    def __post_init__(self) -> None:
        centres = np.array(self.centres, dtype=np.float64)
        object.__setattr__(self, "coefficients", frozen(self.coefficients, "coefficients"))
        if centres.ndim != 2 or len(centres) != len(self.coefficients):
            raise InputError(
                f"the centres have shape {centres.shape} for {len(self.coefficients)} coefficients; "
                "give one row a coefficient"
            )
        if not np.isfinite(centres).all():
            raise InputError("the centres are not all finite")
        check_kernel(self.function, self.gamma, self.degree)
        centres.flags.writeable = False
        object.__setattr__(self, "centres", centres)
        super().__post_init__()

    @property
    def n_features(self) -> int:
        """As many as a centre has."""
        return int(np.shape(self.centres)[1])

    def _score(self, values: NDArray[np.floating]) -> Floats:
        lines = kernel_matrix(values, np.asarray(self.centres), self.function, self.gamma, self.degree)
        return np.einsum("ij,j->i", lines, self.coefficients)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Centres and coefficients, and which kernel."""
        return {
            "centres": np.asarray(self.centres),
            "coefficients": self.coefficients,
            "function": np.array(KERNELS.index(self.function), np.int64),
            "gamma": np.array(self.gamma, np.float64),
            "degree": np.array(self.degree, np.int64),
        }

    @classmethod
    def from_arrays(cls, stored: StoredArrays, n_features: int, **about: Any) -> Self:
        """One coefficient a centre."""
        n = (stored.shape("coefficients") or (0,))[0]
        function = int(stored.take("function", np.int64, ()))
        if not 0 <= function < len(KERNELS):
            raise InputError(f"its kernel is number {function}, which there is not")
        return cls(
            stored.floats("centres", (n, n_features)),
            stored.floats("coefficients", (n,)),
            KERNELS[function],
            float(stored.floats("gamma", ())),
            int(stored.take("degree", np.int64, ())),
            **about,
        )


def kernel_matrix(rows: NDArray[Any], centres: Floats, function: str, gamma: float, degree: int) -> Floats:
    """k(x, z) for each row x and each centre z.

    Products are made by ``einsum``, which, unlike a matrix product, gives a row the same bits in any block.
    """
    x = np.ascontiguousarray(rows, dtype=np.float64)
    products = np.einsum("ij,kj->ik", x, centres)
    if function == "polynomial":
        return (gamma * products + 1.0) ** degree
    squares = np.einsum("ij,ij->i", x, x)[:, None] + np.einsum("ij,ij->i", centres, centres)
    return np.exp(-gamma * np.maximum(squares - 2.0 * products, 0.0))


def check_kernel(function: Any, gamma: Any, degree: Any) -> None:
    """Refuse a kernel that there is not."""
    if function not in KERNELS:
        raise InputError(f"there is no kernel {function!r}; there are {', '.join(KERNELS)}")
    if not isinstance(gamma, int | float) or not 0 < gamma < np.inf:
        raise InputError(f"gamma is {gamma!r}; it is a number above 0")
    if not isinstance(degree, int) or not 1 <= degree <= HIGHEST_DEGREE:
        raise InputError(f"degree is {degree!r}; it is a whole number from 1 to {HIGHEST_DEGREE}")
