"""McRank (Li, Burges and Wu 2007; 2008 section 3.8): rank by the expected label.

    S(x) = Σ over labels k of P(label = k | x) · k

The probabilities come from boosted trees, K at a time:

``form="multiclass"``  softmax over K outputs; gradient Pₖ − [y = k], leaf values by the Newton step
                       (K − 1)/K · Σ residual / Σ Pₖ(1 − Pₖ)
``form="ordinal"``     K − 1 logits of P(label > k), each its own two-class problem; then S = Σ P(label > k)
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
)
from rankwright.learners.checkpoints import EVERY
from rankwright.learners.classes import Classes, weighted, whole_labels
from rankwright.learners.runs import boost_runs
from rankwright.learners.tree_parameters import TreeParameters
from rankwright.measures import Measure
from rankwright.runtime.errors import InputError
from rankwright.scorers.forest import Link


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class McRank(TreeParameters, Ranker):
    """Boosted classification trees that rank by the expected label.

    ``form`` is "multiclass" or "ordinal". Labels are whole numbers from 0. ``mode="paper"`` splits by least
    squares, as its authors did after Friedman; the default splits by what a Newton step gains.

    >>> import rankwright as rw
    >>> data = rw.synthetic.random_net(20, 20, random_state=1)
    >>> McRank(n_estimators=3, min_samples_leaf=5, form="ordinal").fit(data).scorer_.link
    'ordinal'
    """

    measure: str | Measure = DEFAULT_MEASURE
    form: Literal["multiclass", "ordinal"] = "multiclass"
    mode: Literal["default", "paper"] = "default"

    paper = "2008"

    def _fit(
        self,
        queries: QuerySet,
        valid: QuerySet | None,
        progress: Any = None,
        checkpoint: Any = None,
        checkpoint_every: int = EVERY,
        measure_train: bool = False,
    ) -> None:
        forms: dict[str, Callable[[QuerySet, bool], Objective]] = {
            "multiclass": Classes,
            "ordinal": Thresholds,
        }
        if self.form not in forms:
            raise InputError(f"form is {self.form!r}; it is {' or '.join(forms)}")
        if self.mode not in ("default", "paper"):
            raise InputError(f"mode is {self.mode!r}; it is 'default' or 'paper'")
        objective = forms[self.form](queries, self.mode == "paper")
        boost_runs(
            self, queries, valid, lambda _: objective, progress,
            checkpoint=checkpoint, checkpoint_every=checkpoint_every, measure_train=measure_train,
        )  # fmt: skip


class Thresholds:
    """A logit for each threshold between classes: P(label > k)."""

    link: Link = "ordinal"
    draws = False

    def __init__(self, queries: QuerySet, least_squares: bool):
        labels, self._weights, n_classes = whole_labels(queries)
        self._least_squares = least_squares
        self._above = labels > np.arange(n_classes - 1)[:, None]
        above = np.maximum((self._above * self._weights).sum(axis=1), 1e-9)
        below = np.maximum((~self._above * self._weights).sum(axis=1), 1e-9)
        self.start: Floats = np.log(above / below)

    def gradients(self, scores: Floats, step: int) -> list[Gradients]:
        """w (P − [y > k]) and w P(1 − P)."""
        probabilities = 1 / (1 + np.exp(-scores))
        return [
            weighted(self._weights, p - above, p * (1 - p), self._least_squares)
            for p, above in zip(probabilities, self._above, strict=True)
        ]
