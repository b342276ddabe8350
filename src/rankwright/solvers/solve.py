"""One call for all solvers of planes."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwright.runtime.errors import InputError
from rankwright.solvers import cutting_plane as planes
from rankwright.solvers import frank_wolfe as blocks
from rankwright.solvers.problem import Problem, Progress, Solution, Watch, slacks_of

SOLVERS = ("n-slack", "1-slack", "frank-wolfe")
MANY_BLOCKS = 1000
"""Above so many blocks "auto" takes one slack in all: a plane of each would make the programmes too large."""


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
    same solver. ``watch`` is called at each step with its record and the best w so far.

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
    slacks = slacks_of(progress.weights, *problem.worst(progress.weights))
    return Solution(
        progress.weights, C, progress.primal, progress.bound, slacks, progress.steps, progress.message, state
    )


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
