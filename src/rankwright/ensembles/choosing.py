"""Who sits in a committee and how much each counts, by what candidates score on queries they never saw.

1. All sit, with even shares, who are not clearly worse than the best of them (by paired differences).
2. An exact sweep finds each candidate's best share of the whole; who gains most by it is given that share, as
   long as the gain is more than chance would easily make.
3. Whose absence gains as much leaves, the weakest first.
4. If the best one alone did better than all of that, it sits alone.

On small sets weights that are best for some queries are not for others: even shares do better on those that
had no part in choosing (docs/tutorials/combining.md), which is why there have to be reasons to leave them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from rankwright.data import QuerySet
from rankwright.ensembles.combine import TRIED, weighed
from rankwright.learners.sweep import profile
from rankwright.measures import Measure
from rankwright.measures.base import Floats
from rankwright.measures.lists import Lists, mean_value

CLEARLY = 3.0
"""Whose mean is that many standard errors of the paired differences below the best one's is clearly worse."""
EARNED = 2.0
"""From so many standard errors of the paired differences on a gain is more than chance would easily make."""


class Judge:
    """A measure of scores by stored row: query by query, and its mean."""

    def __init__(self, measure: Measure, queries: QuerySet, n_jobs: int | None = None):
        assert queries.labels is not None
        self.measure, self.queries, self.n_jobs = measure, queries, n_jobs
        self._lists = Lists(queries.labels, queries.offsets, rows=queries.rows, n_jobs=n_jobs)

    def values(self, scores: Floats) -> Floats:
        """One value a query; NaN where there is nothing to find."""
        return self._lists.ranked(scores, self.queries.documents).values(self.measure)

    def mean(self, scores: Floats) -> float:
        """The mean over queries."""
        return mean_value(self.values(scores), self.queries.query_weight)

    def gain(self, before: Floats, after: Floats) -> tuple[float, float]:
        """The mean of the differences of two lines of values, and its standard error."""
        gains = after - before
        counted = ~np.isnan(gains)
        weights = np.ones(len(gains)) if self.queries.query_weight is None else self.queries.query_weight
        shares = weights[counted] / max(weights[counted].sum(), 1e-300)
        mean = float(shares @ gains[counted])
        return mean, float(np.sqrt((shares**2) @ (gains[counted] - mean) ** 2))


def clearly_worse(values: Sequence[Floats], judge: Judge) -> NDArray[np.bool_]:
    """Of lines of values by query, those that are clearly below the one of the best mean."""
    means = [mean_value(line, judge.queries.query_weight) for line in values]
    best = values[int(np.argmax(means))]
    gains = [judge.gain(line, best) for line in values]
    return np.array([mean > CLEARLY * error for mean, error in gains])


def chosen(scores: Floats, judge: Judge, ended: Callable[[], bool] = lambda: False) -> tuple[Floats, float]:
    """The weight of each line of scores (0: it does not sit), and the mean measure with these weights.

    No share is sought any more once ``ended``.
    """
    values = [judge.values(line) for line in scores]
    means = np.array([mean_value(line, judge.queries.query_weight) for line in values])
    sits = ~clearly_worse(values, judge)
    weights = sits / sits.sum()
    while not ended():
        found = _best_share(weights, scores, judge, ended)
        if found is None:
            break
        weights = found
    weights, best = _pruned(weights, means, scores, judge)
    if not best >= means.max():
        weights, best = np.eye(len(scores))[int(np.argmax(means))], float(means.max())
    return weights, best


def _best_share(weights: Floats, scores: Floats, judge: Judge, ended: Callable[[], bool]) -> Floats | None:
    """The weights with the share that gains most; None where none of them earns it."""
    now = weighed(weights, scores)
    values = judge.values(now)
    winner, most = None, 0.0
    for k in range(len(scores)):
        if ended():
            return None
        found = profile(now, scores[k] - now, judge.measure, judge.queries, n_jobs=judge.n_jobs)
        for alpha in found.candidates(TRIED)[:1]:
            moved = weights * (1.0 - alpha)
            moved[k] += alpha
            gain, error = judge.gain(values, judge.values(weighed(moved, scores)))
            if gain > most and gain > EARNED * error:
                winner, most = moved, gain
    return winner


def _pruned(weights: Floats, means: Floats, scores: Floats, judge: Judge) -> tuple[Floats, float]:
    """The weights without those whose absence gains, the weakest first; the mean then."""
    values = judge.values(weighed(weights, scores))
    for k in np.argsort(means, kind="stable"):
        without = np.where(np.arange(len(weights)) == k, 0.0, weights)
        if weights[k] != 0 and without.any():
            there = judge.values(weighed(without, scores))
            gain, error = judge.gain(values, there)
            if gain > 0 and gain > EARNED * error:
                weights, values = without, there
    weights = weights / weights.sum()
    return weights, judge.mean(weighed(weights, scores))
