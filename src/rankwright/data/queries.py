"""``QuerySet``: labelled documents in queries, checked once, the same for everything that reads data.

Rows are kept grouped by query, queries in the order of their first row, rows of a query in the order given.
``rows`` remembers where each stored row stood with the caller, so that scores come back in that order.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwright.data import checks
from rankwright.data.description import Description, counted, describe
from rankwright.runtime.arrays import Floats, Integers, Singles, feature_matrix, group
from rankwright.runtime.errors import InputError


@dataclasses.dataclass(frozen=True, eq=False, repr=False, init=False)
class QuerySet:
    """Queries with their documents: features, labels and what else is known of them. Immutable.

    ``X`` is a matrix of features (NaN is missing), ``y`` one label a row (NaN is unjudged; None if there are
    no labels), ``qid`` the query of each row, any hashable ids in any order; a single one means that all rows
    are one query. ``query_weight`` is one weight a query (in the order of their first rows), one a row, or a
    mapping by query id; ``positions`` the ranks at which documents were shown.

    A contiguous float32 matrix whose queries stand together is not copied, since it may be most of the
    memory: do not write to it afterwards. Everything else is copied, and all arrays here are read-only.

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
        documents: Iterable[str] | None = None,
        feature_names: Sequence[str] | None = None,
        sample_weight: ArrayLike | None = None,
        query_weight: ArrayLike | None = None,
        positions: ArrayLike | None = None,
    ):
        features = feature_matrix(X)
        n, width = features.shape
        offsets, query_ids, rows = group(qid, n)
        names = _column_names(X) if feature_names is None else feature_names
        columns = {
            "labels": None if y is None else checks.column(y, n, "labels"),
            "positions": None if positions is None else checks.column(positions, n, "positions"),
            "sample_weight": None if sample_weight is None else checks.sample_weights(sample_weight, n),
            "documents": None if documents is None else checks.document_ids(documents, n),
            "features": features,
        }
        self._fill(
            offsets=offsets,
            query_ids=query_ids,
            rows=rows,
            feature_names=None if names is None else checks.feature_names(names, width),
            query_weight=_query_weight(query_weight, query_ids, rows, offsets),
            **(columns if rows is None else {name: _at(values, rows) for name, values in columns.items()}),
        )

    def _fill(self, **fields: Any) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, _frozen(value))

    __setstate__ = lambda self, state: self._fill(**state)  # noqa: E731 (arrays lose their lock in a pickle)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        label: str | None = "label",
        qid: str = "qid",
        features: Sequence[str] | None = None,
        document: str | None = None,
        sample_weight: str | None = None,
        query_weight: str | None = None,
        position: str | None = None,
    ) -> QuerySet:
        """A data frame (pandas, polars) or an Arrow table, one row a document.

        ``features`` are all columns not named otherwise, unless given. What is null is missing.

        >>> import pandas
        >>> frame = pandas.DataFrame({"query": ["a", "a"], "rel": [1, 0], "bm25": [2.5, None]})
        >>> QuerySet.from_frame(frame, label="rel", qid="query").features
        array([[2.5],
               [nan]], dtype=float32)
        """
        from rankwright.data.frames import from_frame

        return from_frame(
            frame,
            label=label,
            qid=qid,
            features=features,
            document=document,
            sample_weight=sample_weight,
            query_weight=query_weight,
            position=position,
        )

    def to_letor(self, path: str | os.PathLike[str], *, n_jobs: int | None = None) -> None:
        """Write LETOR text, which ``rankwright.read_letor`` reads; it has no place for weights and names."""
        from rankwright.data.letor_writing import write_letor

        write_letor(self, path, n_jobs=n_jobs)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a Parquet file, from which ``rankwright.read_parquet`` makes the same again."""
        from rankwright.data.parquet import write_parquet

        write_parquet(self, path)

    def __len__(self) -> int:
        """How many documents (rows) there are."""
        return len(self.features)

    def __repr__(self) -> str:
        counts = (
            counted(self.n_queries, "query", "queries"),
            counted(len(self), "document", "documents"),
            counted(self.n_features, "feature", "features"),
        )
        return f"QuerySet({', '.join(counts)})"

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

    def select(self, queries: Any) -> QuerySet:
        """Some queries with all that is known of them: by numbers, a mask with one entry a query, or a slice.

        The queries come in the order asked for. The rows' given order is the caller's, without the rows left
        out: the selection behaves as if it had been made of the caller's rows of these queries alone. A slice
        of data whose queries stand together shares its memory.

        >>> queries = QuerySet([[1], [2], [3], [4]], qid=["a", "b", "c", "a"])
        >>> chosen = queries.select([2, 0])
        >>> chosen.query_ids, chosen.features.ravel().tolist()
        (('c', 'a'), [3.0, 1.0, 4.0])
        >>> chosen.in_given_order(chosen.features).ravel().tolist()
        [1.0, 3.0, 4.0]
        """
        chosen = _query_numbers(queries, self.n_queries)
        sizes = self.sizes[chosen]
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        if self.rows is None and (np.diff(chosen) == 1).all():
            taken: Any = slice(int(self.offsets[chosen[0]]), int(self.offsets[chosen[-1] + 1]))
            rows = None
        else:
            taken = np.arange(offsets[-1]) + np.repeat(self.offsets[chosen] - offsets[:-1], sizes)
            rows = _ranks(taken if self.rows is None else self.rows[taken])
        return self._with(
            **{name: _at(getattr(self, name), taken) for name in BY_ROW},
            offsets=offsets,
            query_ids=_at(self.query_ids, chosen),
            query_weight=_at(self.query_weight, chosen),
            rows=rows,
        )

    def by_ids(self, query_ids: Iterable[Hashable]) -> QuerySet:
        """The queries with these ids, in this order.

        >>> QuerySet([[1], [2], [3]], qid=["a", "b", "c"]).by_ids(["c", "a"]).query_ids
        ('c', 'a')
        """
        number = {query: index for index, query in enumerate(self.query_ids)}
        wanted = [query_ids] if isinstance(query_ids, str) else list(query_ids)
        unknown = [query for query in wanted if query not in number]
        if unknown:
            raise InputError(f"there is no query {unknown[0]!r}; ids here are like {self.query_ids[0]!r}")
        return self.select([number[query] for query in wanted])

    def split(self, fraction: float, random_state: int | None = 0) -> tuple[QuerySet, QuerySet]:
        """Two parts by whole queries, drawn at random: the first with this fraction of them, then the rest.

        >>> QuerySet([[0]] * 10, qid=range(10)).split(0.8)
        (QuerySet(8 queries, 8 documents, 1 feature), QuerySet(2 queries, 2 documents, 1 feature))
        """
        first = round(fraction * self.n_queries) if 0 < fraction < 1 else 0
        if not 0 < first < self.n_queries:
            raise InputError(
                f"a split at {fraction:g} of {self.n_queries} queries leaves one part empty; "
                "give a fraction between 0 and 1 that leaves both at least one query"
            )
        order = np.random.default_rng(random_state).permutation(self.n_queries)
        return self.select(np.sort(order[:first])), self.select(np.sort(order[first:]))

    def folds(self, n: int, random_state: int | None = 0) -> Iterator[tuple[QuerySet, QuerySet]]:
        """The n pairs of (train, test) of a cross-validation: each query is in one test part.

        >>> [(train.n_queries, test.n_queries) for train, test in QuerySet([[0]] * 5, qid=range(5)).folds(2)]
        [(2, 3), (3, 2)]
        """
        if not 2 <= n <= self.n_queries:
            raise InputError(
                f"{n} folds of {self.n_queries} queries cannot be made; give 2 to {self.n_queries}"
            )
        fold = np.random.default_rng(random_state).permutation(self.n_queries) % n
        return ((self.select(fold != number), self.select(fold == number)) for number in range(n))

    def with_weights(
        self, *, sample_weight: ArrayLike | None = None, query_weight: ArrayLike | None = None
    ) -> QuerySet:
        """The same queries with other weights, given as to the constructor; None leaves them as they are.

        >>> QuerySet([[0], [0]], qid=[1, 2]).with_weights(query_weight=[1, 3]).query_weight
        array([1., 3.])
        """
        changes: dict[str, Any] = {}
        if sample_weight is not None:
            changes["sample_weight"] = self.in_stored_order(checks.sample_weights(sample_weight, len(self)))
        if query_weight is not None:
            changes["query_weight"] = _query_weight(query_weight, self.query_ids, self.rows, self.offsets)
        return self._with(**changes)

    def with_features(self, X: ArrayLike, feature_names: Sequence[str] | None = None) -> QuerySet:
        """The same queries with other features, one line a row in the order in which the rows were given.

        >>> QuerySet([[0], [0]], qid=[1, 2]).with_features([[1, 2], [3, 4]]).n_features
        2
        """
        features = feature_matrix(X)
        if len(features) != len(self):
            raise InputError(
                f"there are {len(features)} lines of features for {len(self)} rows; give one a row"
            )
        names = None if feature_names is None else checks.feature_names(feature_names, features.shape[1])
        return self._with(features=np.ascontiguousarray(self.in_stored_order(features)), feature_names=names)

    def describe(self) -> Description:
        """What is in the data: counts, sizes, labels, and what may be wrong with them.

        >>> QuerySet([[0.5], [0.5]], [1, 0], qid=[7, 7]).describe().duplicates
        1
        """
        return describe(self)

    def equals(self, other: QuerySet) -> bool:
        """Whether two query sets hold the same: values, ids, names and order; missing equals missing.

        >>> QuerySet([[0], [1]], qid=[1, 2]).equals(QuerySet([[0], [1]], qid=[1, 2]))
        True
        """
        return all(
            _same(getattr(self, field.name), getattr(other, field.name)) for field in dataclasses.fields(self)
        )

    def _with(self, **changes: Any) -> QuerySet:
        """The same with some fields changed, which are right by construction and in stored order."""
        changed = object.__new__(QuerySet)
        changed._fill(
            **{field.name: getattr(self, field.name) for field in dataclasses.fields(self)} | changes
        )
        return changed


BY_ROW = ("features", "labels", "documents", "sample_weight", "positions")


def keep_documents(queries: QuerySet, kept: NDArray[np.bool_]) -> QuerySet:
    """The documents that a mask by stored row keeps; a query that loses all of them is left out.

    >>> queries = QuerySet([[1], [2], [3]], qid=["a", "a", "b"])
    >>> keep_documents(queries, np.array([False, True, False])).query_ids
    ('a',)
    """
    if not kept.any():
        raise InputError("no document is left")
    taken = np.flatnonzero(kept)
    left = np.add.reduceat(kept, queries.offsets[:-1], dtype=np.int64)
    chosen = np.flatnonzero(left)
    return queries._with(
        **{name: _at(getattr(queries, name), taken) for name in BY_ROW},
        offsets=np.concatenate([[0], np.cumsum(left[chosen])]).astype(np.int64),
        query_ids=_at(queries.query_ids, chosen),
        query_weight=_at(queries.query_weight, chosen),
        rows=None if queries.rows is None else _ranks(queries.rows[taken]),
    )


def _query_numbers(queries: Any, n: int) -> Integers:
    """Numbers of queries from numbers, a mask or a slice."""
    if isinstance(queries, slice):
        chosen = np.arange(n)[queries]
    else:
        given = np.asarray(queries)
        if given.dtype == bool:
            if given.shape != (n,):
                raise InputError(f"the mask has shape {given.shape} for {n} queries; give one entry a query")
            chosen = np.flatnonzero(given)
        elif given.ndim == 1 and (given.dtype.kind in "iu" or not given.size):
            chosen = given.astype(np.int64)
        else:
            raise InputError(
                "queries are selected by their numbers, a mask or a slice; by_ids takes their ids"
            )
    outside = np.flatnonzero((chosen < -n) | (chosen >= n))
    if len(outside):
        raise InputError(f"there is no query number {chosen[outside[0]]}; numbers go from 0 to {n - 1}")
    chosen = np.where(chosen < 0, chosen + n, chosen)
    if not len(chosen):
        raise InputError("the selection is empty; select at least one query")
    if len(np.unique(chosen)) < len(chosen):
        raise InputError("a query is selected twice; query_weight=2 counts one twice")
    return chosen


def _ranks(given: Integers) -> Integers | None:
    """The caller's row numbers renumbered without gaps; None where they rise."""
    if (given[1:] > given[:-1]).all():
        return None
    ranks = np.empty_like(given)
    ranks[np.argsort(given, kind="stable")] = np.arange(len(given))
    return ranks


def _at(values: Any, taken: Any) -> Any:
    """The entries at some places of an array, a tuple or nothing."""
    if values is None or isinstance(values, np.ndarray):
        return None if values is None else values[taken]
    if isinstance(taken, slice):
        return values[taken]
    return tuple(map(values.__getitem__, taken.tolist()))


def _query_weight(values: Any, query_ids: Any, rows: Integers | None, offsets: Integers) -> Floats | None:
    return None if values is None else checks.query_weights(values, query_ids, rows, offsets)


def _column_names(X: Any) -> list[str] | None:
    """The names that a data frame's columns have, as scikit-learn takes them: all text, or none."""
    names = getattr(X, "columns", None)
    if names is None or not all(isinstance(name, str) for name in names):
        return None
    return list(names)


def _frozen(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        value = value.view()
        value.flags.writeable = False
    return value


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    return type(a) is type(b) and a == b
