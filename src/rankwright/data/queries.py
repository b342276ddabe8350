"""``QuerySet``: labelled documents in queries, checked once, the same for everything that reads data.

Rows are kept grouped by query, queries in the order of their first row, rows of a query in the order given.
``rows`` remembers where each stored row stood with the caller, so that scores come back in that order.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwright.runtime.arrays import Floats, Integers, Singles, feature_matrix, group
from rankwright.runtime.errors import InputError


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class QuerySet:
    """Queries with their documents: features, labels and what else is known of them. Immutable.

    ``X`` is a matrix of features (NaN is missing), ``y`` one label a row (NaN is unjudged; None if there are
    no labels), ``qid`` the query of each row, any hashable ids in any order; a single one means that all rows
    are one query.

    >>> queries = QuerySet([[0.1], [0.7], [0.4]], [0, 2, 1], qid=["a", "b", "a"])
    >>> queries
    QuerySet(2 queries, 3 documents, 1 feature)
    >>> queries.labels
    array([0., 1., 2.])
    >>> queries.in_given_order(queries.labels)
    array([0., 2., 1.])
    """

    features: Singles
    labels: Floats | None
    offsets: Integers
    query_ids: tuple[Hashable, ...]
    rows: Integers | None
    documents: tuple[str, ...] | None
    feature_names: tuple[str, ...] | None
    sample_weight: Floats | None
    query_weight: Floats | None
    positions: Floats | None

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        qid: Any,
        documents: Sequence[str] | None = None,
        feature_names: Sequence[str] | None = None,
        sample_weight: ArrayLike | None = None,
        query_weight: ArrayLike | None = None,
        positions: ArrayLike | None = None,
    ):
        features = feature_matrix(X)
        n = len(features)
        offsets, query_ids, rows = group(qid, n)
        set_field = lambda name, value: object.__setattr__(self, name, _frozen(value))  # noqa: E731
        set_field("rows", rows)
        set_field("features", features if rows is None else features[rows])
        set_field("offsets", offsets)
        set_field("query_ids", query_ids)
        for name, values in (("labels", y), ("sample_weight", sample_weight), ("positions", positions)):
            column = None if values is None else _column(values, n, name)
            set_field(name, column if column is None or rows is None else column[rows])
        set_field("documents", None if documents is None else _document_ids(documents, n, rows))
        set_field(
            "feature_names", None if feature_names is None else _names(feature_names, features.shape[1])
        )
        set_field(
            "query_weight",
            None if query_weight is None else _query_weights(query_weight, query_ids, n, rows, offsets),
        )
        _check_weights(self)

    def __len__(self) -> int:
        """How many documents (rows) there are."""
        return len(self.features)

    def __repr__(self) -> str:
        def count(n: int, one: str, more: str) -> str:
            return f"{n:,} {one if n == 1 else more}"

        return (
            f"QuerySet({count(self.n_queries, 'query', 'queries')}, {count(len(self), 'document', 'documents')}, "
            f"{count(self.n_features, 'feature', 'features')})"
        )

    @property
    def n_queries(self) -> int:
        """How many queries there are."""
        return len(self.offsets) - 1

    @property
    def n_features(self) -> int:
        """How many features each document has."""
        return int(self.features.shape[1])

    @property
    def sizes(self) -> Integers:
        """How many documents each query has."""
        return np.diff(self.offsets)

    def in_given_order(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values by stored row, put into the order in which the rows were given."""
        if self.rows is None:
            return values
        given = np.empty_like(values)
        given[self.rows] = values
        return given

    def in_stored_order(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values in the order in which the rows were given, put by stored row."""
        return values if self.rows is None else values[self.rows]

    def slices(self) -> Iterator[slice]:
        """The rows of each query in turn."""
        for begin, end in zip(self.offsets[:-1], self.offsets[1:], strict=True):
            yield slice(int(begin), int(end))


def _frozen(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        value = value.view()
        value.flags.writeable = False
    return value


def _column(values: ArrayLike, n: int, name: str) -> Floats:
    try:
        column = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} are not numbers ({error})") from error
    if column.shape != (n,):
        raise InputError(f"{name} have shape {column.shape} for {n} rows; give one number a row")
    bad = np.flatnonzero(np.isinf(column))
    if len(bad):
        raise InputError(f"row {bad[0]}: {name} hold an infinite value; give finite numbers")
    return column


def _document_ids(documents: Sequence[str], n: int, rows: Integers | None) -> tuple[str, ...]:
    ids = tuple(str(document) for document in documents)
    if len(ids) != n:
        raise InputError(f"there are {len(ids)} document ids for {n} rows; give one a row")
    return ids if rows is None else tuple(ids[row] for row in rows)


def _names(names: Sequence[str], n_features: int) -> tuple[str, ...]:
    given = tuple(str(name) for name in names)
    if len(given) != n_features:
        raise InputError(
            f"there are {len(given)} feature names for {n_features} features; give one a feature"
        )
    return given


def _query_weights(
    weights: ArrayLike, query_ids: tuple[Hashable, ...], n: int, rows: Integers | None, offsets: Integers
) -> Floats:
    """One weight a query: a mapping by query id, one a query in order of first rows, or one a row (constant)."""
    if isinstance(weights, dict):
        missing = [query for query in query_ids if query not in weights]
        if missing:
            raise InputError(
                f"query {missing[0]!r} has no weight; query_weight names some queries but not this one"
            )
        weights = [weights[query] for query in query_ids]
    column = np.ascontiguousarray(weights, dtype=np.float64)
    if column.shape == (len(query_ids),):
        return column
    if column.shape != (n,):
        raise InputError(
            f"query_weight has shape {column.shape}; give one weight a query ({len(query_ids)}) or one a row ({n})"
        )
    stored = column if rows is None else column[rows]
    first = stored[offsets[:-1]]
    if not np.array_equal(np.repeat(first, np.diff(offsets)), stored):
        raise InputError("query_weight differs between rows of one query; give one weight a query")
    return first


def _check_weights(queries: QuerySet) -> None:
    for name in ("sample_weight", "query_weight"):
        weights = getattr(queries, name)
        if weights is None:
            continue
        bad = np.flatnonzero(~(weights >= 0) | np.isinf(weights))
        if len(bad):
            what = "row" if name == "sample_weight" else "query"
            at = bad[0] if what == "query" or queries.rows is None else queries.rows[bad[0]]
            raise InputError(
                f"{what} {at}: {name} is {weights[bad[0]]:g}; weights are finite and not negative"
            )
