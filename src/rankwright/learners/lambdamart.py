"""LambdaMART (2010 section 7): boosted trees on the λ's of any measure.

for m = 1 … n_estimators:
    λᵢ, wᵢ        the forces on each document at the scores so far, and their slopes
    a tree        least squares on λ (paper), or second order on λ and w
    leaf values   Σλ / Σw (a Newton step), times the learning rate
"""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankwright.data import QuerySet
from rankwright.learners.base import DEFAULT_MEASURE, Ranker
from rankwright.learners.boosting import Floats, Gradients, Singles, TreeParameters, boost
from rankwright.measures import Measure
from rankwright.measures.lists import Lists
from rankwright.pairwise.lambdas import Lambdas
from rankwright.runtime.errors import InputError
from rankwright.scorers.forest import ForestScorer, Link


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class LambdaMART(TreeParameters, Ranker):
    """Boosted trees on the λ's of a measure.

    ``truncation`` keeps the pairs with a document among the first so many of the list. ``mode="paper"`` is
    the algorithm of the paper: all pairs, trees by least squares, no normalisation; the default truncates and
    normalises as users of LightGBM know it.

    >>> import rankwright as rw
    >>> data = rw.synthetic.random_net(20, 20, random_state=1)
    >>> ranker = LambdaMART(n_estimators=5, min_samples_leaf=5).fit(data)
    >>> ranker.scorer_.n_trees
    5
    """

    measure: str | Measure = DEFAULT_MEASURE
    mode: Literal["default", "paper"] = "default"
    truncation: int | None = 30
    sigma: float = 1.0

    paper = "2010"
    needs_swap_gains = True

    def _fit(self, queries: QuerySet, valid: QuerySet | None, progress: Any = None) -> None:
        self.scorer_: ForestScorer
        self.scorer_, self.history_ = boost(self, queries, valid, MeasureLambdas(self, queries), progress)


class MeasureLambdas:
    """The objective: λ's pushed the other way are the gradients of the implicit cost."""

    link: Link = "identity"

    def __init__(self, learner: LambdaMART, queries: QuerySet):
        if learner.mode not in ("default", "paper"):
            raise InputError(f"mode is {learner.mode!r}; it is 'default' or 'paper'")
        assert queries.labels is not None
        self.start: Floats = np.zeros(1)
        paper = learner.mode == "paper"
        measure = learner.selection_measure
        measure.check_labels(queries.labels)
        self._lambdas = Lambdas(
            Lists(queries.labels, queries.offsets, rows=queries.rows, n_jobs=learner.n_jobs),
            measure,
            weights=queries.sample_weight,
            query_weight=queries.query_weight,
            sigma=learner.sigma,
            truncation=None if paper else learner.truncation,
            by_distance=not paper,
            by_total=not paper,
        )
        self._out = np.empty(len(queries), np.float32), np.empty(len(queries), np.float32)
        self._ones: Singles | None = np.ones(len(queries), np.float32) if paper else None

    def gradients(self, scores: NDArray[np.float64]) -> list[Gradients]:
        """−λ; least squares takes every hessian for 1."""
        lambdas, hessians = self._lambdas.at(scores[0], self._out)
        np.negative(lambdas, out=lambdas)
        return [(lambdas, hessians if self._ones is None else self._ones, hessians)]
