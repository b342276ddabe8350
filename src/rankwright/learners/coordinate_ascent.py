"""Coordinate ascent (Metzler and Croft 2007): a linear ranker whose weights climb any measure, one at a time.

for each start:                                     (equal weights, then random ones)
    until a cycle over the weights gains next to nothing:
        for each weight, in random order:
            1.  the measure of  s + t x  for every t, x the feature's values
            2.  the t where it is best; kept where it is better than before

Between the finitely many t at which two documents of a query change places no measure changes, so that step 1
is exact: it sweeps all changes of order (2010 section 7.1), where others try some steps.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from rankwright.data import QuerySet
from rankwright.learners.base import DEFAULT_MEASURE, Ranker, check_whole, generator, judge
from rankwright.learners.nets import rows_of
from rankwright.learners.rounds import Rounds
from rankwright.learners.sweep import profile
from rankwright.measures import Measure
from rankwright.networks.training import Record
from rankwright.runtime.arrays import Floats, Singles
from rankwright.runtime.errors import InputError
from rankwright.scorers import LinearScorer, Standardising, Transform
from rankwright.scorers.quadratic import linear_scores
from rankwright.scorers.transform import UNCHANGED

BETTER = 1e-12
"""Means that differ by less are the same, but for rounding."""
TRIED = 3
"""Of the stretches and points that are best by the sweep, how many are measured."""


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class CoordinateAscent(Ranker):
    """A linear ranker whose weights climb any measure, one at a time, by exact line searches.

    There are ``n_starts``, each of at most ``max_iter`` cycles over the weights, until one gains less than
    ``tol``. The best cycle of all is kept: by ``measure`` on ``valid``, or else on the training data.

    >>> X = np.random.default_rng(0).standard_normal((100, 3))
    >>> y, qid = np.round(X[:, 0] - X[:, 1]).clip(0, 2), np.repeat(np.arange(10), 10)
    >>> CoordinateAscent(measure="map").fit(X, y, qid=qid).score(X, y, qid=qid) > 0.97
    True
    """

    measure: str | Measure = DEFAULT_MEASURE
    n_starts: int = 2
    max_iter: int = 25
    tol: float = 0.001
    standardise: bool = True
    random_state: Any = 0
    n_jobs: int | None = None

    paper = "Metzler and Croft 2007"
    trains_for_measure = True

    def _fit(
        self, queries: QuerySet, valid: QuerySet | None, progress: Callable[[Record], None] | None = None
    ) -> None:
        check_whole(self, n_starts=1, max_iter=1)
        if not isinstance(self.tol, int | float) or not 0 <= self.tol < np.inf:
            raise InputError(f"tol is {self.tol!r}; give a number of at least 0")
        transform: Transform = Standardising.of(queries.features) if self.standardise else UNCHANGED
        rows, random = rows_of(queries, transform), generator(self.random_state)
        held = rows[:0] if valid is None else rows_of(valid, transform)
        climb = Climb(self.selection_measure, queries, rows, self.n_jobs)
        rounds = Rounds(self, valid, progress, by_training=True)
        for start in range(self.n_starts):
            weights = random.uniform(-1, 1, rows.shape[1]) if start else np.ones(rows.shape[1])
            climb.start_at(weights / max(1, rows.shape[1]))
            for _ in range(self.max_iter):
                before = climb.value
                changed = sum(climb.along(int(feature)) for feature in random.permutation(rows.shape[1]))
                record = {"start": start + 1, "changed": changed, "train": climb.value}
                goes_on = rounds.add(record, lambda: linear_scores(held, climb.weights), climb.weights.copy())
                if not goes_on or not climb.value - before >= self.tol or not changed:
                    break
            if not goes_on:
                break
        self.history_ = rounds.history
        about = self._about(queries, steps=len(self.history_))
        self.scorer_ = LinearScorer(rounds.kept, transform=transform, **about)


class Climb:
    """Weights on their way up, with the scores and the measure that they give."""

    def __init__(self, measure: Measure, queries: QuerySet, rows: Singles, n_jobs: int | None):
        self._measure, self._queries, self._rows, self._n_jobs = measure, queries, rows, n_jobs
        self._mean = judge(measure, queries)

    def start_at(self, weights: Floats) -> None:
        """Begin from these weights."""
        self.weights, self._scores = weights, linear_scores(self._rows, weights)
        self.value = self._mean(self._scores)
        if np.isnan(self.value):
            raise InputError(
                f"there is nothing to learn from: no query has anything to find for {self._measure!r}; "
                "give graded labels"
            )

    def along(self, feature: int) -> bool:
        """Move one weight to where the measure is best, if that is better; whether it is."""
        values = self._rows[:, feature].astype(np.float64)
        found = profile(
            self._scores, values, self._measure, self._queries, whole_line=True, n_jobs=self._n_jobs
        )
        for t in found.candidates(TRIED):
            weights = self.weights.copy()
            weights[feature] += t
            size = np.abs(weights).sum()
            if not 0 < size < np.inf:
                continue
            scores = linear_scores(self._rows, weights / size)
            value = self._mean(scores)
            if value > self.value + BETTER:
                self.weights, self._scores, self.value = weights / size, scores, value
                return True
        return False
