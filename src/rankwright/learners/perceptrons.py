"""What PRank and its kin share: levels and thresholds, one correction, epochs, and the model that is kept.

2005 section 6.2: up to 100 epochs, fewer where the training error has not changed for ten; after each epoch
the model is tested on the validation queries, and the best one is kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.data import QuerySet
from rankwright.learners.base import judge
from rankwright.learners.nets import rows_of, weights_of
from rankwright.networks.training import Record, unchanged
from rankwright.runtime.arrays import Floats, Integers, Singles
from rankwright.runtime.errors import InputError
from rankwright.runtime.kernels import kernel
from rankwright.runtime.progress import told
from rankwright.scorers import Standardising, Transform
from rankwright.scorers.quadratic import linear_scores
from rankwright.scorers.transform import UNCHANGED


@kernel("int64(float64, float64[::1])")
def level_at(score: float, thresholds: Floats) -> int:
    """The lowest level whose threshold is above the score; the highest one has none."""
    for r in range(thresholds.size):
        if score - thresholds[r] < 0.0:
            return r
    return thresholds.size


@kernel("Tuple((float64, int64))(float64, int64, float64, float64[::1])")
def corrected(score: float, level: int, weight: float, thresholds: Floats) -> tuple[float, int]:
    """PRank's steps 3 and 4 for one document, of thresholds: how much of it to add to w, and the loss."""
    loss = abs(level_at(score, thresholds) - level)
    moved = 0.0
    if loss != 0:
        for r in range(thresholds.size):
            side = 1.0 if level > r else -1.0
            if (score - thresholds[r]) * side <= 0.0:
                moved += side
                thresholds[r] -= side * weight
    return moved * weight, loss


class Documents:
    """The judged documents, one by one: transformed features, the number of the level of each, its weight."""

    def __init__(self, learner: Any, queries: QuerySet):
        assert queries.labels is not None
        self.transform: Transform = Standardising.of(queries.features) if learner.standardise else UNCHANGED
        self.rows: Singles = rows_of(queries, self.transform)
        documents, own = weights_of(queries)
        self.weights: Floats = documents * np.repeat(own, queries.sizes)
        self.taught: Integers = np.flatnonzero(~np.isnan(queries.labels) & (self.weights > 0))
        self.labels, numbers = np.unique(queries.labels[self.taught], return_inverse=True)
        if len(self.labels) < 2:
            raise InputError(
                f"all labels are the same, so {type(learner).__name__} has no levels to tell apart; "
                "give graded labels"
            )
        self.levels: Integers = np.full(len(self.rows), -1, np.int64)
        self.levels[self.taught] = numbers

    def thresholds(self) -> Floats:
        """The thresholds to start from: all 0."""
        return np.zeros(len(self.labels) - 1)


class Selection:
    """The best model so far: by the learner's measure on ``valid``, or else on the training data."""

    def __init__(self, learner: Any, queries: QuerySet, valid: QuerySet | None, given: Documents):
        held = None if valid is None or valid.labels is None else valid
        self.name = "train" if held is None else "valid"
        self.rows = given.rows if held is None else rows_of(held, given.transform)
        self._mean = judge(learner.selection_measure, queries if held is None else held)
        self.best = -np.inf
        self.model: Any = None

    def offer(self, scores: Floats, model: Callable[[], Any]) -> float:
        """The measure of these scores; the model is kept unless another was better."""
        value = self._mean(scores)
        if self.model is None or not value <= self.best:
            self.best, self.model = value, model()
        return value

    def linear_scores(self, weights: Floats) -> Floats:
        """The scores of the documents that select, from weights of features (and of their products)."""
        return linear_scores(self.rows, weights)


def run_epochs(
    learner: Any,
    once: Callable[[NDArray[np.int64]], Record],
    documents: Documents,
    random: np.random.Generator,
    progress: Callable[[Record], None] | None,
    history: list[Record],
    **about: Any,
) -> bool:
    """Epochs, each over the documents in a new order, until there were enough or the error stays the same.

    Their records join ``history``; False where ``progress`` ends it all.
    """
    errors: list[float] = []
    started = time.perf_counter()
    for epoch in range(1, learner.epochs + 1):
        record = once(random.permutation(documents.taught))
        history.append({**about, "epoch": epoch, **record, "seconds": time.perf_counter() - started})
        if not told(progress, history[-1]):
            return False
        errors.append(record["error"])
        if unchanged(errors, learner.unchanged_epochs):
            break
    return True
