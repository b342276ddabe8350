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
from rankwright.measures import Measure
from rankwright.runtime.errors import InputError
from rankwright.scorers.forest import ForestScorer, Link, linked
from rankwright.scorers.forest_kernels import Nodes
from rankwright.trees.binning import BinnedData, Bins
from rankwright.trees.grower import Grower, Shape
from rankwright.trees.tree import Tree

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Rows = NDArray[np.uint32]


class Objective(Protocol):
    """What is boosted. Scores are (outputs, rows); gradients are those of a cost to be lowered."""

    link: Link
    start: Floats

    def gradients(self, scores: Floats) -> list[tuple[Singles, Singles, Singles]]:
        """For each output what to grow a tree on (gradients, hessians), and the hessians for its values."""
        ...


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plan:
    """How to boost, as the learners' parameters say it."""

    n_estimators: int
    learning_rate: float
    shape: Shape
    max_bins: int = 255
    categorical: Sequence[int] = ()
    subsample: float = 1.0
    query_subsample: float = 1.0
    feature_fraction: float = 1.0
    early_stopping_rounds: int | None = None
    random_state: int = 0
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        if self.n_estimators < 1:
            raise InputError(f"n_estimators is {self.n_estimators}; it is a number of trees of at least 1")
        if not self.learning_rate > 0:
            raise InputError(f"learning_rate is {self.learning_rate}; it is a number above 0")
        for name in ("subsample", "query_subsample", "feature_fraction"):
            share = getattr(self, name)
            if not 0 < share <= 1:
                raise InputError(f"{name} is {share}; it is a share above 0 and at most 1")


@dataclasses.dataclass(frozen=True, eq=False)
class Boosted:
    """What boosting leaves: the trees of each step (one an output), the bins, and a record of each step."""

    steps: list[list[Tree]]
    bins: Bins
    history: list[dict[str, Any]]

    def forest(self, objective: Objective, **about: Any) -> ForestScorer:
        """The trees as a scorer."""
        trees = nodes_of([tree for step in self.steps for tree in step], len(objective.start), self.bins)
        start = np.asarray(objective.start, np.float64)
        return ForestScorer(trees, start, len(self.bins.counts), link=objective.link, **about)


def boost(
    queries: QuerySet,
    valid: QuerySet | None,
    objective: Objective,
    plan: Plan,
    measure: Measure,
    progress: Callable[[dict[str, Any]], None] | None = None,
) -> Boosted:
    """Boost trees; with ``valid`` the steps up to the best of them, by its mean measure."""
    bins = Bins.of(queries.features, plan.max_bins, plan.categorical, plan.n_jobs)
    data = bins.assign(queries.features, plan.n_jobs)
    grower = Grower(data, plan.shape, plan.n_jobs)
    outputs = len(objective.start)
    scores = np.tile(objective.start[:, None], (1, len(queries)))
    held_out = None if valid is None else HeldOut(valid, bins, objective, measure, plan)
    steps: list[list[Tree]] = []
    history: list[dict[str, Any]] = []
    best = 0
    for step in range(plan.n_estimators):
        rows, left_out = draw_rows(queries, plan, step)
        features = draw_features(queries.n_features, plan, step)
        trees = []
        for output, (gradients, hessians, curvatures) in enumerate(objective.gradients(scores)):
            seed = plan.random_state * 1_000_003 + step * outputs + output
            grown = grower.grow(gradients, hessians, rows=rows, features=features, seed=seed)
            values = plan.learning_rate * grower.newton_values(grown, gradients, curvatures)
            grower.add_values(grown, values, scores[output])
            tree = grower.tree(grown, values)
            if left_out is not None:
                tree.add_to(scores[output], data, left_out, plan.n_jobs)
            trees.append(tree)
        steps.append(trees)
        record: dict[str, Any] = {"step": step + 1, "leaves": sum(len(tree.values) for tree in trees)}
        if held_out is not None:
            record["valid"] = held_out.after(trees)
            if not history or record["valid"] > history[best]["valid"]:
                best = step
        history.append(record)
        if progress is not None:
            progress(record)
        if held_out is not None and plan.early_stopping_rounds and step - best >= plan.early_stopping_rounds:
            break
        if all(len(tree.values) == 1 for tree in trees) and rows is None and features is None:
            break  # the next step would be the same
    return Boosted(steps[: best + 1] if held_out is not None else steps, bins, history)


class HeldOut:
    """Validation queries with their scores so far."""

    def __init__(self, valid: QuerySet, bins: Bins, objective: Objective, measure: Measure, plan: Plan):
        self._data: BinnedData = bins.assign(valid.features, plan.n_jobs)
        self._scores = np.tile(objective.start[:, None], (1, len(valid)))
        self._link, self._n_jobs = objective.link, plan.n_jobs
        self._mean = judge(measure, valid)

    def after(self, trees: list[Tree]) -> float:
        """The mean measure once these trees are added."""
        for tree, scores in zip(trees, self._scores, strict=True):
            tree.add_to(scores, self._data, None, self._n_jobs)
        return self._mean(linked(np.ascontiguousarray(self._scores.T), self._link))


def draw_rows(queries: QuerySet, plan: Plan, step: int) -> tuple[Rows | None, Rows | None]:
    """The rows to grow a step's trees on and those left out; None and None where all are in."""
    if plan.subsample == 1.0 and plan.query_subsample == 1.0:
        return None, None
    random = np.random.default_rng([plan.random_state, step, 0])
    taken = np.ones(len(queries), np.bool_)
    if plan.query_subsample < 1.0:
        count = max(1, round(plan.query_subsample * queries.n_queries))
        chosen = np.zeros(queries.n_queries, np.bool_)
        chosen[random.choice(queries.n_queries, count, replace=False)] = True
        taken = np.repeat(chosen, queries.sizes)
    if plan.subsample < 1.0:
        taken &= random.random(len(queries)) < plan.subsample
        taken[0] |= not taken.any()
    return np.flatnonzero(taken).astype(np.uint32), np.flatnonzero(~taken).astype(np.uint32)


def draw_features(n_features: int, plan: Plan, step: int) -> NDArray[np.bool_] | None:
    """The features that a step's trees may use; None for all of them."""
    if plan.feature_fraction == 1.0:
        return None
    random = np.random.default_rng([plan.random_state, step, 1])
    allowed = np.zeros(n_features, np.bool_)
    count = max(1, round(plan.feature_fraction * n_features))
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
