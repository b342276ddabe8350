"""The quadratic programmes of cutting planes by three solvers: Clarabel, which is used, DAQP and quadprog.

    python -m benchmarks.quadratic_programmes [--ohsumed FOLDER]

The programmes are those that fits meet on the way (SVMNDCG and SVMAUC, C of 1 and 100, with one slack a
query and with one in all), on data of OHSUMED's shape, or on OHSUMED itself. The two others are given the
dual. Milliseconds of the processor for a programme, and by how many digits the least exact one reaches the
highest dual value that any of the three found.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import daqp
import numpy as np
import quadprog
from threadpoolctl import threadpool_limits

import rankwright as rw
from benchmarks.common import arguments, table, write_json
from benchmarks.max_margin import drawn, ohsumed
from rankwright.solvers import cutting_plane
from rankwright.solvers.quadratic import multipliers

Programme = tuple[Any, Any, Any, Any]
RIDGE = 1e-10
"""What is added to the diagonal, which these two need to be positive definite, as a part of its mean."""


def definite(vectors: Any) -> Any:
    """The square matrix of the dual."""
    square = vectors @ vectors.T
    square[np.diag_indices(len(square))] += RIDGE * np.trace(square) / len(square)
    return square


def by_daqp(vectors: Any, losses: Any, blocks: Any, limits: Any) -> Any:
    """α by an active-set solver."""
    sums = (blocks == np.arange(len(limits))[:, None]).astype(float)
    upper = np.concatenate([limits[blocks], limits])
    lower = np.concatenate([np.zeros(len(losses)), np.full(len(limits), -1e30)])
    return daqp.solve(definite(vectors), -losses, sums, upper, lower, np.zeros(len(upper), np.int32))[0]


def by_quadprog(vectors: Any, losses: Any, blocks: Any, limits: Any) -> Any:
    """α by Goldfarb and Idnani's method."""
    n = len(losses)
    sums = (blocks == np.arange(len(limits))[:, None]).astype(float)
    above = np.concatenate([np.eye(n), -sums]).T
    return quadprog.solve_qp(definite(vectors), losses, above, np.append(np.zeros(n), -limits))[0]


SOLVERS: dict[str, Callable[..., Any]] = {
    "Clarabel": multipliers,
    "DAQP": by_daqp,
    "quadprog": by_quadprog,
}


def met(queries: rw.QuerySet, learner: Any) -> list[Programme]:
    """The programmes of a fit."""
    found: list[Programme] = []

    def noting(vectors: Any, losses: Any, blocks: Any, limits: Any) -> Any:
        found.append((vectors.copy(), losses.copy(), blocks.copy(), limits.copy()))
        return multipliers(vectors, losses, blocks, limits)

    cutting_plane.multipliers = noting
    try:
        learner.fit(queries)
    finally:
        cutting_plane.multipliers = multipliers
    return found


def solved(solve: Callable[..., Any], programme: Programme) -> tuple[float, float]:
    """The dual value of what a solver finds, made to keep to its limits, and its seconds."""
    vectors, losses, blocks, limits = programme
    used, members = np.unique(blocks, return_inverse=True)
    begin = time.process_time()
    try:
        alphas = solve(vectors, losses, members, limits[used])
    except ValueError:
        alphas = np.zeros(len(losses))
    seconds = time.process_time() - begin
    alphas = np.where(np.isfinite(alphas), np.maximum(alphas, 0.0), 0.0)
    sums = np.bincount(members, alphas, len(used))
    alphas *= np.where(sums > limits[used], limits[used] / np.maximum(sums, 1e-300), 1.0)[members]
    weights = alphas @ vectors
    return float(alphas @ losses - 0.5 * weights @ weights), seconds


def compared(slacks: str, programmes: list[Programme]) -> list[dict[str, Any]]:
    """A row a solver."""
    found = {name: [solved(solve, each) for each in programmes] for name, solve in SOLVERS.items()}
    best = np.max([[dual for dual, _ in each] for each in found.values()], axis=0)
    sizes = [len(each[1]) for each in programmes]
    rows = []
    for name, each in found.items():
        missed = (best - np.array([dual for dual, _ in each])) / best
        milliseconds = 1000 * np.array([seconds for _, seconds in each])
        rows.append(
            {
                "slacks": slacks,
                "solver": name,
                "programmes": len(sizes),
                "planes": f"{min(sizes)} to {max(sizes)}",
                "ms, median": float(np.median(milliseconds)),
                "ms, worst": float(milliseconds.max()),
                "digits, worst": float(-np.log10(max(missed.max(), 1e-16))),
            }
        )
    return rows


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--ohsumed", metavar="FOLDER", help="the five parts of OHSUMED, S1.txt to S5.txt")
    given = parser.parse_args()
    queries = ohsumed(Path(given.ohsumed)) if given.ohsumed else drawn(106, 16_140, 4_837, 25)
    rows = []
    for solver, slacks in (("n-slack", "one a query"), ("1-slack", "one in all")):
        kinds: tuple[Any, ...] = (rw.SVMNDCG, rw.SVMAUC)
        programmes = [
            programme
            for kind, C in itertools.product(kinds, (1.0, 100.0))
            for programme in met(queries, kind(C=C, solver=solver, scaling="query"))
        ]
        with threadpool_limits(1, "blas"):  # as in training
            rows += compared(slacks, programmes)
    print(table(rows))
    if given.json:
        write_json(given.json, rows)


if __name__ == "__main__":
    main()
