"""What is solved, and the certificate of how well.

    minimise  P(w) = ½|w|² + C Σ over blocks b of r_b ξ_b,       ξ_b = max(0, max over y of Δ_by − w·a_by)

with r_b the share of a block and (Δ_by, a_by) its planes, so many that nobody lists them: an oracle gives the
highest one at w. 2008's equation 1 is this with one block a query, r_q = 1/|Q| and a_qy = δφ. Its dual,

    maximise  D(α) = Σ α_by Δ_by − ½|Σ α_by a_by|²      where  α ≥ 0,  Σ over y of α_by ≤ C r_b

bounds P from below at any α that it allows, so P(w) − D(α) ≥ 0 certifies w, whoever found α.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from rankwright.runtime.arrays import Floats, Integers
from rankwright.runtime.errors import InputError

Record = dict[str, Any]
Watch = Callable[[Record], None]

CROSSING = 1e-6
"""How far rounding may put D above P, as a part of P."""
FALLING = 0.99
"""A gap that is not below this part of what it was has not fallen."""


class Problem(Protocol):
    """Blocks of planes behind an oracle."""

    @property
    def shares(self) -> Floats:
        """r: what a block's slack counts; a block of share 0 takes no part."""
        ...

    @property
    def n_features(self) -> int:
        """The length of w."""
        ...

    def worst(self, weights: Floats, blocks: Integers | None = None) -> tuple[Floats, Floats]:
        """The highest plane at w of each block, or of these: Δ, and a in rows."""
        ...


@dataclasses.dataclass(frozen=True)
class Solution:
    """The best w, its P and slacks, the best D, and how it ended.

    ``message`` is a sentence where the gap was not reached, else empty; ``state`` is what the solver may
    start from at another C. ``flat`` tells that w = 0 is as good to within the gap.
    """

    weights: Floats
    C: float
    primal: float
    dual: float
    slacks: Floats
    steps: int
    message: str
    state: Any
    flat: bool = False

    @property
    def gap(self) -> float:
        """P − D."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """The gap as a part of P."""
        return relative(self.primal, self.dual)


def relative(primal: float, dual: float) -> float:
    """(P − D) / P, and 0 where both are 0.

    >>> relative(2.0, 1.5), relative(0.0, 0.0)
    (0.25, 0.0)
    """
    return (primal - dual) / primal if primal > 0 else 0.0


class Progress:
    """The best P and D so far, a record a step, and when to end."""

    def __init__(self, C: float, tol: float, max_iter: int, patience: int, watch: Watch | None = None):
        self.C, self.tol, self.max_iter, self.patience, self.watch = C, tol, max_iter, patience, watch
        self.primal, self.dual = np.inf, 0.0  # α = 0 is allowed
        self.weights: Floats = np.zeros(0)
        self.steps, self.message, self.ended = 0, "", False
        self._fell, self._gap = 0, np.inf

    @property
    def bound(self) -> float:
        """D, and no more than P where rounding is all that is between them."""
        return min(self.dual, self.primal)

    def step(self, primal: float, dual: float, weights: Floats, stuck: str = "") -> bool:
        """Take note of a step; whether to end after it. ``stuck`` says why there can be no further one."""
        if not np.isfinite(primal):
            raise InputError(
                f"step {self.steps + 1}: the objective is {primal}; an oracle gave a loss or plane that is "
                "not finite, or the features are too large"
            )
        self.steps += 1
        self.dual = max(self.dual, dual)
        if primal < self.primal:
            self.primal, self.weights = primal, weights.copy()
        gap = relative(self.primal, self.dual)
        if gap < -CROSSING:
            raise InputError(
                f"step {self.steps}: the dual bound {self.dual:g} lies above the objective {self.primal:g}; "
                "the oracle did not give the highest planes"
            )
        gap = max(gap, 0.0)
        if gap < FALLING * self._gap:
            self._fell, self._gap = self.steps, gap
        self.ended = self._ends(gap, stuck)
        if self.watch is not None:
            record: Record = {
                "C": self.C,
                "step": self.steps,
                "primal": primal,
                "dual": self.dual,
                "gap": gap,
            }
            if self.ended:
                record["ended"] = self.message or "gap reached"
            self.watch(record)
        return self.ended

    def _ends(self, gap: float, stuck: str) -> bool:
        if gap <= self.tol:
            return True
        if stuck:
            why = stuck
        elif self.steps >= self.max_iter:
            why = f"max_iter={self.max_iter} ended it"
        elif self.steps - self._fell >= self.patience:
            why = f"the gap has not fallen by 1 % in {self.patience} steps"
        else:
            return False
        self.message = (
            f"at C={self.C:g} the relative duality gap is {gap:.2g} after {self.steps} steps, "
            f"above tol={self.tol:g}: {why}"
        )
        return True


def slacks_of(weights: Floats, losses: Floats, vectors: Floats) -> Floats:
    """ξ at w: by how much each highest plane is above 0, the plane of the truth itself.

    >>> slacks_of(np.array([1.0]), np.array([0.5, 2.0]), np.array([[1.0], [1.0]]))
    array([0., 1.])
    """
    return np.maximum(0.0, losses - vectors @ weights)


def objective(weights: Floats, risk: float, C: float) -> float:
    """P, the risk being Σ r ξ.

    >>> objective(np.array([2.0]), 0.5, 10.0)
    7.0
    """
    return float(0.5 * (weights @ weights) + C * risk)
