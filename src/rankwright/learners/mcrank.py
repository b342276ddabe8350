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
    TreeParameters,
    boost,
    row_weights,
)
from rankwright.measures import Measure
from rankwright.runtime.errors import InputError
from rankwright.scorers.forest import ForestScorer, Link


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class McRank(TreeParameters, Ranker):
    """Boosted classification trees that rank by the expected label.

    ``form`` is "multiclass" or "ordinal". Labels are whole numbers from 0.

    >>> import rankwright as rw
    >>> data = rw.synthetic.random_net(20, 20, random_state=1)
    >>> McRank(n_estimators=3, min_samples_leaf=5, form="ordinal").fit(data).scorer_.link
    'ordinal'
    """

    measure: str | Measure = DEFAULT_MEASURE
    form: Literal["multiclass", "ordinal"] = "multiclass"

    paper = "2008"

    def _fit(self, queries: QuerySet, valid: QuerySet | None, progress: Any = None) -> None:
        forms: dict[str, Callable[[QuerySet], Objective]] = {"multiclass": Classes, "ordinal": Thresholds}
        if self.form not in forms:
            raise InputError(f"form is {self.form!r}; it is {' or '.join(forms)}")
        objective = forms[self.form](queries)
        self.scorer_: ForestScorer
        self.scorer_, self.history_ = boost(self, queries, valid, lambda _: objective, progress)


def whole_labels(queries: QuerySet) -> tuple[np.ndarray, Floats, int]:
    """Each row's class, its weight (0 where it is unjudged), and the number of classes."""
    assert queries.labels is not None
    known = ~np.isnan(queries.labels)
    labels = np.where(known, queries.labels, 0.0)
    bad = np.flatnonzero((labels != np.floor(labels)) | (labels < 0) | (labels > 255))
    if len(bad):
        row = bad[0] if queries.rows is None else queries.rows[bad[0]]
        raise InputError(
            f"row {row}: label {labels[bad[0]]:g} is not a class; give whole numbers from 0 to 255"
        )
    if not labels.max() > 0:
        raise InputError("all labels are 0, so there are no classes to tell apart")
    return labels.astype(np.int64), np.where(known, row_weights(queries), 0.0), int(labels.max()) + 1


class Classes:
    """Softmax over the classes."""

    link: Link = "expectation"

    def __init__(self, queries: QuerySet):
        labels, self._weights, n_classes = whole_labels(queries)
        self._is = labels == np.arange(n_classes)[:, None]
        shares = np.maximum((self._is * self._weights).sum(axis=1), 1e-9) / max(self._weights.sum(), 1e-9)
        self.start: Floats = np.log(shares)

    def gradients(self, scores: Floats, step: int) -> list[Gradients]:
        """w (Pₖ − [y = k]); for leaf values w Pₖ(1 − Pₖ) K / (K − 1)."""
        powers = np.exp(scores - scores.max(axis=0))
        probabilities = powers / powers.sum(axis=0)
        factor = len(scores) / (len(scores) - 1)
        return [
            _weighted(self._weights, p - is_class, factor * p * (1 - p))
            for p, is_class in zip(probabilities, self._is, strict=True)
        ]


class Thresholds:
    """A logit for each threshold between classes: P(label > k)."""

    link: Link = "ordinal"

    def __init__(self, queries: QuerySet):
        labels, self._weights, n_classes = whole_labels(queries)
        self._above = labels > np.arange(n_classes - 1)[:, None]
        above = np.maximum((self._above * self._weights).sum(axis=1), 1e-9)
        below = np.maximum((~self._above * self._weights).sum(axis=1), 1e-9)
        self.start: Floats = np.log(above / below)

    def gradients(self, scores: Floats, step: int) -> list[Gradients]:
        """w (P − [y > k]) and w P(1 − P)."""
        probabilities = 1 / (1 + np.exp(-scores))
        return [
            _weighted(self._weights, p - above, p * (1 - p))
            for p, above in zip(probabilities, self._above, strict=True)
        ]


def _weighted(weights: Floats, gradients: Floats, curvatures: Floats) -> Gradients:
    """What a tree is grown on; its splits are of second order."""
    hessians = np.maximum(weights * curvatures, 1e-16 * weights).astype(np.float32)
    return (weights * gradients).astype(np.float32), hessians, hessians
