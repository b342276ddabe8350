"""MART (2010 sections 5 and 6; Friedman 2001): boosted regression trees for labels, item by item.

``loss="squared"``   regression on the label: each tree fits what is left, leaf values are means
``loss="logistic"``  two classes, relevant or not, with y = ±1 and 2010's equation 14:

                         L(y, F) = log(1 + exp(−2yσF)),  ȳ = 2yσ / (1 + exp(2yσF)),
                         γ = Σȳ / Σ|ȳ|(2σ − |ȳ|)         (the Newton step of a leaf)

                     so that P(y = 1) = 1 / (1 + exp(−2σF)); equation 13 and the line below it lack σ.
``loss="balanced"``  the same with the classes weighted by 1/n₊ and 1/n₋ (section 6.1, equation 15)
``loss="multiclass"`` a class for each label, by a softmax over their scores; ranked by the expected label
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from rankwright.data import QuerySet
from rankwright.learners.base import DEFAULT_MEASURE, Ranker
from rankwright.learners.boosting import (
    Floats,
    Gradients,
    Objective,
    row_weights,
)
from rankwright.learners.checkpoints import EVERY
from rankwright.learners.classes import Classes
from rankwright.learners.runs import boost_runs
from rankwright.learners.tree_parameters import TreeParameters
from rankwright.measures import Measure
from rankwright.runtime.errors import InputError
from rankwright.scorers.forest import Link


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class MART(TreeParameters, Ranker):
    """Boosted regression trees on labels, one document at a time.

    ``loss`` is "squared" (regression), "logistic" or "balanced" (two classes: relevant are the labels of at
    least ``threshold``), or "multiclass" (a class for each label; ranked by the expected one). ``sigma``
    scales the two-class scores and makes no difference to their order.

    >>> import rankwright as rw
    >>> data = rw.synthetic.random_net(20, 20, random_state=1)
    >>> MART(n_estimators=5, min_samples_leaf=5).fit(data).scorer_.n_trees
    5
    """

    measure: str | Measure = DEFAULT_MEASURE
    loss: Literal["squared", "logistic", "balanced", "multiclass"] = "squared"
    threshold: float = 1.0
    sigma: float = 1.0

    paper = "2010"

    def _fit(
        self,
        queries: QuerySet,
        valid: QuerySet | None,
        progress: Any = None,
        base: Any = None,
        checkpoint: Any = None,
        checkpoint_every: int = EVERY,
        measure_train: bool = False,
    ) -> None:
        losses: dict[str, Callable[[MART, QuerySet], Objective]] = {
            "squared": Squared,
            "logistic": TwoClasses,
            "balanced": TwoClasses,
            "multiclass": lambda _, queries: Classes(queries, least_squares=True),
        }
        if self.loss not in losses:
            raise InputError(f"loss is {self.loss!r}; it is {', '.join(losses)}")
        if base is not None and self.loss == "multiclass":
            raise InputError("a base has one score and loss='multiclass' several; choose another loss")
        objective = losses[self.loss](self, queries)
        boost_runs(
            self, queries, valid, lambda _: objective, progress,
            base=base, checkpoint=checkpoint, checkpoint_every=checkpoint_every, measure_train=measure_train,
        )  # fmt: skip


class Squared:
    """Half the squared error: the gradient is what is too much, the hessian 1."""

    link: Link = "identity"
    draws = False

    def __init__(self, learner: MART, queries: QuerySet):
        assert queries.labels is not None
        known = ~np.isnan(queries.labels)
        self._weights = np.where(known, row_weights(queries), 0.0)
        self._labels = np.where(known, queries.labels, 0.0)
        total = self._weights.sum()
        self.start: Floats = np.array([(self._weights * self._labels).sum() / total if total > 0 else 0.0])

    def gradients(self, scores: Floats, step: int) -> list[Gradients]:
        """w (F − y) and w."""
        gradients = (self._weights * (scores[0] - self._labels)).astype(np.float32)
        hessians = self._weights.astype(np.float32)
        return [(gradients, hessians, hessians)]


class TwoClasses:
    """2010 section 6, and with balanced classes 6.1; trees by least squares, as MART's are."""

    link: Link = "identity"
    draws = False

    def __init__(self, learner: MART, queries: QuerySet):
        assert queries.labels is not None
        if not learner.sigma > 0:
            raise InputError(f"sigma is {learner.sigma}; it is a number above 0")
        known = ~np.isnan(queries.labels)
        self._sigma = float(learner.sigma)
        self._y = np.where(queries.labels >= learner.threshold, 1.0, -1.0)
        self._weights = np.where(known, row_weights(queries), 0.0)
        n_relevant, n_other = self._weights[self._y > 0].sum(), self._weights[self._y < 0].sum()
        if not n_relevant > 0 or not n_other > 0:
            raise InputError(
                f"all labels are on one side of {learner.threshold:g}, so there are no two classes; "
                "choose another threshold, or loss='squared'"
            )
        if learner.loss == "balanced":
            # Equation 15, times half the documents, so that weights stay about 1.
            half = (n_relevant + n_other) / 2
            self._weights = self._weights * np.where(self._y > 0, half / n_relevant, half / n_other)
            n_relevant = n_other = 1.0
        self.start: Floats = np.array([np.log(n_relevant / n_other) / (2 * self._sigma)])

    def gradients(self, scores: Floats, step: int) -> list[Gradients]:
        """−ȳ, and for leaf values |ȳ| (2σ − |ȳ|)."""
        two_sigma = 2 * self._sigma
        response = two_sigma * self._y / (1 + np.exp(two_sigma * self._y * scores[0]))
        size = np.abs(response)
        curvatures = self._weights * size * (two_sigma - size)
        return [
            (
                (-self._weights * response).astype(np.float32),
                self._weights.astype(np.float32),
                curvatures.astype(np.float32),
            )
        ]
