"""AdaRank (Xu and Li 2007): boosting of single features on any measure E, by weights of queries.

P₁(i) = 1/m
for t = 1 … T:
    1.  hₜ, of the weak rankers the one of the best  Σ Pₜ(i) E(π(hₜ), yᵢ)
    2.  αₜ = ½ ln ( Σ Pₜ(i) (1 + E(π(hₜ), yᵢ)) / Σ Pₜ(i) (1 − E(π(hₜ), yᵢ)) )
    3.  fₜ = fₜ₋₁ + αₜ hₜ
    4.  Pₜ₊₁(i) = exp(−E(π(fₜ), yᵢ)) / Σ exp(−E(π(fₜ), yⱼ))

A weak ranker is a feature, up or down. E of all weak rankers is measured once, since the weights of queries
are all that changes. Where a round leaves these weights as they were, the next would choose the same again,
and all after it: a feature is not taken twice for the same weights. E lies in [0, 1]; a measure that may be
greater is divided by the greatest that it can be on the training data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rankwright.data import QuerySet
from rankwright.learners.base import DEFAULT_MEASURE, Ranker, check_whole
from rankwright.learners.nets import rows_of
from rankwright.learners.rounds import Rounds
from rankwright.measures import Measure
from rankwright.measures.lists import Lists
from rankwright.networks.training import Record
from rankwright.runtime.arrays import Floats
from rankwright.runtime.errors import InputError
from rankwright.scorers import LinearScorer, Standardising, Transform
from rankwright.scorers.quadratic import linear_scores
from rankwright.scorers.transform import UNCHANGED

CERTAIN = 1 - 1e-9
"""A weak ranker without fault would have an α without bound."""


class AdaRank(Ranker):
    """Boosting of single features on any measure, by weights of queries.

    Each of ``n_estimators`` rounds takes the feature that is best on the queries that all before it leave
    badly ranked. With ``valid`` the best round is kept. ``standardise`` puts the features on one scale first.

    >>> X = np.random.default_rng(0).standard_normal((100, 3))
    >>> y, qid = np.round(X[:, 0] - X[:, 1]).clip(0, 2), np.repeat(np.arange(10), 10)
    >>> ranker = AdaRank(measure="map").fit(X, y, qid=qid)
    >>> ranker.score(X, y, qid=qid) > 0.8, (np.sign(ranker.scorer_.weights[:2])).tolist()
    (True, [1.0, -1.0])
    """

    paper = "Xu and Li 2007"
    trains_for_measure = True

    def __init__(
        self,
        *,
        measure: str | Measure = DEFAULT_MEASURE,
        n_estimators: int = 200,
        early_stopping_rounds: int | None = None,
        standardise: bool = True,
        n_jobs: int | None = None,
    ):
        self.measure = measure
        self.n_estimators = n_estimators
        self.early_stopping_rounds = early_stopping_rounds
        self.standardise = standardise
        self.n_jobs = n_jobs

    def _fit(
        self, queries: QuerySet, valid: QuerySet | None, progress: Callable[[Record], None] | None = None
    ) -> None:
        check_whole(self, n_estimators=1)
        transform: Transform = Standardising.of(queries.features) if self.standardise else UNCHANGED
        rows, quality = rows_of(queries, transform), Quality(self, queries)
        held = np.empty((0, 0)) if valid is None else rows_of(valid, transform)
        single = quality.of_features(rows)  # one line a weak ranker, one column a query
        weights, shares = np.zeros(queries.n_features), quality.weights / quality.weights.sum()
        taken: list[int] = []
        rounds = Rounds(self, valid, progress)
        for _ in range(self.n_estimators):
            # 1. The weak ranker that is best by the weights of queries.
            values = np.einsum("ij,j->i", single, shares)
            values[taken] = -np.inf
            weak = int(np.argmax(values))
            if values[weak] == -np.inf:
                break
            # 2. How much it counts, and 3. the ranker with it.
            feature, upward = weak % queries.n_features, weak < queries.n_features
            alpha = importance(float(values[weak])) * (1.0 if upward else -1.0)
            weights[feature] += alpha
            # 4. The queries that it leaves badly ranked.
            here = quality.of(linear_scores(rows, weights))
            before, shares = shares, reweighed(here, quality.weights)
            taken = [*taken, weak] if np.array_equal(before, shares) else []
            record = {"feature": feature, "alpha": alpha, "train": quality.mean(here)}
            if not rounds.add(record, lambda: linear_scores(held, weights), weights.copy()):
                break
        self.history_ = rounds.history
        about = self._about(queries, steps=len(self.history_))
        self.scorer_ = LinearScorer(rounds.kept, transform=transform, **about)


class Quality:
    """E of the queries in which there is something to find."""

    def __init__(self, learner: Any, queries: QuerySet):
        assert queries.labels is not None
        self._measure = learner.selection_measure
        self._lists = Lists(queries.labels, queries.offsets, rows=queries.rows, n_jobs=learner.n_jobs)
        own = np.ones(queries.n_queries) if queries.query_weight is None else queries.query_weight
        self._counted = (self._lists.constants(self._measure) != 0) & (own > 0)
        if not self._counted.any():
            raise InputError(
                f"there is nothing to learn from: no query has anything to find for {self._measure!r}; "
                "give graded labels"
            )
        self.weights: Floats = own[self._counted]
        ideal = np.where(np.isnan(queries.labels), -np.inf, queries.labels)
        self._scale = 1.0
        self._scale = max(1.0, float(np.nanmax(self.of(ideal))))

    def of(self, scores: Floats) -> Floats:
        """E of each query that counts, in the order of these scores."""
        values = self._lists.ranked(np.ascontiguousarray(scores, np.float64)).values(self._measure)
        return np.nan_to_num(values[self._counted]) / self._scale

    def of_features(self, rows: Any) -> Floats:
        """E of each feature as the score, then of each the other way round."""
        return np.array([self.of(sign * rows[:, f]) for sign in (1.0, -1.0) for f in range(rows.shape[1])])

    def mean(self, values: Floats) -> float:
        """The measure's mean."""
        return float((self.weights * values).sum() / self.weights.sum()) * self._scale


def importance(value: float) -> float:
    """α of a weak ranker whose E, by the weights of queries, is this.

    >>> round(importance(0.5), 4)
    0.5493
    """
    return float(np.arctanh(min(value, CERTAIN)))


def reweighed(values: Floats, weights: Floats) -> Floats:
    """The weights of queries by what the ranker makes of them.

    >>> reweighed(np.array([1.0, 0.0]), np.ones(2)).round(3)
    array([0.269, 0.731])
    """
    powers = weights * np.exp(-values)
    shares: Floats = powers / powers.sum()
    return shares
