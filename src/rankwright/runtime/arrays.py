"""What callers give, as arrays: a matrix of features, numbers, and rows grouped by an id.

Rows in messages are counted from 0 in the order in which the caller gave them.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.runtime.errors import InputError

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Integers = NDArray[np.int64]

BLOCK = 65536
NEVER_MISSING = {bool, bytes, int, str}


def feature_matrix(X: Any) -> Singles:
    """Features as a contiguous float32 matrix without infinities; sparse matrices are made dense.

    >>> feature_matrix([[1, None], [True, 0.5]])
    array([[1. , nan],
           [1. , 0.5]], dtype=float32)
    """
    given = X.toarray() if hasattr(X, "toarray") else as_array(X, "the features")
    if given.ndim != 2:
        raise InputError(f"the features have {given.ndim} dimension(s); give a matrix, one row a document")
    numbers = as_numbers(given, "the features")
    with np.errstate(over="ignore"):
        features = np.ascontiguousarray(numbers, dtype=np.float32)
    for begin in range(0, len(features), BLOCK):
        infinite = np.isinf(features[begin : begin + BLOCK])
        if infinite.any():
            row, column = (int(index) for index in np.argwhere(infinite)[0])
            row += begin
            raise InputError(
                f"row {row}, feature {column}: the value {given[row, column]} is infinite as a float32; "
                "use NaN for what is missing, and scale what is too large"
            )
    return features


def as_array(values: Any, name: str) -> NDArray[Any]:
    """What is given as an array: numbers as they are, everything else as objects."""
    try:
        array = np.asarray(values)
        return array if array.dtype.kind in "biuf" else np.asarray(values, dtype=object)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} are not an array of numbers ({error})") from error


def as_numbers(array: NDArray[Any], name: str) -> NDArray[Any]:
    """An array of numbers as it is, and one of objects as float64; numbers written as text are refused."""
    if array.dtype.kind in "biuf":
        return array
    numbers = np.full(array.shape, np.nan)
    for index, value in np.ndenumerate(array):
        if is_missing(value):
            continue
        try:
            if isinstance(value, str | bytes):
                raise TypeError("text")
            numbers[index] = float(value)
        except (TypeError, ValueError, OverflowError) as error:
            place = ", ".join(f"{what} {at}" for what, at in zip(("row", "feature"), index, strict=False))
            raise InputError(
                f"{place}{': ' * bool(place)}{name} hold {value!r}, which is not a number; "
                "encode text and categories first"
            ) from error
    return numbers


def is_missing(value: Any) -> bool:
    """Whether a single value stands for nothing: None, NaN, NaT or pandas' NA.

    >>> is_missing(None), is_missing(float("nan")), is_missing("nan")
    (True, True, False)
    """
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas' NA has no truth value
        return True
    except ValueError:  # neither has a comparison of arrays, and an array is not a missing value
        return False


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
    if not {*map(type, query_ids)} <= NEVER_MISSING:
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
    if _is_increasing(ids):
        numbers = np.arange(len(ids))
        return numbers, tuple(ids), numbers
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
    return numbers[seen], tuple(map(_plain, first)), np.flatnonzero(is_first)


def _is_increasing(ids: list[Hashable]) -> bool:
    """Whether the ids are whole numbers that increase: the most usual ones, and none is there twice."""
    if {*map(type, ids)} != {int}:
        return False
    try:
        numbers = np.array(ids, np.int64)
    except OverflowError:
        return False
    return bool((numbers[1:] > numbers[:-1]).all())


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
