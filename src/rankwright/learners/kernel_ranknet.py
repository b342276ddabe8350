"""Kernel RankNet (2005 section 7): the cross entropy of pairs in a reproducing-kernel space.

    minimise  F = Σ over pairs C(Pᵢⱼ, P̄ᵢⱼ) + λ ‖f‖²      (equation 17)
    by        f(x) = Σᵢ αᵢ k(x, xᵢ)                        (equation 18, the representer theorem)

With all m training documents as centres that is m coefficients and an m × m matrix, which ends at some
thousand documents. Nyström's approximation (``nystroem.py``) keeps c of the documents as centres and has
f(x) = w·φ(x), ‖f‖² = |w|². F is then that of a linear model in c features, convex since C is, and with c = m
it is F itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rankwright.data import QuerySet
from rankwright.learners.base import DEFAULT_MEASURE, Ranker
from rankwright.learners.nets import label_order, pairs_of, rows_of, weights_of
from rankwright.learners.nystroem import ROWS_AT_ONCE, Nystroem
from rankwright.measures import Measure
from rankwright.networks.forward import ONE, Counts, Singles
from rankwright.networks.net import Floats
from rankwright.networks.panels import empty_panels
from rankwright.pairwise.tasks import (
    SCRATCH_LINES,
    Task,
    check_pairs,
    check_settings,
    query_slopes,
    task_of_labels,
    task_of_pairs,
    task_types,
)
from rankwright.runtime.errors import InputError
from rankwright.runtime.kernels import kernel
from rankwright.scorers import Standardising, Transform
from rankwright.scorers.transform import UNCHANGED


def _cost_types() -> Any:
    import numba as nb

    counts, singles = nb.uint64[::1], nb.float32[::1]
    return nb.float64(task_types(), counts, counts, counts, singles, nb.float32[:, ::1], singles)


@kernel(_cost_types)
def all_slopes(
    task: Task,
    queries: Counts,
    starts: Counts,
    counts: Counts,
    scores: Singles,
    scratch: Singles,
    slopes: Singles,
) -> float:
    """The slope of every document of these queries; the cost of all pairs."""
    cost = 0.0
    for q in queries:
        start, stop = starts[q], starts[q + ONE]
        cost += query_slopes(task, q, counts[q], start, stop, scores[start:stop], scratch, slopes[start:stop])
    return cost


class KernelRankNet(Ranker):
    """RankNet in a reproducing-kernel space.

    ``kernel`` is "rbf", exp(−γ|x − z|²), or "polynomial", (γ x·z + 1)^degree; γ is 1 / features unless given.
    ``n_components`` documents, drawn at random, are the centres of Nyström's approximation; as many as there
    are documents give the exact solution. ``regularization`` is λ. Pairs are given as for ``RankNet``.

    >>> X = np.random.default_rng(0).standard_normal((100, 2))
    >>> y, qid = (np.abs(X[:, 0]) > 1).astype(int), np.repeat(np.arange(10), 10)
    >>> KernelRankNet(measure="auc").fit(X, y, qid=qid).score(X, y, qid=qid) > 0.95
    True
    """

    paper = "2005"

    def __init__(
        self,
        *,
        measure: str | Measure = DEFAULT_MEASURE,
        kernel: str = "rbf",
        gamma: float | None = None,
        degree: int = 3,
        n_components: int = 300,
        regularization: float = 0.1,
        ties: str = "out",
        sigma: float = 1.0,
        standardise: bool = True,
        max_iter: int = 200,
        tol: float = 1e-6,
        random_state: Any = 0,
    ):
        self.measure = measure
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.n_components = n_components
        self.regularization = regularization
        self.ties = ties
        self.sigma = sigma
        self.standardise = standardise
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _fit(
        self,
        queries: QuerySet,
        valid: QuerySet | None,
        preferences: Any = None,
        progress: Callable[[dict[str, Any]], None] | None = None,
    ) -> None:
        from scipy.optimize import minimize
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        check_settings(self.ties, self.sigma)
        self._check_numbers()
        transform: Transform = Standardising.of(queries.features) if self.standardise else UNCHANGED
        rows = rows_of(queries, transform)
        self.history_ = []
        with threadpool_limits(1, "blas"):  # sums in one order, however many threads a library would take
            # 1. The centres, and what turns kernel values into features.
            space = Nystroem.of(self, rows)
            # 2. F and its gradient at w.
            cost = self._cost(queries, preferences, rows, space)

            def record(result: Any) -> None:
                self.history_.append({"step": len(self.history_) + 1, "objective": float(result.fun)})
                if progress is not None:
                    progress(self.history_[-1])

            # 3. Its minimum.
            options = {"maxiter": self.max_iter, "gtol": self.tol, "ftol": self.tol * 1e-3}
            found = minimize(
                cost, np.zeros(space.width), jac=True, method="L-BFGS-B", options=options,
                callback=lambda intermediate_result: record(intermediate_result),
            )  # fmt: skip
            about = self._about(queries, steps=len(self.history_))
            self.scorer_ = space.scorer(found.x, transform=transform, **about)

    def _cost(
        self, queries: QuerySet, preferences: Any, rows: Singles, space: Nystroem
    ) -> Callable[[Floats], tuple[float, Floats]]:
        weights, query_weights = weights_of(queries)
        every = np.split(np.arange(len(rows)), queries.offsets[1:-1])
        if preferences is None:
            order = [own[judged] for own, judged in zip(every, label_order(queries), strict=True)]
        else:
            order = every
        panels = empty_panels(np.array([len(own) for own in order]), 0)
        starts = panels.starts.astype(np.int64)
        if preferences is None:
            assert queries.labels is not None
            task, total = task_of_labels(
                queries.labels,
                queries.offsets,
                starts,
                weights,
                query_weights,
                sigma=self.sigma,
                ties=self.ties,
            )
        else:
            pairs = pairs_of(queries, preferences, self.ties)
            task, total = task_of_pairs(pairs, queries.offsets, query_weights, sigma=self.sigma)
        trained = check_pairs(total).astype(np.uint64)
        # The features, in padded order.
        places = np.concatenate(
            [start + np.arange(len(own)) for start, own in zip(starts, order, strict=False)]
        )
        features = np.zeros((starts[-1], space.width))
        given = np.concatenate(order)
        for begin in range(0, len(given), ROWS_AT_ONCE):
            block = slice(begin, begin + ROWS_AT_ONCE)
            features[places[block]] = space.features(rows[given[block]])
        scratch = np.zeros((SCRATCH_LINES, int(np.diff(starts).max())), np.float32)
        slopes = np.zeros(starts[-1], np.float32)

        def cost(w: Floats) -> tuple[float, Floats]:
            scores = (features @ w).astype(np.float32)
            pairs_cost = all_slopes(task, trained, panels.starts, panels.counts, scores, scratch, slopes)
            gradient = slopes.astype(np.float64) @ features
            return pairs_cost + self.regularization * (w @ w), gradient + 2.0 * self.regularization * w

        return cost

    def _check_numbers(self) -> None:
        for name, whole in (
            ("max_iter", True),
            ("regularization", False),
            ("tol", False),
        ):
            value = getattr(self, name)
            number = isinstance(value, int | np.integer if whole else int | float) and not isinstance(
                value, bool
            )
            if not number or not 0 < value < np.inf:
                raise InputError(f"{name} is {value!r}; give a {'whole ' if whole else ''}number above 0")
