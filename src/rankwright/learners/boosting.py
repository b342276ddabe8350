"""Boosting, for all learners of trees: gradients at the scores so far, a tree for them, a step, and again.

What is boosted is an objective, which says where the scores begin and what their gradients are; what its
trees may be is a ``Shape``. Sampling, validation and stopping are written here, and how training goes on from
trees that there are already: their scores are made again on the raw features, and are the same bits.
"""

from __future__ import annotations

import dataclasses
import time
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rankwright.data import QuerySet
from rankwright.learners.adaptation import base_scores
from rankwright.learners.base import judge
from rankwright.learners.forests import forest_of, joined, suited
from rankwright.learners.tree_parameters import TreeParameters, shape_of
from rankwright.scorers import Scorer
from rankwright.scorers.forest import ForestScorer, Link, linked
from rankwright.trees.binning import BinnedData, Bins
from rankwright.trees.grower import Grower
from rankwright.trees.tree import Tree

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Rows = NDArray[np.uint32]
Gradients = tuple[Singles, Singles, Singles]
Record = dict[str, Any]


class Objective(Protocol):
    """What is boosted. Scores are (outputs, rows); gradients are those of a cost to be lowered."""

    link: Link
    start: Floats
    draws: bool
    """Whether its gradients depend on chance, and so on the step."""

    def gradients(self, scores: Floats, step: int) -> list[Gradients]:
        """For each output what to grow a tree on (gradients, hessians), and the hessians for its values."""
        ...


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


@dataclasses.dataclass(frozen=True)
class Run:
    """Boosting so far: all its trees, and a record of each step."""

    forest: ForestScorer
    history: list[Record]


class Step(NamedTuple):
    """A step that is done; ``best`` is the best so far, counted from 0."""

    trees: list[Tree]
    record: Record
    best: int


class Training:
    """Boosting under way: the data in bins, the scores so far, the trees, and a record of each step.

    It goes on from an ``earlier`` run, and adds to the scores of ``base``. ``marks`` go to each record.
    """

    def __init__(
        self,
        learner: Any,
        queries: QuerySet,
        valid: QuerySet | None,
        objective: Objective,
        *,
        base: Scorer | None = None,
        earlier: Run | None = None,
        measure_train: bool = False,
        marks: Record | None = None,
    ):
        self.learner, self.queries, self.objective = learner, queries, objective
        shape = shape_of(learner, queries.n_features)
        self.bins = Bins.of(queries.features, learner.max_bins, learner.categorical_features, learner.n_jobs)
        self.data = self.bins.assign(queries.features, learner.n_jobs)
        self.grower = Grower(self.data, shape, learner.n_jobs)
        self.earlier = earlier
        self.start = objective.start if base is None else np.zeros_like(objective.start)
        if earlier is not None:
            self.start = suited(earlier.forest, self.start, self.bins).start
        self.scores = self._begun(queries)
        self.begun = None if base is None else base_scores(base, queries)
        self.held_out = None if valid is None else HeldOut(self, valid, base)
        self._mean = judge(learner.selection_measure, queries) if measure_train else None
        self._marks = marks or {}
        self.steps: list[Step] = []
        self._started = time.perf_counter()

    def _begun(self, queries: QuerySet) -> Floats:
        """Scores of the trees that there are already, (outputs, rows)."""
        if self.earlier is None:
            return np.tile(self.start[:, None], (1, len(queries)))
        out = np.empty((len(queries), len(self.start)))
        self.earlier.forest.outputs(queries.features, out, self.learner.n_jobs)
        return np.ascontiguousarray(out.T)

    @property
    def history(self) -> list[Record]:
        """A record of each step, the earlier ones first."""
        return [*(self.earlier.history if self.earlier else ()), *(step.record for step in self.steps)]

    @property
    def n_steps(self) -> int:
        """How many steps are done, the earlier ones among them."""
        return (len(self.earlier.history) if self.earlier else 0) + len(self.steps)

    @property
    def best(self) -> int:
        """The best step on ``valid``, of equal ones the first; without ``valid`` the last."""
        if self.steps:
            return self.steps[-1].best
        return best_of(self.earlier.history if self.earlier else [], self.held_out is not None)

    def step(self) -> Record:
        """One tree for each output."""
        learner, step = self.learner, self.n_steps
        rows, left_out = draw_rows(self.queries, learner, step)
        features = draw_features(self.queries.n_features, learner, step)
        trees: list[Tree] = []
        found = self.objective.gradients(added(self.scores, self.begun), step)
        for output, (gradients, hessians, curvatures) in enumerate(found):
            seed = (learner.random_state * 1_000_003 + step * len(self.scores) + output) % 2**62
            grown = self.grower.grow(gradients, hessians, rows=rows, features=features, seed=seed)
            values = learner.learning_rate * self.grower.newton_values(grown, gradients, curvatures)
            self.grower.add_values(grown, values, self.scores[output])
            trees.append(self.grower.tree(grown, values))
            if left_out is not None:
                trees[-1].add_to(self.scores[output], self.data, left_out, learner.n_jobs)
        record: Record = {"step": step + 1, "leaves": sum(len(tree.values) for tree in trees)}
        if self._mean is not None:
            record["train"] = self._mean(final(self.scores, self.begun, self.objective.link))
        best = step
        if self.held_out is not None:
            record["valid"] = self.held_out.after(trees)
            if step and not record["valid"] > value_of(self._record(self.best)):
                best = self.best
        record |= {"seconds": time.perf_counter() - self._started, **self._marks}
        # All or nothing: an interrupt finds a step with its record, or neither.
        self.steps.append(Step(trees, record, best))
        return record

    def _record(self, step: int) -> Record:
        before = self.earlier.history if self.earlier else []
        return before[step] if step < len(before) else self.steps[step - len(before)].record

    @property
    def is_done(self) -> bool:
        """Whether more steps are too many, or of no use."""
        learner, step = self.learner, self.n_steps - 1
        if step < 0:
            return False
        if step + 1 >= learner.n_estimators:
            return True
        patience = learner.early_stopping_rounds
        if self.held_out is not None and patience and step - self.best >= patience:
            return True
        # Without a split and without chance the next step would be the same.
        return self._record(step)["leaves"] == len(self.start) and not has_chance(learner, self.objective)

    def run(self) -> Run:
        """All trees, and a record of each step."""
        trees = [tree for step in self.steps for tree in step.trees]
        parts = [] if self.earlier is None else [self.earlier.forest]
        if trees:
            parts.append(forest_of(trees, self.start, self.bins, self.objective.link))
        return Run(joined(parts) if len(parts) > 1 else parts[0], self.history)

    def scorer(self) -> ForestScorer:
        """The trees up to the best step."""
        return self.run().forest.first((self.best + 1) * len(self.start))


class HeldOut:
    """Validation queries with their scores so far."""

    def __init__(self, training: Training, valid: QuerySet, base: Scorer | None):
        learner = training.learner
        self._data: BinnedData = training.bins.assign(valid.features, learner.n_jobs)
        self._scores = training._begun(valid)
        self._begun = None if base is None else base_scores(base, valid)
        self._link, self._n_jobs = training.objective.link, learner.n_jobs
        self._mean = judge(learner.selection_measure, valid)

    def after(self, trees: list[Tree]) -> float:
        """The mean measure once these trees are added."""
        for tree, scores in zip(trees, self._scores, strict=True):
            tree.add_to(scores, self._data, None, self._n_jobs)
        return self._mean(final(self._scores, self._begun, self._link))


def added(scores: Floats, begun: Floats | None) -> Floats:
    """The trees' scores on top of the base's."""
    return scores if begun is None else scores + begun


def final(scores: Floats, begun: Floats | None, link: Link) -> Floats:
    """One score a row, as the scorer makes it that will be left."""
    return added(linked(np.ascontiguousarray(scores.T), link), begun)


def best_of(history: list[Record], by_valid: bool) -> int:
    """The best step, counted from 0.

    >>> best_of([{"valid": 0.5}, {"valid": 0.7}, {"valid": 0.7}], True)
    1
    """
    if not by_valid:
        return len(history) - 1
    best = 0
    for step, record in enumerate(history):
        if value_of(record) > value_of(history[best]):
            best = step
    return best


def value_of(record: Record) -> float:
    """The measure on ``valid``; nothing is below that of a step that was made without."""
    return float(record.get("valid", -np.inf))


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
