"""What learners that add one thing a round share: the record of each, and the round that is kept."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from rankwright.data import QuerySet
from rankwright.learners.base import check_whole, judge
from rankwright.networks.training import Record
from rankwright.runtime.arrays import Floats
from rankwright.runtime.progress import told


class Rounds:
    """Rounds of training: ``history``, and ``kept``, the model of the best by the measure on ``valid``.

    Without ``valid`` the last is kept, or the best ``by_training``, whose record then has "train". A
    learner's ``early_stopping_rounds`` without a better one end training.
    """

    def __init__(
        self,
        learner: Any,
        valid: QuerySet | None,
        progress: Callable[[Record], None] | None,
        by_training: bool = False,
    ):
        self._patience = getattr(learner, "early_stopping_rounds", None)
        if self._patience is not None:
            check_whole(learner, early_stopping_rounds=1)
        self._by_training = by_training
        self.history: list[Record] = []
        self.kept: Any = None
        self._progress = progress
        self._mean = None if valid is None else judge(learner.selection_measure, valid)
        self._best, self._since, self._started = -np.inf, 0, time.perf_counter()

    def add(self, record: Record, valid: Callable[[], Floats], model: Any) -> bool:
        """Take note of a round, with its scores on ``valid``; whether to go on."""
        self._since += 1
        value = record["train"] if self._by_training else np.nan
        if self._mean is not None:
            value = record["valid"] = self._mean(valid())
        if not value <= self._best:
            self._best, self._since, self.kept = value, 0, model
        self.history.append({"step": len(self.history) + 1, **record, "seconds": self._seconds})
        goes_on = told(self._progress, self.history[-1])
        return goes_on and (self._patience is None or self._since < self._patience)

    @property
    def _seconds(self) -> float:
        return time.perf_counter() - self._started
