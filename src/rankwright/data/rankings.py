"""``Rankings``: scored documents and what is known of them, the one form that evaluation reads.

A query set with scores and a TREC run with its judgements both become one.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwright.data.checks import document_ids, query_weights
from rankwright.data.queries import QuerySet
from rankwright.runtime.arrays import Floats, Integers, as_array, as_numbers, group
from rankwright.runtime.errors import InputError


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Rankings:
    """Queries as scored lists.

    ``scores`` and ``labels`` (NaN: unjudged) lie by query between ``offsets``. ``judged`` holds the labels of
    all judged documents of each query between ``judged_offsets``, those that were not retrieved too; for a
    query set these are the labels themselves. ``documents`` are ids, for the tie rule that needs them.
    """

    query_ids: tuple[Hashable, ...]
    offsets: Integers
    scores: Floats
    labels: Floats
    judged: Floats
    judged_offsets: Integers
    documents: tuple[str, ...] | None = None
    query_weight: Floats | None = None
    rows: Integers | None = None
    """Where each stored document stood with the caller; None if in the same order."""

    @classmethod
    def of(cls, queries: QuerySet, scores: ArrayLike) -> Rankings:
        """A query set with one score a row, in the order in which its rows were given.

        >>> Rankings.of(QuerySet([[0], [0]], [1, 0], qid=7), [0.2, 0.9]).scores
        array([0.2, 0.9])
        """
        if queries.labels is None:
            raise InputError("the data has no labels; evaluation needs one a row")
        given = score_column(scores, len(queries))
        return cls(
            query_ids=queries.query_ids,
            offsets=queries.offsets,
            scores=queries.in_stored_order(given),
            labels=queries.labels,
            judged=queries.labels,
            judged_offsets=queries.offsets,
            documents=queries.documents,
            query_weight=queries.query_weight,
            rows=queries.rows,
        )

    @classmethod
    def from_arrays(
        cls, scores: ArrayLike, labels: ArrayLike, *, qid: Any, documents: Sequence[str] | None = None
    ) -> Rankings:
        """Scores and labels, one a row, and the query of each row as ``QuerySet`` takes it.

        >>> Rankings.from_arrays([0.2, 0.9, 0.4], [1, 0, 2], qid=[7, 8, 7]).labels
        array([1., 2., 0.])
        """
        known = _numbers(labels, "the labels")
        if known.ndim != 1:
            raise InputError(f"the labels have {known.ndim} dimensions; give one a row")
        n = len(known)
        given = score_column(scores, n)
        offsets, query_ids, rows = group(qid, n)
        ids = None if documents is None else document_ids(documents, n)
        if rows is not None:
            given, known = given[rows], known[rows]
            ids = None if ids is None else tuple(ids[row] for row in rows)
        return cls(
            query_ids=query_ids,
            offsets=offsets,
            scores=given,
            labels=known,
            judged=known,
            judged_offsets=offsets,
            documents=ids,
            rows=rows,
        )

    @classmethod
    def joined(cls, parts: Sequence[Rankings]) -> Rankings:
        """Rankings of different queries as one.

        >>> one = Rankings.from_arrays([0.1], [1], qid=7)
        >>> Rankings.joined([one, one]).offsets
        array([0, 1, 2])
        """
        documents = [part.documents for part in parts if part.documents is not None]
        weights = [part.query_weight for part in parts if part.query_weight is not None]
        return cls(
            query_ids=tuple(query for part in parts for query in part.query_ids),
            offsets=_joined_offsets([part.offsets for part in parts]),
            scores=np.concatenate([part.scores for part in parts]),
            labels=np.concatenate([part.labels for part in parts]),
            judged=np.concatenate([part.judged for part in parts]),
            judged_offsets=_joined_offsets([part.judged_offsets for part in parts]),
            documents=tuple(itertools.chain(*documents)) if len(documents) == len(parts) else None,
            query_weight=np.concatenate(weights) if len(weights) == len(parts) else None,
        )

    def weighted(self, query_weight: Any) -> Rankings:
        """The same with weights of queries: a mapping by query id, one a query, or one a row."""
        weights = query_weights(query_weight, self.query_ids, self.rows, self.offsets)
        return dataclasses.replace(self, query_weight=weights)


def _joined_offsets(parts: Sequence[Integers]) -> Integers:
    sizes = np.concatenate([np.diff(offsets) for offsets in parts])
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def score_column(scores: ArrayLike, n: int) -> Floats:
    """One number a row that has a place in an order: not NaN.

    >>> score_column([1, float("inf")], 2)
    array([ 1., inf])
    """
    given = _numbers(scores, "the scores")
    if given.shape != (n,):
        raise InputError(f"the scores have shape {given.shape} for {n} rows; give one a row")
    bad = np.flatnonzero(np.isnan(given))
    if len(bad):
        raise InputError(f"row {bad[0]}: the score is NaN, which has no place in an order; give numbers")
    return given


def _numbers(values: ArrayLike, name: str) -> Floats:
    given = as_numbers(as_array(values, name), name)
    return np.ascontiguousarray(given, dtype=np.float64)
