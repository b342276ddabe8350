"""Nyström's approximation: a reproducing-kernel space in as many features as there are centres.

With K the kernel matrix of the centres z,

    φ(x) = K^−½ (k(x, z₁), …, k(x, z_c)),       f(x) = w·φ(x),       ‖f‖² = |w|²,       α = K^−½ w

so a linear learner in φ is one in the space, as far as the centres span it.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Self

import numpy as np

from rankwright.learners.base import generator
from rankwright.runtime.arrays import Floats, Singles
from rankwright.runtime.errors import InputError
from rankwright.scorers import KernelScorer
from rankwright.scorers.kernel import check_kernel, kernel_matrix

NEGLIGIBLE = 1e-10
"""Directions in which the centres are spread by less than this share of their widest are left out."""
ROWS_AT_ONCE = 4096


@dataclasses.dataclass(frozen=True, eq=False)
class Nystroem:
    """Centres, the kernel, and K^−½ in the directions in which K is more than rounding."""

    centres: Floats
    function: str
    gamma: float
    degree: int
    whitening: Floats

    @classmethod
    def of(cls, learner: Any, rows: Singles) -> Self:
        """As the learner's ``kernel``, ``gamma``, ``degree``, ``n_components`` and ``random_state`` say."""
        gamma = 1.0 / max(1, rows.shape[1]) if learner.gamma is None else learner.gamma
        check_kernel(learner.kernel, gamma, learner.degree)
        n = learner.n_components
        if not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 1:
            raise InputError(f"n_components is {n!r}; give a whole number above 0")
        if n < len(rows):
            rows = rows[np.sort(generator(learner.random_state).choice(len(rows), n, replace=False))]
        centres = rows.astype(np.float64)
        values, vectors = np.linalg.eigh(
            kernel_matrix(centres, centres, learner.kernel, gamma, learner.degree)
        )
        kept = values > NEGLIGIBLE * values[-1]
        return cls(centres, learner.kernel, gamma, learner.degree, vectors[:, kept] / np.sqrt(values[kept]))

    @property
    def width(self) -> int:
        """How many features there are: at most as many as centres."""
        return int(self.whitening.shape[1])

    def features(self, rows: Singles) -> Floats:
        """φ of each row; give ``ROWS_AT_ONCE`` of them at a time."""
        return kernel_matrix(rows, self.centres, self.function, self.gamma, self.degree) @ self.whitening

    def scorer(self, weights: Floats, **about: Any) -> KernelScorer:
        """f, for w in this space."""
        return KernelScorer(
            self.centres, self.whitening @ weights, self.function, self.gamma, self.degree, **about
        )
