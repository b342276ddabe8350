"""What callers give, as arrays: a matrix of features, and rows grouped by an id."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwright.runtime.errors import InputError

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Integers = NDArray[np.int64]


def feature_matrix(X: ArrayLike) -> Singles:
    """Features as a contiguous float32 matrix: finite numbers, and NaN for what is missing.

    >>> feature_matrix([[1, 2]])
    array([[1., 2.]], dtype=float32)
    """
    try:
        given = np.asarray(X)
        with np.errstate(over="ignore"):  # what overflows is infinite, and named below
            features = np.ascontiguousarray(given, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"the features are not a matrix of numbers ({error}); encode text and categories first"
        ) from error
    if given.ndim != 2:
        raise InputError(f"the features have {given.ndim} dimension(s); give a matrix, one row a document")
    for begin in range(0, len(features), 65536):
        infinite = np.isinf(features[begin : begin + 65536])
        if infinite.any():
            row, column = np.argwhere(infinite)[0]
            row += begin
            raise InputError(
                f"row {row}, feature {column}: the value {given[row, column]!r} is infinite as a float32; "
                "use NaN for what is missing, and scale what is too large"
            )
    return features


def group(qid: Any, n: int) -> tuple[Integers, tuple[Hashable, ...], Integers | None]:
    """Offsets of the queries, their ids, and the stable order that brings their rows together.

    The order is None where the rows stand together already.

    >>> group(["b", "a", "b"], 3)
    (array([0, 2, 3]), ('b', 'a'), array([0, 2, 1]))
    """
    if n == 0:
        raise InputError("there are no rows; give at least one document")
    if np.ndim(qid) == 0 and (
        isinstance(qid, str | bytes | int | float | np.generic) or not hasattr(qid, "__len__")
    ):
        if qid is None:
            raise InputError("qid is None; give the query of each row, or one id if all rows are one query")
        return np.array([0, n], np.int64), (_plain(qid),), None
    ids = np.asarray(qid) if not isinstance(qid, list | tuple) else _id_array(qid)
    if ids.ndim != 1 or len(ids) != n:
        raise InputError(f"qid has shape {ids.shape} for {n} rows; give one query id a row")
    if ids.dtype.kind == "f" and np.isnan(ids).any():
        raise InputError(
            f"row {int(np.flatnonzero(np.isnan(ids))[0])}: qid is NaN; every row needs a query id"
        )
    starts = np.concatenate([[0], np.flatnonzero(ids[1:] != ids[:-1]) + 1])
    run_ids = [_plain(value) for value in ids[starts]]
    number: dict[Hashable, int] = {}
    runs = np.array([number.setdefault(value, len(number)) for value in run_ids], np.int64)
    query_ids = tuple(number)
    if len(query_ids) == len(starts):
        return np.append(starts, n).astype(np.int64), query_ids, None
    by_row = np.repeat(runs, np.diff(np.append(starts, n)))
    order = np.argsort(by_row, kind="stable").astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(by_row, minlength=len(query_ids)))]).astype(np.int64)
    return offsets, query_ids, order


def _id_array(ids: Sequence[Hashable]) -> NDArray[Any]:
    array = np.empty(len(ids), object)
    array[:] = ids
    return array


def _plain(value: Any) -> Hashable:
    return value.item() if isinstance(value, np.generic) else value
