"""Several classes, as MART and McRank have them: softmax over boosted trees, one tree a class and step.

Gradient Pₖ − [y = k]; leaf values by the Newton step (K − 1)/K · Σ residual / Σ Pₖ(1 − Pₖ) (Friedman 2001).
The trees' splits are by least squares, as there, or of second order.
"""

from __future__ import annotations

import numpy as np

from rankwright.data import QuerySet
from rankwright.learners.boosting import Floats, Gradients, row_weights
from rankwright.runtime.errors import InputError
from rankwright.scorers.forest import Link


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
    """Softmax over the classes; documents are ranked by their expected label."""

    link: Link = "expectation"
    draws = False

    def __init__(self, queries: QuerySet, least_squares: bool):
        labels, self._weights, n_classes = whole_labels(queries)
        self._least_squares = least_squares
        self._is = labels == np.arange(n_classes)[:, None]
        shares = np.maximum((self._is * self._weights).sum(axis=1), 1e-9) / max(self._weights.sum(), 1e-9)
        self.start: Floats = np.log(shares)

    def gradients(self, scores: Floats, step: int) -> list[Gradients]:
        """w (Pₖ − [y = k]); for leaf values w Pₖ(1 − Pₖ) K / (K − 1)."""
        powers = np.exp(scores - scores.max(axis=0))
        probabilities = powers / powers.sum(axis=0)
        factor = len(scores) / (len(scores) - 1)
        return [
            weighted(self._weights, p - is_class, factor * p * (1 - p), self._least_squares)
            for p, is_class in zip(probabilities, self._is, strict=True)
        ]


def weighted(weights: Floats, gradients: Floats, curvatures: Floats, least_squares: bool) -> Gradients:
    """What a tree is grown on: by least squares every row counts by its weight alone."""
    hessians = np.maximum(weights * curvatures, 1e-16 * weights).astype(np.float32)
    by = weights.astype(np.float32) if least_squares else hessians
    return (weights * gradients).astype(np.float32), by, hessians
