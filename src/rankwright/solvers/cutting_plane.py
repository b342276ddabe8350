"""Cutting planes: solve over the planes met so far, meet the highest ones at the solution, and again.

With one slack a block (Tsochantaridis and others 2005) each step may bring a plane of every block: few steps,
larger quadratic programmes. With one slack in all (Joachims, Finley and Yu 2009) the blocks' planes are added
up to one: small programmes, more steps the larger C is. Both are this loop; the second sees the blocks
through ``OneSlack``.
"""

from __future__ import annotations

import numpy as np

from rankwright.runtime.arrays import Floats, Integers
from rankwright.solvers.problem import Problem, Progress, objective, slacks_of
from rankwright.solvers.quadratic import multipliers

IDLE_STEPS = 10
"""Planes that have carried nothing for so many steps leave the working set."""
CARRIES = 1e-7
"""A plane carries something if its α is above this part of its block's limit."""
ROUNDING = 1e-10
PATIENCE = 200


class OneSlack:
    """A problem's blocks as one, whose planes are the sums of theirs.

    The sum of the highest planes above 0 is the highest sum, so one call of the oracle gives it.
    """

    def __init__(self, problem: Problem):
        self._problem = problem
        self.shares: Floats = np.ones(1)
        self.n_features = problem.n_features

    def worst(self, weights: Floats, blocks: Integers | None = None) -> tuple[Floats, Floats]:
        """One plane."""
        losses, vectors = self._problem.worst(weights)
        counted = np.where(slacks_of(weights, losses, vectors) > 0, self._problem.shares, 0.0)
        return np.array([counted @ losses]), (counted @ vectors)[None]


class WorkingSet:
    """The planes met so far that carry something, or did a short while ago; good at any C."""

    def __init__(self, n_features: int):
        self.vectors: Floats = np.zeros((0, n_features))
        self.losses: Floats = np.zeros(0)
        self.blocks: Integers = np.zeros(0, np.int64)
        self._idle: Integers = np.zeros(0, np.int64)

    def add(self, losses: Floats, vectors: Floats, blocks: Integers) -> None:
        """One more plane of each of these blocks."""
        self.vectors = np.concatenate([self.vectors, vectors])
        self.losses = np.concatenate([self.losses, losses])
        self.blocks = np.concatenate([self.blocks, blocks])
        self._idle = np.concatenate([self._idle, np.zeros(len(blocks), np.int64)])

    def solve(self, limits: Floats) -> tuple[Floats, float]:
        """The best w over these planes, and its D; planes idle for long are dropped."""
        alphas = multipliers(self.vectors, self.losses, self.blocks, limits)
        weights = alphas @ self.vectors
        dual = float(alphas @ self.losses - 0.5 * (weights @ weights))
        self._idle = np.where(alphas > CARRIES * limits[self.blocks], 0, self._idle + 1)
        kept = self._idle < IDLE_STEPS
        self.vectors, self.losses = self.vectors[kept], self.losses[kept]
        self.blocks, self._idle = self.blocks[kept], self._idle[kept]
        return weights, dual

    def slacks(self, weights: Floats, n_blocks: int) -> Floats:
        """ξ over these planes alone."""
        slacks = np.zeros(n_blocks)
        np.maximum.at(slacks, self.blocks, self.losses - self.vectors @ weights)
        return slacks


def cutting_plane(problem: Problem, progress: Progress, planes: WorkingSet | None = None) -> WorkingSet:
    """Solve by cutting planes; the working set at the end, from which another C may start."""
    planes = WorkingSet(problem.n_features) if planes is None else planes
    shares = problem.shares
    limits = progress.C * shares
    weights, dual = np.zeros(problem.n_features), 0.0
    if len(planes.losses):
        weights, dual = planes.solve(limits)
    while True:
        # 1. The highest plane of each block.
        losses, vectors = problem.worst(weights)
        slacks = slacks_of(weights, losses, vectors)
        primal = objective(weights, float(shares @ slacks), progress.C)
        # 2. Those that the working set has not met.
        known = planes.slacks(weights, len(shares))
        new = np.flatnonzero((shares > 0) & (slacks > known + ROUNDING * (1.0 + known)))
        stuck = "" if len(new) else "no plane is left that rounding could tell from those met"
        if progress.step(primal, dual, weights, stuck):
            return planes
        # 3. The best w over all of them.
        planes.add(losses[new], vectors[new], new)
        weights, dual = planes.solve(limits)
