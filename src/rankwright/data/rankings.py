"""``Rankings``: scored documents and what is known of them, the one form that evaluation reads.

A query set with scores and a TREC run with its judgements both become one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable

import numpy as np
from numpy.typing import ArrayLike

from rankwright.data.queries import Floats, Integers, QuerySet
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

    @classmethod
    def of(cls, queries: QuerySet, scores: ArrayLike) -> Rankings:
        """A query set with one score a row, in the order in which its rows were given.

        >>> Rankings.of(QuerySet([[0], [0]], [1, 0], qid=7), [0.2, 0.9]).scores
        array([0.2, 0.9])
        """
        if queries.labels is None:
            raise InputError("the data has no labels; evaluation needs one a row")
        given = np.ascontiguousarray(scores, dtype=np.float64)
        if given.shape != (len(queries),):
            raise InputError(f"the scores have shape {given.shape} for {len(queries)} rows; give one a row")
        bad = np.flatnonzero(np.isnan(given))
        if len(bad):
            raise InputError(f"row {bad[0]}: the score is NaN, which has no place in an order; give numbers")
        return cls(
            query_ids=queries.query_ids,
            offsets=queries.offsets,
            scores=queries.in_stored_order(given),
            labels=queries.labels,
            judged=queries.labels,
            judged_offsets=queries.offsets,
            documents=queries.documents,
            query_weight=queries.query_weight,
        )
