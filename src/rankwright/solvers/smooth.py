"""Smooth risks: a quasi-Newton method that stops on the duality gap.

    minimise  P(w) = ½|w|² + C R(w),  R convex with a gradient

By Fenchel's duality v = −C ∇R(w) is allowed in the dual, where it is worth

    D(v) = w·v − ½|v|² + C R(w),   so that   P(w) − D(v) = ½|w − v|² = ½|∇P(w)|².
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankwright.runtime.arrays import Floats
from rankwright.solvers.problem import Progress, Solution, Watch, objective

PATIENCE = 200
Risk = Callable[[Floats], tuple[float, Floats]]


def minimise_smooth(
    risk: Risk,
    n_features: int,
    C: float,
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
    state: Floats | None = None,
    watch: Watch | None = None,
) -> Solution:
    """Solve to a relative duality gap of ``tol``, or say why not; from ``state``, a w, if given.

    >>> square = lambda w: ((w[0] - 3.0) ** 2, np.array([2.0 * (w[0] - 3.0)]))
    >>> minimise_smooth(square, 1, 1.0, tol=1e-9).weights.round(6)
    array([2.])
    """
    from scipy.optimize import minimize

    progress = Progress(C, tol, max_iter, PATIENCE, watch)
    start = np.zeros(n_features) if state is None else state

    def primal(w: Floats) -> tuple[float, Floats]:
        value, gradient = risk(w)
        return objective(w, value, C), w + C * gradient

    def told(w: Floats, stuck: str = "") -> bool:
        value, gradient = primal(w)
        return progress.step(value, value - 0.5 * float(gradient @ gradient), w, stuck)

    def callback(xk: Floats) -> None:
        if told(xk):
            raise StopIteration

    if not told(start):
        options = {"maxiter": max_iter, "maxfun": 20 * max_iter, "ftol": 0.0, "gtol": 0.0, "maxcor": 20}
        found = minimize(primal, start, jac=True, method="L-BFGS-B", callback=callback, options=options)
        if not progress.ended:
            told(found.x, "the line search finds nothing lower")
    value, _ = risk(progress.weights)
    return Solution(
        progress.weights, C, progress.primal, progress.bound, np.array([value]), progress.steps,
        progress.message, progress.weights,
    )  # fmt: skip
