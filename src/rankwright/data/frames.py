"""Data frames as query sets: pandas, polars and Arrow, through narwhals."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwright.data.queries import QuerySet
from rankwright.runtime.arrays import as_numbers
from rankwright.runtime.errors import InputError, require


def from_frame(
    frame: Any,
    *,
    label: str | None,
    qid: str,
    features: Sequence[str] | None,
    document: str | None,
    sample_weight: str | None,
    query_weight: str | None,
    position: str | None,
) -> QuerySet:
    """See ``QuerySet.from_frame``."""
    table = _table(frame)
    features = [features] if isinstance(features, str) else features
    named = [label, qid, document, sample_weight, query_weight, position]
    _check_columns(table, [*(features or []), *(name for name in named if name is not None)])
    chosen = [name for name in table.columns if name not in named] if features is None else list(features)
    if len(table) == 0:
        raise InputError("the frame has no rows; give at least one document")
    X = np.empty((len(table), len(chosen)), np.float32)
    for column, name in enumerate(chosen):
        # A value too large for float32 becomes infinite, which QuerySet refuses by row and feature.
        with np.errstate(over="ignore"):
            X[:, column] = _numbers(table, name)

    def numbers(name: str | None) -> Any:
        return None if name is None else _numbers(table, name)

    return QuerySet(
        X,
        numbers(label),
        qid=_ids(table, qid),
        documents=None if document is None else _ids(table, document),
        feature_names=chosen,
        sample_weight=numbers(sample_weight),
        query_weight=numbers(query_weight),
        positions=numbers(position),
    )


def _table(frame: Any) -> Any:
    narwhals = require("narwhals", "frames")
    try:
        return narwhals.from_native(frame, eager_only=True)
    except narwhals.exceptions.DuplicateError as error:
        raise InputError("two columns of the frame have the same name; give each its own") from error
    except TypeError as error:
        if hasattr(frame, "__arrow_c_stream__"):  # a record batch or reader, or another kind of table
            with contextlib.suppress(TypeError, ValueError):
                return narwhals.from_native(require("pyarrow", "frames").table(frame), eager_only=True)
        cure = "collect it first" if hasattr(frame, "collect") else "give a pandas, polars or Arrow table"
        raise InputError(f"a {type(frame).__name__} is not a data frame in memory; {cure}") from error


def _check_columns(table: Any, names: Sequence[str]) -> None:
    columns = table.columns
    for name in names:
        if name not in columns:
            raise InputError(f"there is no column {name!r}; the columns are {', '.join(map(repr, columns))}")
    twice = [name for index, name in enumerate(names) if name in names[:index]]
    if twice:
        raise InputError(f"column {twice[0]!r} is named for two things; give each its own")


def _numbers(table: Any, name: str) -> Any:
    """A column as float64, what is null as NaN."""
    narwhals = require("narwhals", "frames")
    column = table.get_column(name)
    kind = column.dtype
    if column.is_null().all():
        return np.full(len(column), np.nan)
    if kind == narwhals.Object:
        return as_numbers(np.fromiter(column.to_list(), object, len(column)), f"column {name!r}")
    if not (kind.is_numeric() or kind == narwhals.Boolean):
        raise InputError(
            f"column {name!r} is {kind}, not numbers; leave it out by naming the features, or encode it first"
        )
    return column.cast(narwhals.Float64).to_numpy().astype(np.float64)


def _ids(table: Any, name: str) -> list[Any]:
    """A column of ids, none of which is missing."""
    column = table.get_column(name)
    missing = column.is_null()
    if missing.any():
        raise InputError(
            f"row {missing.to_list().index(True)}: column {name!r} has no value; every row needs an id"
        )
    return list(column.to_list())
