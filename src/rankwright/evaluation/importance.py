"""What a feature is worth to a ranker: what a measure loses where the feature's values are shuffled.

    loss of a feature = measure of the ranker − mean over shuffles of its measure

Shuffled within each query, a feature keeps what it says of the query and loses what it says of the documents;
over all rows it loses both. Any ranker will do, and nothing is trained again.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Hashable, Sequence
from typing import Any, Literal

import numpy as np

from rankwright.data import QuerySet
from rankwright.evaluation.evaluate import evaluate
from rankwright.evaluation.resampling import t_interval
from rankwright.evaluation.result import LEVEL
from rankwright.evaluation.tables import columns
from rankwright.measures import Measure
from rankwright.measures.base import Floats
from rankwright.measures.lists import mean_value
from rankwright.runtime.errors import InputError

WHERE = ("query", "data")


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Importance:
    """What each feature is worth: ``per_query`` is (features, queries), NaN for a query left out of the mean.

    ``value`` is the measure with every feature as it is.
    """

    measure: Measure
    value: float
    features: tuple[int, ...]
    names: tuple[str, ...]
    query_ids: tuple[Hashable, ...]
    per_query: Floats
    query_weight: Floats | None

    @functools.cached_property
    def mean(self) -> Floats:
        """The mean loss of each feature."""
        return np.array([mean_value(losses, self.query_weight) for losses in self.per_query])

    @functools.cached_property
    def interval(self) -> Floats:
        """The 95 % confidence interval of each mean over queries after Student's t, (features, 2)."""
        kept = ~np.isnan(self.per_query[:1]).any(axis=0)
        if self.query_weight is not None:
            kept &= self.query_weight > 0
        weights = None if self.query_weight is None else self.query_weight[kept]
        return np.array([t_interval(losses[kept], weights, LEVEL) for losses in self.per_query])

    def to_dict(self) -> dict[str, list[Any]]:
        """The features from the most important to the least, as columns."""
        order = np.argsort(-self.mean, kind="stable")
        return {
            "feature": [self.names[k] for k in order],
            "loss": self.mean[order].tolist(),
            "low": self.interval[order, 0].tolist(),
            "high": self.interval[order, 1].tolist(),
        }

    def __repr__(self) -> str:
        rows = [[f"{self.measure} {self.value:.4f}", "loss", "low", "high"]]
        for name, *figures in zip(*self.to_dict().values(), strict=True):
            rows.append([name, *(f"{figure:+.4f}" for figure in figures)])
        return "\n".join(columns(rows, [max(map(len, column)) for column in zip(*rows, strict=True)]))


def permutation_importance(
    ranker: Any,
    queries: QuerySet,
    measure: str | Measure = "ndcg@10",
    *,
    within: Literal["query", "data"] = "query",
    features: Sequence[int] | None = None,
    n_repeats: int = 5,
    random_state: int = 0,
) -> Importance:
    """What a measure loses where one feature is shuffled, ``within`` each query or over all of the data.

    ``ranker`` is anything that ``evaluate`` takes and that predicts. ``features`` are indices; all of them
    unless given. Each is shuffled ``n_repeats`` times, by numbers that belong to it alone.

    >>> import rankwright as rw
    >>> data = rw.QuerySet([[1, 5], [2, 4], [3, 6]] * 20, [0, 1, 2] * 20, qid=np.repeat(range(20), 3))
    >>> permutation_importance(rw.LinearScorer([1.0, 0.0]), data, "ndcg")
    ndcg 1.0000     loss      low     high
    0            +0.2302  +0.1963  +0.2641
    1            +0.0000  +0.0000  +0.0000
    """
    if within not in WHERE:
        raise InputError(f"within is {within!r}; it is 'query' or 'data'")
    if not isinstance(n_repeats, int | np.integer) or n_repeats < 1:
        raise InputError(f"n_repeats is {n_repeats!r}; it is a whole number of at least 1")
    chosen = tuple(range(queries.n_features)) if features is None else tuple(int(f) for f in features)
    outside = [f for f in chosen if not 0 <= f < queries.n_features]
    if outside:
        raise InputError(f"there is no feature {outside[0]}; there are {queries.n_features}, counted from 0")
    [(found, whole)] = evaluate(ranker, queries, [measure]).items()
    per_query = np.empty((len(chosen), len(whole.per_query)))
    for k, feature in enumerate(chosen):
        shuffles = (
            shuffled(queries, feature, within, np.random.default_rng([random_state, feature, repeat]))
            for repeat in range(n_repeats)
        )
        losses = [whole.per_query - evaluate(ranker, each, [found])[found].per_query for each in shuffles]
        per_query[k] = np.mean(losses, axis=0)
    names = queries.feature_names or tuple(map(str, range(queries.n_features)))
    return Importance(
        measure=found,
        value=whole.mean,
        features=chosen,
        names=tuple(names[f] for f in chosen),
        query_ids=whole.query_ids,
        per_query=per_query,
        query_weight=whole.query_weight,
    )


def shuffled(queries: QuerySet, feature: int, within: str, random: np.random.Generator) -> QuerySet:
    """The same queries with the values of one feature at other documents.

    >>> data = QuerySet([[1], [2], [8], [9]], qid=[1, 1, 2, 2])
    >>> shuffled(data, 0, "query", np.random.default_rng(3)).features.ravel()
    array([1., 2., 9., 8.], dtype=float32)
    """
    groups = np.repeat(np.arange(queries.n_queries) * (within == "query"), queries.sizes)
    order = np.lexsort((random.random(len(queries)), groups))
    X = np.array(queries.features)
    X[:, feature] = X[order, feature]
    return queries.with_features(queries.in_given_order(X), queries.feature_names)
