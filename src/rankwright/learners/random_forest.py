"""A random forest that ranks (Breiman 2001): the mean of trees, each on queries and features drawn at random.

for each tree:
    1.  as many queries as there are, drawn with replacement
    2.  a tree on their documents, which looks at some of the features, drawn anew, at each node
    3.  the value of a leaf: the mean label ("mart"), or the Newton step Σλ / Σw ("lambdamart")
the score is the mean of the trees

Trees do not build on each other, so that all start from the same: from the mean label, or from equal scores,
where λ's follow the order in which the documents are given.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.data import QuerySet
from rankwright.learners.base import DEFAULT_MEASURE, Ranker, check_whole, generator
from rankwright.learners.boosting import row_weights
from rankwright.learners.forests import forest_of
from rankwright.learners.nets import weights_of
from rankwright.learners.rounds import Rounds
from rankwright.learners.tree_parameters import TreeParameters
from rankwright.measures import Measure
from rankwright.measures.lists import Lists
from rankwright.networks.training import Record
from rankwright.pairwise.lambdas import Lambdas
from rankwright.runtime.arrays import Floats, Singles
from rankwright.runtime.errors import InputError
from rankwright.runtime.interrupts import interrupts_deferred
from rankwright.scorers import ForestScorer
from rankwright.trees.binning import Bins
from rankwright.trees.grower import Grower, Shape
from rankwright.trees.tree import Tree

TREES = ("mart", "lambdamart")


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class RandomForestRanker(Ranker):
    """The mean of trees of MART or LambdaMART, each on queries drawn with replacement.

    ``trees`` is "mart" (means of labels) or "lambdamart" (the λ's of the measure at equal scores).
    ``features_per_node`` is how many features a node may look at, a third of them unless given. An interrupt
    leaves the mean of the trees so far, and so does ``progress=`` by raising ``StopIteration``.

    >>> import rankwright as rw
    >>> data = rw.synthetic.random_net(20, 20, random_state=1)
    >>> RandomForestRanker(n_estimators=20).fit(data).scorer_.n_trees
    20
    """

    measure: str | Measure = DEFAULT_MEASURE
    trees: str = "mart"
    n_estimators: int = 300
    max_leaf_nodes: int = 100
    max_depth: int | None = None
    min_samples_leaf: int = 5
    features_per_node: int | None = None
    max_bins: int = 255
    random_state: Any = 0
    n_jobs: int | None = None

    paper = "Breiman 2001"
    feature_importances_ = TreeParameters.feature_importances_

    def _fit(
        self, queries: QuerySet, valid: QuerySet | None, progress: Callable[[Record], None] | None = None
    ) -> None:
        if self.trees not in TREES:
            raise InputError(f"trees is {self.trees!r}; it is {' or '.join(TREES)}")
        check_whole(self, n_estimators=1, max_leaf_nodes=2, min_samples_leaf=1)
        check_whole(self, none=True, max_depth=1, features_per_node=1)
        start, gradients, hessians = self._slopes(queries)
        bins = Bins.of(queries.features, self.max_bins, (), self.n_jobs)
        grower = Grower(bins.assign(queries.features, self.n_jobs), self._shape(queries), self.n_jobs)
        held = None if valid is None else bins.assign(valid.features, self.n_jobs)
        held_scores = np.zeros(0 if valid is None else len(valid))
        seed = int(generator(self.random_state).integers(2**31))
        trees: list[Tree] = []
        rounds = Rounds(self, valid, progress)
        interrupted = False
        try:
            for number in range(self.n_estimators):
                with interrupts_deferred():  # the threads that grow a tree wait for each other
                    counts = drawn(queries, seed, number)
                    g, h, rows = gradients * counts, hessians * counts, np.flatnonzero(counts)
                    grown = grower.grow(g, h, rows=rows.astype(np.uint32), seed=seed + number)
                    trees.append(grower.tree(grown, grower.newton_values(grown, g, h) / self.n_estimators))
                    if held is not None:
                        trees[-1].add_to(held_scores, held, None, self.n_jobs)
                if not rounds.add({"leaves": len(trees[-1].values)}, lambda: held_scores, None):
                    break
        except KeyboardInterrupt:
            interrupted = True
        self._leave(queries, forest_of(trees, start, bins) if trees else None, rounds, interrupted)

    def _leave(
        self, queries: QuerySet, forest: ForestScorer | None, rounds: Rounds, interrupted: bool
    ) -> None:
        """Keep the trees, as their mean where there are fewer than asked for; let an interrupt go on."""
        if forest is None:
            raise KeyboardInterrupt
        told = {"interrupted": True} if interrupted else {}
        about = self._about(queries, steps=forest.n_trees, **told)
        if forest.n_trees < self.n_estimators:
            values = forest.trees.values * (self.n_estimators / forest.n_trees)
            forest = dataclasses.replace(forest, trees=forest.trees._replace(values=values))
        self.history_, self.scorer_ = rounds.history, dataclasses.replace(forest, **about)
        if interrupted:
            raise KeyboardInterrupt(f"after {forest.n_trees} trees, which are kept")

    def _shape(self, queries: QuerySet) -> Shape:
        third = max(1, round(queries.n_features / 3))
        return Shape(
            max_leaf_nodes=self.max_leaf_nodes,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            features_per_node=third if self.features_per_node is None else self.features_per_node,
        )

    def _slopes(self, queries: QuerySet) -> tuple[Floats, Singles, Singles]:
        """What all trees start from, and the gradients and hessians there."""
        assert queries.labels is not None
        if self.trees == "lambdamart":
            lists = Lists(queries.labels, queries.offsets, rows=queries.rows, n_jobs=self.n_jobs)
            documents, own = weights_of(queries)
            measure = self.selection_measure
            lambdas = Lambdas(lists, measure, weights=documents, query_weight=own, by_total=True)
            forces, hessians = lambdas.at(np.zeros(len(queries)))
            return np.zeros(1), -forces, hessians
        known = ~np.isnan(queries.labels)
        weights = np.where(known, row_weights(queries), 0.0)
        labels = np.where(known, queries.labels, 0.0)
        mean = (weights * labels).sum() / max(weights.sum(), np.finfo(float).tiny)
        return np.array([mean]), (weights * (mean - labels)).astype(np.float32), weights.astype(np.float32)


def drawn(queries: QuerySet, seed: int, tree: int) -> NDArray[np.float32]:
    """How often the query of each row is in a tree's bag.

    >>> drawn(QuerySet([[0]] * 4, qid=[1, 1, 2, 3]), seed=0, tree=1)
    array([0., 0., 1., 2.], dtype=float32)
    """
    random = np.random.default_rng([seed, tree])
    counts = np.bincount(
        random.integers(queries.n_queries, size=queries.n_queries), minlength=queries.n_queries
    )
    return np.repeat(counts, queries.sizes).astype(np.float32)
