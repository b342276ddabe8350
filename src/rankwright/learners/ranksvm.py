"""RankSVM (Herbrich and others 1999; Joachims 2002, in linear time 2006): the hinge of all pairs.

    minimise  ½|w|² + (C/m) Σ over m pairs, i better than j, of max(0, 1 − w·(x_i − x_j))^p,      p = 1 or 2

For p = 1 the sum is the highest of 2^m planes, one a set of violated pairs; for p = 2 it is smooth. Either is
summed by sorting (``pairwise/hinge.py``), so pairs cost no memory and next to no time. A query weight
multiplies its pairs, a document's weight those that it is in, and m is then the sum of these weights.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import numpy as np

from rankwright.data import QuerySet
from rankwright.learners.base import DEFAULT_MEASURE, Ranker
from rankwright.learners.margin import MarginParameters, Path, Space, check_margin, fit_path
from rankwright.learners.nets import weights_of
from rankwright.measures import Measure
from rankwright.pairwise.hinge import Hinges
from rankwright.runtime.arrays import Floats, Integers, Singles
from rankwright.runtime.errors import InputError
from rankwright.solvers.problem import Solution, Watch
from rankwright.solvers.rows import products, sums
from rankwright.solvers.smooth import minimise_smooth
from rankwright.solvers.solve import solve

ROWS_AT_ONCE = 1 << 13


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class RankSVM(MarginParameters, Ranker):
    """The ranking SVM on all pairs of different labels; ``measure`` selects and scores.

    ``loss`` is "hinge" or "squared_hinge".

    >>> import rankwright as rw
    >>> data = rw.synthetic.random_polynomial(20, 20, random_state=1)
    >>> ranker = RankSVM(measure="pairs", C=1).fit(data)
    >>> ranker.score(data) > 0.5, ranker.certificate_["gap"] <= 1e-3
    (True, True)
    """

    measure: str | Measure = DEFAULT_MEASURE
    loss: Literal["hinge", "squared_hinge"] = "hinge"

    paper = "2008"

    def _fit(self, queries: QuerySet, valid: QuerySet | None, progress: Any = None) -> None:
        check_margin(self)
        if self.loss not in ("hinge", "squared_hinge"):
            raise InputError(f"loss is {self.loss!r}; it is 'hinge' or 'squared_hinge'")
        pairs = PairRisk(queries, self.n_jobs)
        space = Space(self, queries)
        pairs.rows = space.rows(queries)
        stop: dict[str, Any] = {"tol": self.tol, "max_iter": self.max_iter}

        def solving(C: float, state: Any, watch: Watch) -> Solution:
            if self.loss == "hinge":
                return solve(pairs, C, solver="1-slack", state=state, watch=watch, **stop)
            return minimise_smooth(pairs.squared, pairs.n_features, C, state=state, watch=watch, **stop)

        path = Path(self, space, valid, progress)
        fit_path(self, queries, space, path, solving, depth=1, pairs=pairs.total, left_out=pairs.left_out)


class PairRisk:
    """The mean of the pairs' hinges: a problem of one block, and a smooth risk."""

    rows: Singles

    def __init__(self, queries: QuerySet, n_jobs: int | None):
        assert queries.labels is not None
        weights, query_weights = weights_of(queries)
        by_document = np.repeat(np.sqrt(query_weights), queries.sizes)  # once from each of a pair
        self._hinges = Hinges(queries.labels, queries.offsets, weights * by_document, n_jobs)
        self._n_jobs = n_jobs
        by_query = self._hinges.at(np.zeros(len(queries)))[0]
        self.total, self.left_out = float(by_query.sum()), int((by_query == 0).sum())
        if not self.total > 0:
            raise InputError(
                "no query has two documents with different labels and weights above 0: there are no pairs; "
                "give labels that differ within a query"
            )
        self.shares: Floats = np.ones(1)

    @property
    def n_features(self) -> int:
        """The length of w."""
        return self.rows.shape[1]

    def worst(self, weights: Floats, blocks: Integers | None = None) -> tuple[Floats, Floats]:
        """The plane of the pairs that are violated at w."""
        losses, coefficients = self._hinges.at(products(self.rows, weights, self._n_jobs))
        return np.array([losses.sum() / self.total]), self._sum(coefficients)[None]

    def squared(self, weights: Floats) -> tuple[float, Floats]:
        """The mean squared hinge at w, and its gradient."""
        losses, slopes = self._hinges.at(products(self.rows, weights, self._n_jobs), squared=True)
        return float(losses.sum() / self.total), self._sum(slopes)

    def _sum(self, coefficients: Floats) -> Floats:
        """Σ c·x over all documents, divided by m."""
        parts = np.append(np.arange(0, len(coefficients), ROWS_AT_ONCE), len(coefficients))
        return np.add.reduce(sums(self.rows, coefficients, parts, self._n_jobs), axis=0) / self.total
