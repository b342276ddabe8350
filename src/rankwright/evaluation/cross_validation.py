"""Cross-validation by whole queries, and what scikit-learn's searches need to do it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.metadata_routing import MetadataRequest

from rankwright.data.queries import QuerySet
from rankwright.data.rankings import Rankings
from rankwright.evaluation.evaluate import (
    Measures,
    as_measures,
    evaluate,
    evaluate_rankings,
    is_ours,
    predictions,
)
from rankwright.evaluation.result import Evaluation
from rankwright.measures import measure as read_measure
from rankwright.measures.base import Measure
from rankwright.runtime.arrays import group
from rankwright.runtime.errors import InputError

Folds = int | Iterable[tuple[QuerySet, QuerySet]]


class CrossValidation(Evaluation):
    """An evaluation of all test parts together; ``folds`` are those of each, ``rankers`` what was fitted."""

    def __init__(self, pooled: Evaluation, folds: list[Evaluation], rankers: list[Any]):
        super().__init__(pooled.values())
        self.folds = tuple(folds)
        self.rankers = tuple(rankers)

    def __repr__(self) -> str:
        lines = [super().__repr__(), "", "means by fold"]
        for measure in self:
            lines.append(f"  {measure}: " + "  ".join(f"{fold[measure].mean:.4f}" for fold in self.folds))
        return "\n".join(lines)


def cross_validate(
    ranker: Any,
    queries: QuerySet | None,
    measures: Measures = "ndcg@10",
    *,
    folds: Folds = 5,
    random_state: int | None = 0,
    n_jobs: int | None = None,
) -> CrossValidation:
    """Fit copies of a ranker, each without one fold of the queries, and evaluate each on the fold it lacks.

    ``folds`` is their number, or pairs of query sets (train, test) made elsewhere, with ``queries=None``.
    Each query counts once in the means, however large its fold. An estimator that is not ours is fitted with
    features and labels.
    """
    read = as_measures(measures)
    rankers, tested = [], []
    for train, test in _folds(queries, folds, random_state):
        fitted = clone(ranker, safe=False)
        if is_ours(fitted):
            fitted.fit(train)
        else:
            fitted.fit(train.features, train.labels)
        rankers.append(fitted)
        tested.append(Rankings.of(test, predictions(fitted, test)))
    by_fold = [evaluate_rankings(each, read, n_jobs) for each in tested]
    return CrossValidation(evaluate_rankings(Rankings.joined(tested), read, n_jobs), by_fold, rankers)


def _folds(
    queries: QuerySet | None, folds: Folds, random_state: int | None
) -> Iterable[tuple[QuerySet, QuerySet]]:
    if not isinstance(folds, int):
        if queries is not None:
            raise InputError("folds hold their own queries; give queries=None beside them, or their number")
        return folds
    if queries is None:
        raise InputError(
            "there are no queries to make folds of; give a QuerySet, or pairs (train, test) as folds"
        )
    return queries.folds(folds, random_state)


@dataclasses.dataclass(frozen=True)
class QueryKFold:
    """Folds of whole queries, for the ``cv`` of scikit-learn's searches; ``groups`` are the query ids.

    Queries are drawn at random, as ``QuerySet.folds`` draws them.

    >>> [test.tolist() for _, test in QueryKFold(2).split(range(4), groups=["a", "b", "a", "c"])]
    [[0, 1, 2], [3]]
    """

    n_splits: int = 5
    random_state: int | None = 0

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """The rows of each (train, test)."""
        if groups is None:
            raise InputError("groups is missing; give the query of each row as groups=qid")
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        offsets, query_ids, rows = group(groups, n)
        queries = len(query_ids)
        if not 2 <= self.n_splits <= queries:
            raise InputError(
                f"{self.n_splits} folds of {queries} queries cannot be made; give 2 to {queries}"
            )
        fold = np.random.default_rng(self.random_state).permutation(queries) % self.n_splits
        by_row = np.empty(n, np.int64)
        by_row[slice(None) if rows is None else rows] = np.repeat(fold, np.diff(offsets))
        for number in range(self.n_splits):
            yield np.flatnonzero(by_row != number), np.flatnonzero(by_row == number)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many folds there are."""
        return self.n_splits

    def get_metadata_routing(self) -> MetadataRequest:
        """Ask scikit-learn for ``groups``."""
        request = MetadataRequest(owner=type(self).__name__)
        request.split.add_request(param="groups", alias=True)
        return request


@dataclasses.dataclass(frozen=True)
class QueryScorer:
    """A measure as scikit-learn calls it; ``qid`` and ``query_weight`` come by metadata routing."""

    measure: Measure

    def __call__(self, estimator: Any, X: Any, y: Any, *, qid: Any = None, query_weight: Any = None) -> float:
        """The mean of the measure over the queries of these rows."""
        if qid is None:
            raise InputError(
                "qid is missing; call sklearn.set_config(enable_metadata_routing=True) and give qid=… to fit"
            )
        if is_ours(estimator):
            queries = QuerySet(X, y, qid=qid, query_weight=query_weight)
            return evaluate(estimator, queries, self.measure)[self.measure].mean
        found = evaluate(estimator.predict(X), y, self.measure, qid=qid, query_weight=query_weight)
        return found[self.measure].mean

    def get_metadata_routing(self) -> MetadataRequest:
        """Ask scikit-learn for ``qid`` and ``query_weight``."""
        request = MetadataRequest(owner=repr(self))
        request.score.add_request(param="qid", alias=True)
        request.score.add_request(param="query_weight", alias=True)
        return request


def make_scorer(measure: str | Measure) -> QueryScorer:
    """A scorer for ``GridSearchCV(…, scoring=…)`` and its like, for estimators that predict scores.

    >>> make_scorer("ndcg@10")
    QueryScorer(measure=ndcg@10)
    """
    return QueryScorer(measure if isinstance(measure, Measure) else read_measure(measure))
