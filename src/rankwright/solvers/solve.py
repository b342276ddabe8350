"""One call for all solvers of planes."""

from __future__ import annotations

import bisect
from typing import Any

import numpy as np

from rankwright.runtime.arrays import Floats
from rankwright.runtime.errors import InputError
from rankwright.solvers import cutting_plane as planes
from rankwright.solvers import frank_wolfe as blocks
from rankwright.solvers.problem import (
    Problem,
    Progress,
    Solution,
    Watch,
    objective,
    relative,
    slacks_of,
)

SOLVERS = ("n-slack", "1-slack", "frank-wolfe")
MANY_BLOCKS = 1000
"""Above so many blocks "auto" takes one slack in all: a plane of each would make the programmes too large."""

HALVINGS = 60


def solve(
    problem: Problem,
    C: float,
    *,
    solver: str = "auto",
    tol: float = 1e-3,
    max_iter: int = 1000,
    random: np.random.Generator | None = None,
    state: Any = None,
    watch: Watch | None = None,
) -> Solution:
    """Solve to a relative duality gap of ``tol``, or say why not.

    ``solver`` is "n-slack" or "1-slack" (cutting planes), "frank-wolfe" (a step is a pass over the blocks),
    or "auto": the first unless there are many blocks. ``state`` is that of a solution at another C, by the
    same solver. ``watch`` is called with the record of each step.

    >>> class Hinge:  # one block with the planes 0 and 1 − 2w
    ...     shares, n_features = np.ones(1), 1
    ...     def worst(self, weights, blocks=None):
    ...         return np.ones(1), np.array([[2.0]])
    >>> solve(Hinge(), 10.0).weights.round(6)
    array([0.5])
    """
    kind = chosen(solver, int((problem.shares > 0).sum()))
    patience = blocks.PATIENCE if kind == "frank-wolfe" else planes.PATIENCE
    progress = Progress(C, tol, max_iter, patience, watch)
    if kind == "frank-wolfe":
        state = blocks.frank_wolfe(problem, progress, random or np.random.default_rng(0), state)
    else:
        state = planes.cutting_plane(
            planes.OneSlack(problem) if kind == "1-slack" else problem, progress, state
        )
    weights, flat = progress.weights, False
    if not progress.message:
        weights, flat = leave_zero(problem, progress)
    slacks = slacks_of(weights, *problem.worst(weights))
    primal = objective(weights, float(problem.shares @ slacks), C)
    dual = min(progress.dual, primal)
    return Solution(weights, C, primal, dual, slacks, progress.steps, progress.message, state, flat)


def leave_zero(problem: Problem, progress: Progress) -> tuple[Floats, bool]:
    """The solution; and where w = 0 is one as well, the best of those that are next to it.

    Some risks stay within the gap of P(0) at any C (2008 section 4.2 finds them close to w = 0, "but,
    luckily, not quite"). All w that are small enough solve these, whatever their direction. The one to take
    is that in which the risk falls at first, w = tΣ r_b a_b with the planes at 0, which is also where the
    solution goes as C goes to 0; t as large as the gap allows, C over a power of two.
    """
    zero = np.zeros(problem.n_features)
    losses, vectors = problem.worst(zero)
    slacks = slacks_of(zero, losses, vectors)
    if relative(objective(zero, float(problem.shares @ slacks), progress.C), progress.dual) > progress.tol:
        return progress.weights, False
    way = progress.C * (np.where(slacks > 0, problem.shares, 0.0) @ vectors)

    def solves(weights: Floats) -> bool:
        slacks = slacks_of(weights, *problem.worst(weights))
        primal = objective(weights, float(problem.shares @ slacks), progress.C)
        return relative(primal, progress.dual) <= progress.tol

    # P is convex and 0 solves, so all that is shorter than a solution on this way is one.
    halvings = bisect.bisect_left(range(HALVINGS), True, key=lambda halvings: solves(0.5**halvings * way))
    return (0.5**halvings * way if halvings < HALVINGS else zero), True


def chosen(solver: str, n_blocks: int) -> str:
    """The solver of this name; which one it is, for "auto".

    >>> chosen("auto", 100), chosen("auto", 100_000)
    ('n-slack', '1-slack')
    """
    if solver == "auto":
        return SOLVERS[n_blocks > MANY_BLOCKS]
    if solver not in SOLVERS:
        raise InputError(f"there is no solver {solver!r}; there are {', '.join(SOLVERS)} and auto")
    return solver
