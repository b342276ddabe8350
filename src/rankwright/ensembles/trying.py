"""What a committee tries within its budget: learners fitted once a fold, who score the queries left out."""

from __future__ import annotations

import dataclasses
import functools
import re
import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from rankwright.data import QuerySet
from rankwright.ensembles.choosing import Judge
from rankwright.learners.base import Ranker
from rankwright.measures.base import Floats
from rankwright.runtime.errors import InputError
from rankwright.scorers import QueryScaling, Scorer, Sum

BAG = 0.8
"""The share of the training queries in a bag."""
FOR_TRYING = 0.9
"""The share of a budget in seconds that candidates may take; the rest is for weighing them."""
SECONDS = {"": 1.0, "s": 1.0, "second": 1.0, "minute": 60.0, "hour": 3600.0}


class Spent(Exception):
    """The budget ended while a learner was learning."""


class Budget:
    """Seconds or fits, and what is spent of them."""

    def __init__(self, most: float, in_fits: bool):
        self.most, self.in_fits = most, in_fits
        self.fits = 0
        self._begin = time.monotonic()

    @classmethod
    def of(cls, given: float | str) -> Budget:
        """A number of seconds, or text.

        >>> budget = Budget.of("2 hours")
        >>> budget.most, budget.in_fits
        (7200.0, False)
        """
        found = re.fullmatch(r"([0-9.eE+-]+) *([a-z]*)", str(given).strip())
        number, unit = found.groups() if found else ("", "")
        unit = unit if unit == "s" else unit.removesuffix("s")
        try:
            most = float(number)
        except ValueError:
            most = np.nan
        in_fits = unit == "fit"
        if not (in_fits or unit in SECONDS) or not 0 < most < np.inf or isinstance(given, bool):
            raise InputError(
                f"budget is {given!r}; give seconds (600) or text ('600 seconds', '2 hours', '40 fits')"
            )
        return cls(most * SECONDS.get(unit, 1.0), in_fits)

    @property
    def seconds(self) -> float:
        """How long it is since the beginning."""
        return time.monotonic() - self._begin

    @property
    def share(self) -> float:
        """How much is spent, of 1."""
        return min(1.0, (self.fits if self.in_fits else self.seconds) / self.most)

    def allows(self, fits: int) -> bool:
        """Whether so many fits more may begin."""
        if self.in_fits:
            return self.fits + fits <= self.most
        return self.seconds < FOR_TRYING * self.most

    def watch(self, record: Any = None) -> None:
        """Stop a learner, which tells of its steps, where the seconds are spent."""
        if not self.in_fits and self.seconds >= FOR_TRYING * self.most:
            raise Spent


class Trial(NamedTuple):
    """A learner to try: whether on features scaled within each query, and on a bag of the queries."""

    learner: Ranker
    scaled: bool
    bagged: bool
    number: int = 0


class Candidate(NamedTuple):
    """What was tried: models, a scale for each, out-of-fold scores by stored row, and their mean measure."""

    trial: Trial
    models: list[Scorer]
    scales: list[float]
    scores: Floats
    alone: float

    def scorer(self) -> Sum:
        """The mean of its models."""
        return Sum(self.models, [1.0 / (scale * len(self.models)) for scale in self.scales])


class Folds:
    """Whole queries dealt into folds by chance, with their features as they are and scaled by query."""

    def __init__(self, queries: QuerySet, count: int, random_state: int):
        if count > queries.n_queries:
            raise InputError(
                f"folds is {count} for {queries.n_queries} queries; give no more folds than queries"
            )
        self.count, self.queries = count, queries
        random = np.random.default_rng([random_state, 1])
        self.parts: NDArray[np.int64] = random.permutation(queries.n_queries) % count
        self.row_parts = np.repeat(self.parts, queries.sizes)

    @functools.cached_property
    def scaled(self) -> QuerySet:
        """The queries with each feature scaled to [0, 1] within its query."""
        features = QueryScaling()(self.queries.features, self.queries.offsets).astype(np.float32)
        return self.queries.with_features(self.queries.in_given_order(features))

    @property
    def scaling_matters(self) -> bool:
        """Whether the features are not scaled by query as they are."""
        given, scaled = self.queries.features, self.scaled.features
        return not np.allclose(given, scaled, atol=1e-4, equal_nan=True)


def named(trial: Trial) -> str:
    """A learner with its settings, in a line; the number of threads is none of them.

    >>> import rankwright as rw
    >>> named(Trial(rw.LambdaRank(hidden=0, n_jobs=2), scaled=True, bagged=False))
    'LambdaRank(hidden=0) on features scaled by query'
    """
    own = clone(trial.learner)
    if "n_jobs" in own.get_params(deep=False):
        own.set_params(n_jobs=None)
    return " ".join(repr(own).split()) + " on features scaled by query" * trial.scaled


def tried(trial: Trial, folds: Folds, judge: Judge, budget: Budget) -> Candidate:
    """A learner fitted once a fold, without it and the next one; ``Spent`` where the budget ends before."""
    if not budget.allows(folds.count):
        raise Spent
    models, scales, scores = [], [], np.zeros(len(folds.queries))
    data = folds.scaled if trial.scaled else folds.queries
    for fold in range(folds.count):
        stopping = (fold + 1) % folds.count
        seen = np.flatnonzero((folds.parts != fold) & (folds.parts != stopping))
        if trial.bagged:
            random = np.random.default_rng([trial.number, fold, 2])
            seen = np.sort(random.choice(seen, max(1, round(BAG * len(seen))), replace=False))
        own = clone(trial.learner)
        own.fit(data.select(seen), valid=data.select(folds.parts == stopping), progress=budget.watch)
        budget.fits += 1
        model = own.scorer_
        if trial.scaled:
            model = dataclasses.replace(model, transform=QueryScaling())
        unseen = folds.queries.select(folds.parts == fold)
        made = model.stored_scores(unseen.features, unseen.offsets)
        scale = float(np.std(made)) or 1.0
        scores[folds.row_parts == fold] = made / scale
        models.append(model)
        scales.append(scale)
        if fold + 1 < folds.count:
            budget.watch()
    return Candidate(trial, models, scales, scores, judge.mean(scores))
