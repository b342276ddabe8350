"""Boosting, for all learners of trees: gradients at the scores so far, a tree for them, a step, and again.

What is boosted is an objective, which says where the scores begin and what their gradients are; what its
trees may be is a ``Shape``. The rest (sampling, validation, stopping, the forest) is written here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rankwright.data import QuerySet
from rankwright.learners.base import judge
from rankwright.runtime.errors import InputError
from rankwright.scorers.forest import ForestScorer, Link, linked
from rankwright.scorers.forest_kernels import Nodes
from rankwright.trees.binning import BinnedData, Bins
from rankwright.trees.grower import Grower, Shape
from rankwright.trees.tree import Tree

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Rows = NDArray[np.uint32]
Gradients = tuple[Singles, Singles, Singles]


class Objective(Protocol):
    """What is boosted. Scores are (outputs, rows); gradients are those of a cost to be lowered."""

    link: Link
    start: Floats
    draws: bool
    """Whether its gradients depend on chance, and so on the step."""

    def gradients(self, scores: Floats, step: int) -> list[Gradients]:
        """For each output what to grow a tree on (gradients, hessians), and the hessians for its values."""
        ...


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class TreeParameters:
    """The parameters that all learners of boosted trees share.

    ``subsample`` and ``query_subsample`` are the shares of rows and of whole queries that a tree is grown on,
    ``feature_fraction`` the share of features, ``features_per_node`` how many of these a node may look at (a
    number, or below 1 a share; 0: all). ``random_bins`` tries one threshold at random for each feature, not
    all. ``exact_counts`` keeps gradients twice as wide, for weights that differ widely, and knows the rows of
    each side exactly. ``n_runs`` averages the trees of so many runs that differ by chance alone, as one
    scorer, at as many times the price. ``categorical_features`` are indices; ``monotonic_cst`` has 1, −1 or 0
    for each feature. With ``valid``, the best step is kept, and ``early_stopping_rounds`` without a better
    one end training.
    """

    n_estimators: int = 100
    learning_rate: float = 0.1
    max_leaf_nodes: int = 31
    max_depth: int | None = None
    min_samples_leaf: int = 20
    min_hessian: float = 1e-3
    l2_regularization: float = 0.0
    min_gain: float = 0.0
    max_bins: int = 255
    categorical_features: Sequence[int] = ()
    monotonic_cst: Sequence[int] | None = None
    subsample: float = 1.0
    query_subsample: float = 1.0
    feature_fraction: float = 1.0
    features_per_node: float = 0
    random_bins: bool = False
    exact_counts: bool = False
    n_runs: int = 1
    early_stopping_rounds: int | None = None
    random_state: int = 0
    n_jobs: int | None = None


def shape_of(learner: TreeParameters, n_features: int) -> Shape:
    """What the learner's trees may be; its parameters are checked here."""
    least = {
        "n_estimators": 1, "max_leaf_nodes": 2, "max_depth": 1, "min_samples_leaf": 1, "random_state": 0,
    }  # fmt: skip
    for name, lowest in least.items():
        value = getattr(learner, name)
        if name == "max_depth" and value is None:
            continue
        if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < lowest:
            raise InputError(f"{name} is {value!r}; it is a whole number of at least {lowest}")
    for name in ("l2_regularization", "min_hessian", "min_gain"):
        if not 0 <= getattr(learner, name) < np.inf:
            raise InputError(f"{name} is {getattr(learner, name)!r}; it is a number of at least 0")
    for name in ("learning_rate", "subsample", "query_subsample", "feature_fraction"):
        most = np.inf if name == "learning_rate" else 1
        if not 0 < getattr(learner, name) <= most:
            raise InputError(
                f"{name} is {getattr(learner, name)!r}; it is a number above 0"
                + f" and at most {most}" * (most == 1)
            )
    monotone = learner.monotonic_cst
    if monotone is not None and (len(monotone) != n_features or not set(monotone) <= {-1, 0, 1}):
        raise InputError(
            f"monotonic_cst is {monotone!r}; give 1, -1 or 0 for each of the {n_features} features"
        )
    outside = [f for f in learner.categorical_features if not 0 <= f < n_features]
    if outside:
        raise InputError(
            f"categorical_features names feature {outside[0]}; there are {n_features}, counted from 0"
        )
    both = [f for f in learner.categorical_features if monotone is not None and monotone[f] != 0]
    if both:
        raise InputError(
            f"feature {both[0]} is categorical and has a direction in monotonic_cst; "
            "categories have no order, so give 0 there"
        )
    return Shape(
        max_leaf_nodes=learner.max_leaf_nodes,
        max_depth=learner.max_depth,
        min_samples_leaf=learner.min_samples_leaf,
        min_hessian=learner.min_hessian,
        l2_regularization=learner.l2_regularization,
        min_gain=learner.min_gain,
        monotone=monotone,
        features_per_node=features_a_node(learner, n_features),
        random_bins=learner.random_bins,
        exact_counts=learner.exact_counts,
    )


def features_a_node(learner: TreeParameters, n_features: int) -> int:
    """How many features a node may look at; 0 for all."""
    given = learner.features_per_node
    if not isinstance(given, int | float | np.integer) or isinstance(given, bool) or not 0 <= given < np.inf:
        raise InputError(
            f"features_per_node is {given!r}; it is a number of features, a share below 1, or 0 for all"
        )
    if 0 < given < 1:
        return max(1, round(given * n_features))
    if given != int(given):
        raise InputError(f"features_per_node is {given!r}; a number of features is whole, a share is below 1")
    return int(given)


def row_weights(queries: QuerySet) -> Floats:
    """The weight of each row to learners that look at one at a time: its document's times its query's."""
    weights = np.ones(len(queries)) if queries.sample_weight is None else queries.sample_weight
    return (
        weights if queries.query_weight is None else weights * np.repeat(queries.query_weight, queries.sizes)
    )


def seed_of(random_state: int, step: int, stream: int = 0) -> int:
    """The seed of a step's numbers; each stream has its own."""
    return (random_state * 1_000_003 + step * 1_009 + stream * 998_244_353) % 2**62


def has_chance(learner: TreeParameters, objective: Objective) -> bool:
    """Whether anything is drawn, so that a step may differ from the one before, and a run from another."""
    shares = learner.subsample, learner.query_subsample, learner.feature_fraction
    return min(shares) < 1 or bool(learner.features_per_node) or learner.random_bins or objective.draws


def boost(
    learner: Any,
    queries: QuerySet,
    valid: QuerySet | None,
    objective: Objective,
    progress: Callable[[dict[str, Any]], None] | None = None,
) -> tuple[ForestScorer, list[dict[str, Any]]]:
    """Boost trees as the learner's parameters say: the scorer, and a record of each step.

    With ``valid`` the scorer ends with the best step, by the mean of the learner's measure.
    """
    training = Training(learner, queries, valid, objective)
    for step in range(learner.n_estimators):
        training.step(step)
        if progress is not None:
            progress(training.history[-1])
        if training.is_done:
            break
    return training.scorer(), training.history


class Training:
    """Boosting under way: the data in bins, the scores so far, the trees, and a record of each step."""

    def __init__(self, learner: Any, queries: QuerySet, valid: QuerySet | None, objective: Objective):
        self.learner, self.queries, self.objective = learner, queries, objective
        shape = shape_of(learner, queries.n_features)
        self.bins = Bins.of(queries.features, learner.max_bins, learner.categorical_features, learner.n_jobs)
        self.data = self.bins.assign(queries.features, learner.n_jobs)
        self.grower = Grower(self.data, shape, learner.n_jobs)
        self.scores = np.tile(objective.start[:, None], (1, len(queries)))
        self.held_out = None if valid is None else HeldOut(valid, self.bins, objective, learner)
        self.steps: list[list[Tree]] = []
        self.history: list[dict[str, Any]] = []
        self.best = 0

    def step(self, step: int) -> None:
        """One tree for each output."""
        learner = self.learner
        rows, left_out = draw_rows(self.queries, learner, step)
        features = draw_features(self.queries.n_features, learner, step)
        trees = []
        found = self.objective.gradients(self.scores, step)
        for output, (gradients, hessians, curvatures) in enumerate(found):
            seed = (learner.random_state * 1_000_003 + step * len(self.scores) + output) % 2**62
            grown = self.grower.grow(gradients, hessians, rows=rows, features=features, seed=seed)
            values = learner.learning_rate * self.grower.newton_values(grown, gradients, curvatures)
            self.grower.add_values(grown, values, self.scores[output])
            trees.append(self.grower.tree(grown, values))
            if left_out is not None:
                trees[-1].add_to(self.scores[output], self.data, left_out, learner.n_jobs)
        self.steps.append(trees)
        record: dict[str, Any] = {"step": step + 1, "leaves": sum(len(tree.values) for tree in trees)}
        if self.held_out is not None:
            record["valid"] = self.held_out.after(trees)
            if not self.history or record["valid"] > self.history[self.best]["valid"]:
                self.best = step
        self.history.append(record)

    @property
    def is_done(self) -> bool:
        """Whether more steps are of no use."""
        learner, step = self.learner, len(self.steps) - 1
        patience = learner.early_stopping_rounds
        if self.held_out is not None and patience and step - self.best >= patience:
            return True
        # Without a split and without chance the next step would be the same.
        return self.history[-1]["leaves"] == len(self.steps[-1]) and not has_chance(learner, self.objective)

    def scorer(self) -> ForestScorer:
        """The trees up to the best step."""
        steps = self.steps if self.held_out is None else self.steps[: self.best + 1]
        start = np.asarray(self.objective.start, np.float64)
        trees = nodes_of([tree for step in steps for tree in step], len(start), self.bins)
        about = self.learner._about(self.queries, steps=len(steps))
        return ForestScorer(trees, start, self.queries.n_features, link=self.objective.link, **about)


class HeldOut:
    """Validation queries with their scores so far."""

    def __init__(self, valid: QuerySet, bins: Bins, objective: Objective, learner: Any):
        self._data: BinnedData = bins.assign(valid.features, learner.n_jobs)
        self._scores = np.tile(objective.start[:, None], (1, len(valid)))
        self._link, self._n_jobs = objective.link, learner.n_jobs
        self._mean = judge(learner.selection_measure, valid)

    def after(self, trees: list[Tree]) -> float:
        """The mean measure once these trees are added."""
        for tree, scores in zip(trees, self._scores, strict=True):
            tree.add_to(scores, self._data, None, self._n_jobs)
        return self._mean(linked(np.ascontiguousarray(self._scores.T), self._link))


def draw_rows(queries: QuerySet, learner: Any, step: int) -> tuple[Rows | None, Rows | None]:
    """The rows to grow a step's trees on and those left out; None and None where all are in."""
    if learner.subsample == 1.0 and learner.query_subsample == 1.0:
        return None, None
    random = np.random.default_rng([learner.random_state, step, 0])
    taken = np.ones(len(queries), np.bool_)
    if learner.query_subsample < 1.0:
        count = max(1, round(learner.query_subsample * queries.n_queries))
        chosen = np.zeros(queries.n_queries, np.bool_)
        chosen[random.choice(queries.n_queries, count, replace=False)] = True
        taken = np.repeat(chosen, queries.sizes)
    if learner.subsample < 1.0:
        taken &= random.random(len(queries)) < learner.subsample
        taken[0] |= not taken.any()
    return np.flatnonzero(taken).astype(np.uint32), np.flatnonzero(~taken).astype(np.uint32)


def draw_features(n_features: int, learner: Any, step: int) -> NDArray[np.bool_] | None:
    """The features that a step's trees may use; None for all of them."""
    if learner.feature_fraction == 1.0:
        return None
    random = np.random.default_rng([learner.random_state, step, 1])
    allowed = np.zeros(n_features, np.bool_)
    count = max(1, round(learner.feature_fraction * n_features))
    allowed[random.choice(n_features, count, replace=False)] = True
    return allowed


def nodes_of(trees: list[Tree], outputs: int, bins: Bins) -> Nodes:
    """Trees one after the other; tree t adds to output t mod ``outputs``."""
    feature = np.concatenate([tree.feature for tree in trees])
    categorical = bins.categorical[feature]
    category_set = np.where(categorical, np.cumsum(categorical) - 1, -1).astype(np.int32)
    leaves = [len(tree.values) for tree in trees]
    values = np.zeros((sum(leaves), outputs))
    output = np.repeat(np.arange(len(trees)) % outputs, leaves)
    values[np.arange(len(output)), output] = np.concatenate([tree.values for tree in trees])
    codes = [
        bins.bounds[f, : bins.counts[f] - 1] if bins.categorical[f] else np.empty(0, np.float32)
        for f in range(len(bins.counts))
    ]
    return Nodes(
        first_node=np.cumsum([0, *(len(tree.feature) for tree in trees)]),
        first_leaf=np.cumsum([0, *leaves]),
        feature=feature,
        threshold=np.concatenate([tree.threshold for tree in trees]),
        missing_left=np.concatenate([tree.missing_left for tree in trees]),
        category_set=category_set,
        left=np.concatenate([tree.left for tree in trees]),
        right=np.concatenate([tree.right for tree in trees]),
        values=values,
        sets=np.concatenate([tree.bins_left for tree in trees])[categorical],
        first_code=np.cumsum([0, *(len(of_feature) for of_feature in codes)]),
        codes=np.concatenate(codes),
    )
