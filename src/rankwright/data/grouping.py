"""Rows brought together by query, whatever the ids and in whatever order they come."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from rankwright.data.checks import Integers, is_missing
from rankwright.runtime.errors import InputError


def group(qid: Any, n: int) -> tuple[Integers, tuple[Hashable, ...], Integers | None]:
    """Offsets of the queries, their ids, and the stable order that brings their rows together.

    Queries come in the order of their first row. The order is None where the rows stand together already.
    Ids that are equal in Python (1, 1.0 and True) are one query; 1 and "1" are two.

    >>> group(["b", "a", "b"], 3)
    (array([0, 2, 3]), ('b', 'a'), array([0, 2, 1]))
    """
    if n == 0:
        raise InputError("there are no rows; give at least one document")
    if _is_one_id(qid):
        return np.array([0, n], np.int64), (_checked(_plain(qid), 0),), None
    ids, starts = _runs(qid, n)
    numbers, query_ids, first_runs = _numbered(ids)
    for query, run in zip(query_ids, first_runs.tolist(), strict=True):
        _checked(query, int(starts[run]))
    ends = np.append(starts[1:], n)
    if len(query_ids) == len(starts):
        return np.append(starts, n), query_ids, None
    by_row = np.repeat(numbers, ends - starts)
    sizes = np.bincount(by_row, minlength=len(query_ids))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    if (numbers[1:] >= numbers[:-1]).all():
        return offsets, query_ids, None
    return offsets, query_ids, np.argsort(by_row, kind="stable").astype(np.int64)


def _is_one_id(qid: Any) -> bool:
    if qid is None:
        raise InputError("qid is None; give the query of each row, or one id if all rows are one query")
    if isinstance(qid, np.ndarray):
        return qid.ndim == 0
    return isinstance(qid, str | bytes) or not isinstance(qid, Iterable)


def _runs(qid: Any, n: int) -> tuple[list[Hashable], Integers]:
    """The id of each run of equal ids, and where it starts (for ids in a list every row is a run)."""
    if isinstance(qid, list | tuple):
        _check_length((len(qid),), qid, n)
        return list(qid), np.arange(n)
    ids = np.asarray(qid)
    _check_length(ids.shape, ids, n)
    if ids.dtype.kind == "O":
        return ids.tolist(), np.arange(n)
    starts = np.concatenate([[0], np.flatnonzero(ids[1:] != ids[:-1]) + 1])
    distinct = ids[starts]
    # Dates would come out as bare numbers.
    return list(distinct) if distinct.dtype.kind in "mM" else distinct.tolist(), starts


def _check_length(shape: tuple[int, ...], ids: Any, n: int) -> None:
    if shape == (n,):
        return
    cure = "give one query id a row"
    sizes = np.asarray(ids) if len(shape) == 1 and 0 < shape[0] < n else np.zeros(0)
    if sizes.dtype.kind in "iu" and sizes.sum() == n:
        cure += "; for the sizes of groups, qid=np.repeat(np.arange(len(sizes)), sizes)"
    raise InputError(f"qid has shape {shape} for {n} rows; {cure}")


def _numbered(ids: list[Hashable]) -> tuple[Integers, tuple[Hashable, ...], Integers]:
    """The number of each id, counted by first appearance; the ids in that order; where each appears first."""
    first: dict[Hashable, int] = {}
    try:
        seen = np.fromiter(map(first.setdefault, ids, itertools.count()), np.int64, len(ids))
    except TypeError as error:
        row = next(row for row, value in enumerate(ids) if not _is_hashable(value))
        raise InputError(
            f"row {row}: the query id {ids[row]!r} is a {type(ids[row]).__name__}, which cannot be one; "
            "give text, a number or another hashable value"
        ) from error
    is_first = seen == np.arange(len(ids))
    numbers = np.cumsum(is_first) - 1
    return numbers[seen], tuple(first), np.flatnonzero(is_first)


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _checked(query: Hashable, row: int) -> Hashable:
    if is_missing(query):
        raise InputError(f"row {row}: qid is missing ({query}); every row needs a query id")
    return query


def _plain(value: Any) -> Hashable:
    kept = isinstance(value, np.datetime64 | np.timedelta64) or not isinstance(value, np.generic | np.ndarray)
    return value if kept else value.item()
