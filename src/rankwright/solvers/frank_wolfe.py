"""Block-coordinate Frank-Wolfe (Lacoste-Julien and others 2013) with pairwise steps (Osokin and others 2016).

The dual's α_b of a block is spread over the planes that it has met, its corners; the truth's (0, 0) is one.
A step takes one block, asks for its highest corner s at w, and moves weight to it from the lowest corner v
that has any, as far as is best (line search in closed form):

    γ = min(α_v, ((Δ_s − w·a_s) − (Δ_v − w·a_v)) / |a_s − a_v|²)

so D never falls. Blocks are drawn in proportion to their gaps when last seen. w is a sum of corners; beside
it stands its average over steps, whose primal is often the lower one at first.
"""

from __future__ import annotations

import numpy as np

from rankwright.runtime.arrays import Floats, Integers
from rankwright.solvers.problem import Problem, Progress, objective, slacks_of

PATIENCE = 60
EVENLY = 0.1
"""The part of the draws that is even over blocks, since gaps seen long ago may be wrong."""
CACHED_STEPS = 4
"""Steps among the corners met, which need no oracle, for each one with it."""


class Corners:
    """The corners that a block has met and their α; the first is the truth's."""

    def __init__(self, limit: float, n_features: int):
        self.losses: Floats = np.zeros(1)
        self.vectors: Floats = np.zeros((1, n_features))
        self.alphas: Floats = np.full(1, limit)

    def scale(self, limit: float) -> None:
        """The same α in proportion, for another C."""
        self.alphas *= limit / self.alphas.sum()

    def heights(self, weights: Floats) -> Floats:
        """Δ − w·a of each corner."""
        return self.losses - self.vectors @ weights

    def meet(self, loss: float, vector: Floats) -> int:
        """The corner's number; one not met before is added, and those without weight give way."""
        same = np.flatnonzero((self.losses == loss) & (self.vectors == vector).all(axis=1))
        if len(same):
            return int(same[0])
        if len(self.losses) >= 8 and np.count_nonzero(self.alphas) < len(self.losses) // 2:
            kept = self.alphas > 0
            kept[0] = True
            self.losses, self.vectors, self.alphas = self.losses[kept], self.vectors[kept], self.alphas[kept]
        self.losses = np.append(self.losses, loss)
        self.vectors = np.concatenate([self.vectors, vector[None]])
        self.alphas = np.append(self.alphas, 0.0)
        return len(self.losses) - 1

    def gap(self, weights: Floats, best: float) -> float:
        """What this block adds to P − D: Σ α (highest − own height)."""
        return float(self.alphas @ (best - self.heights(weights)))

    def move(self, weights: Floats, to: int | None = None) -> None:
        """A pairwise step to this corner, or to the highest of those met; w follows in place."""
        heights = self.heights(weights)
        to = int(np.argmax(heights)) if to is None else to
        away = int(np.argmin(np.where(self.alphas > 0, heights, np.inf)))
        way = self.vectors[to] - self.vectors[away]
        rise, square = heights[to] - heights[away], way @ way
        if rise <= 0.0:
            return
        size = self.alphas[away] if square * self.alphas[away] <= rise else rise / square
        self.alphas[away] -= size
        self.alphas[to] += size
        weights += size * way


def frank_wolfe(
    problem: Problem, progress: Progress, random: np.random.Generator, corners: list[Corners] | None = None
) -> list[Corners]:
    """Solve by Frank-Wolfe over blocks; the corners at the end, from which another C may start."""
    shares, C = problem.shares, progress.C
    active = np.flatnonzero(shares > 0)
    if corners is None:
        corners = [Corners(C * share, problem.n_features) for share in shares]
    for block in active:
        corners[block].scale(C * shares[block])
    average, steps = np.zeros(problem.n_features), 0
    weights = _sum(corners, active, problem.n_features)
    while True:
        # 1. A pass over all blocks: P at w and at its average, D, and every block's gap.
        average = weights if steps == 0 else average
        losses, vectors = problem.worst(weights)
        slacks = slacks_of(weights, losses, vectors)
        primals = [objective(weights, float(shares @ slacks), C)]
        if steps:
            primals.append(_primal(problem, average, C))
        dual = sum(float(corners[b].alphas @ corners[b].losses) for b in active) - 0.5 * (weights @ weights)
        best = int(np.argmin(primals))
        if progress.step(primals[best], float(dual), (weights, average)[best]):
            return corners
        gaps = np.array([max(0.0, corners[b].gap(weights, slacks[b])) for b in active])
        # 2. As many steps as there are blocks, more of them where the gap is.
        for block in active[_draws(random, gaps)]:
            own = corners[block]
            [loss], [vector] = problem.worst(weights, np.array([block]))
            to = own.meet(float(loss), vector) if loss - vector @ weights > 0 else 0
            own.move(weights, to)
            for _ in range(CACHED_STEPS):
                own.move(weights)
            steps += 1
            average = average + 2.0 / (steps + 1.0) * (weights - average)
        weights = _sum(corners, active, problem.n_features)  # without the rounding of many steps


def _sum(corners: list[Corners], active: Integers, n_features: int) -> Floats:
    total = np.zeros(n_features)
    for block in active:
        total += corners[block].alphas @ corners[block].vectors
    return total


def _primal(problem: Problem, weights: Floats, C: float) -> float:
    losses, vectors = problem.worst(weights)
    return objective(weights, float(problem.shares @ slacks_of(weights, losses, vectors)), C)


def _draws(random: np.random.Generator, gaps: Floats) -> Integers:
    n, total = len(gaps), gaps.sum()
    chances = np.full(n, 1.0 / n) if total <= 0 else EVENLY / n + (1 - EVENLY) * gaps / total
    return random.choice(n, n, p=chances / chances.sum())
