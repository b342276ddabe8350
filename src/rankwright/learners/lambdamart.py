"""LambdaMART (2010 section 7): boosted trees on the λ's of any measure.

for m = 1 … n_estimators:
    λᵢ, wᵢ        the forces on each document at the scores so far, and their slopes
    a tree        least squares on λ (paper), or second order on λ and w
    leaf values   Σλ / Σw (a Newton step), times the learning rate
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankwright.data import QuerySet
from rankwright.learners.base import Ranker
from rankwright.learners.boosting import Floats, Plan, Singles, boost
from rankwright.measures import Measure
from rankwright.measures.lists import Lists
from rankwright.pairwise.lambdas import Lambdas
from rankwright.runtime.errors import InputError
from rankwright.scorers.forest import ForestScorer, Link
from rankwright.trees.grower import Shape


class LambdaMART(Ranker):
    """Boosted trees on the λ's of a measure.

    ``mode="paper"`` is the algorithm of the paper: all pairs, trees by least squares, no normalisation; the
    default truncates and normalises as users of LightGBM know it.

    >>> import rankwright as rw
    >>> data = rw.synthetic.random_net(20, 20, random_state=1)
    >>> ranker = LambdaMART(n_estimators=5, min_samples_leaf=5).fit(data)
    >>> ranker.scorer_.n_trees
    5
    """

    scorer_: ForestScorer

    def __init__(
        self,
        *,
        measure: str | Measure = "ndcg@10",
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_leaf_nodes: int = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        min_hessian: float = 1e-3,
        l2_regularization: float = 0.0,
        max_bins: int = 255,
        mode: Literal["default", "paper"] = "default",
        truncation: int | None = 30,
        sigma: float = 1.0,
        categorical_features: Any = (),
        monotonic_cst: Any = None,
        subsample: float = 1.0,
        query_subsample: float = 1.0,
        feature_fraction: float = 1.0,
        features_per_node: int = 0,
        random_bins: bool = False,
        exact_counts: bool = False,
        early_stopping_rounds: int | None = None,
        random_state: int = 0,
        n_jobs: int | None = None,
    ):
        self.measure = measure
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_hessian = min_hessian
        self.l2_regularization = l2_regularization
        self.max_bins = max_bins
        self.mode = mode
        self.truncation = truncation
        self.sigma = sigma
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.subsample = subsample
        self.query_subsample = query_subsample
        self.feature_fraction = feature_fraction
        self.features_per_node = features_per_node
        self.random_bins = random_bins
        self.exact_counts = exact_counts
        self.early_stopping_rounds = early_stopping_rounds
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, queries: QuerySet, valid: QuerySet | None, progress: Any = None) -> None:
        objective = MeasureLambdas(self, queries)
        boosted = boost(queries, valid, objective, plan_of(self), self.selection_measure, progress)
        self.history_ = boosted.history
        about = self._about(queries, trees=len(boosted.steps))
        self.scorer_ = boosted.forest(objective, **about)


class MeasureLambdas:
    """The objective: λ's pushed the other way are the gradients of the implicit cost."""

    link: Link = "identity"

    def __init__(self, learner: LambdaMART, queries: QuerySet):
        if learner.mode not in ("default", "paper"):
            raise InputError(f"mode is {learner.mode!r}; it is 'default' or 'paper'")
        assert queries.labels is not None
        self.start: Floats = np.zeros(1)
        paper = learner.mode == "paper"
        measure = learner.selection_measure
        measure.check_labels(queries.labels)
        self._lambdas = Lambdas(
            Lists(queries.labels, queries.offsets, rows=queries.rows, n_jobs=learner.n_jobs),
            measure,
            weights=queries.sample_weight,
            query_weight=queries.query_weight,
            sigma=learner.sigma,
            truncation=None if paper else learner.truncation,
            by_distance=not paper,
            by_total=not paper,
        )
        self._out = np.empty(len(queries), np.float32), np.empty(len(queries), np.float32)
        self._ones: Singles | None = np.ones(len(queries), np.float32) if paper else None

    def gradients(self, scores: NDArray[np.float64]) -> list[tuple[Singles, Singles, Singles]]:
        """−λ; least squares takes every hessian for 1."""
        lambdas, hessians = self._lambdas.at(scores[0], self._out)
        np.negative(lambdas, out=lambdas)
        return [(lambdas, hessians if self._ones is None else self._ones, hessians)]


def plan_of(learner: Any) -> Plan:
    """The plan and the shape of trees that a learner's parameters state."""
    shape = Shape(
        max_leaf_nodes=learner.max_leaf_nodes,
        max_depth=learner.max_depth,
        min_samples_leaf=learner.min_samples_leaf,
        min_hessian=learner.min_hessian,
        l2_regularization=learner.l2_regularization,
        monotone=learner.monotonic_cst,
        features_per_node=learner.features_per_node,
        random_bins=learner.random_bins,
        exact_counts=learner.exact_counts,
    )
    return Plan(
        n_estimators=learner.n_estimators,
        learning_rate=learner.learning_rate,
        shape=shape,
        max_bins=learner.max_bins,
        categorical=tuple(learner.categorical_features),
        subsample=learner.subsample,
        query_subsample=learner.query_subsample,
        feature_fraction=learner.feature_fraction,
        early_stopping_rounds=learner.early_stopping_rounds,
        random_state=learner.random_state,
        n_jobs=learner.n_jobs,
    )
