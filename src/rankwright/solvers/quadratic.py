"""The quadratic programme over a working set of planes.

    minimise  ½|w|² + Σ over blocks of limit_b ξ_b    where  w·a_t ≥ Δ_t − ξ_b(t),  ξ ≥ 0

What it gives is α, the multipliers of the planes: any that the dual allows certify (``problem.py``), and
w = Σ α_t a_t.

It is handed to Clarabel, an interior-point solver. `python -m benchmarks.quadratic_programmes` sets two
others beside it, which are given the dual: on OHSUMED's 106 queries (NDCG@10 and AUC, C of 1 and 100) a
programme with one slack a query and 105 to 829 planes takes Clarabel 5 ms, 18 at worst, every one solved to
8 digits; DAQP, an active-set solver, 430 and 2,400 ms, and it does not solve them all; quadprog 140 and
5,000 ms, at worst to 3 digits, since planes depend on each other as soon as there are more of them than
features. With one slack in all and up to 15 planes these two take 0.03 and 0.04 ms and Clarabel 0.3: less
than a call of the oracle, so that one solver does for both.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwright.runtime.arrays import Floats, Integers


def multipliers(vectors: Floats, losses: Floats, blocks: Integers, limits: Floats) -> Floats:
    """α of each plane (a_t, Δ_t) of block b(t): at least 0, and no more than its limit in a block.

    >>> planes = np.array([[2.0], [1.0]]), np.array([1.0, 0.2]), np.array([0, 0])
    >>> multipliers(*planes, np.array([9.0])).round(6)
    array([0.25, 0.  ])
    """
    if len(vectors) < vectors.shape[1]:
        # w lies in the span of the planes: |Rα| = |Aα| with as many rows as there are planes.
        vectors = np.asarray(np.linalg.qr(vectors.T, mode="r")).T
    used, members = np.unique(blocks, return_inverse=True)
    found = _solve(np.ascontiguousarray(vectors), losses, members, limits[used])
    alphas = np.where(np.isfinite(found), np.maximum(found, 0.0), 0.0)
    sums = np.bincount(members, alphas, len(used))
    with np.errstate(divide="ignore", invalid="ignore"):
        fits = np.where(sums > limits[used], limits[used] / sums, 1.0)
    return alphas * fits[members]


def _solve(vectors: Floats, losses: Floats, members: Integers, limits: Floats) -> Floats:
    import clarabel
    from scipy.sparse import csc_matrix

    (n, width), n_blocks = vectors.shape, len(limits)
    size = width + n_blocks
    squares = csc_matrix(
        (np.ones(width), np.arange(width), np.minimum(np.arange(size + 1), width)), shape=(size, size)
    )
    # Rows: Δ − w·a − ξ ≤ 0 of each plane, then −ξ ≤ 0 of each block.
    order = np.argsort(members, kind="stable")
    counts = np.bincount(members, minlength=n_blocks)
    ends = np.cumsum(counts)
    slack_rows = np.insert(order, ends, n + np.arange(n_blocks))
    rows = np.concatenate([np.tile(np.arange(n), width), slack_rows])
    values = np.concatenate([-vectors.T.ravel(), np.full(n + n_blocks, -1.0)])
    starts = np.concatenate(
        [n * np.arange(width), n * width + np.append(0, ends + np.arange(1, n_blocks + 1))]
    )
    matrix = csc_matrix((values, rows, starts), shape=(n + n_blocks, size))
    matrix.sort_indices()
    settings: Any = clarabel.DefaultSettings()
    settings.verbose = False
    solved = clarabel.DefaultSolver(
        squares, np.append(np.zeros(width), limits), matrix, np.append(-losses, np.zeros(n_blocks)),
        [clarabel.NonnegativeConeT(n + n_blocks)], settings,
    ).solve()  # fmt: skip
    return np.array(solved.z[:n])
