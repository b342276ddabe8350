"""What each array of a query set must be, and the sentence that says so where it is not.

Rows in messages are counted from 0 in the order in which the caller gave them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.runtime.arrays import Floats, Integers, as_array, as_numbers, is_missing
from rankwright.runtime.errors import InputError


def column(values: Any, n: int, name: str) -> Floats:
    """One finite number (or NaN) a row, as a copy that nobody else holds."""
    numbers = _copy(values, name)
    if numbers.shape != (n,):
        raise InputError(f"{name} have shape {numbers.shape} for {n} rows; give one number a row")
    bad = np.flatnonzero(np.isinf(numbers))
    if len(bad):
        raise InputError(f"row {bad[0]}: {name} hold an infinite value; give finite numbers")
    return numbers


def sample_weights(values: Any, n: int) -> Floats:
    """One weight a row: finite and not negative."""
    weights = _copy(values, "sample_weight")
    if weights.shape != (n,):
        raise InputError(f"sample_weight has shape {weights.shape} for {n} rows; give one weight a row")
    bad = np.flatnonzero(~_usable(weights))
    if len(bad):
        raise InputError(
            f"row {bad[0]}: sample_weight is {weights[bad[0]]:g}; weights are finite and not negative"
        )
    return weights


def query_weights(values: Any, query_ids: Sequence[Any], rows: Integers | None, offsets: Integers) -> Floats:
    """One weight a query, from a mapping by query id, one a query in stored order, or one a row."""
    n = int(offsets[-1])
    if isinstance(values, Mapping):
        missing = [query for query in query_ids if query not in values]
        if missing:
            raise InputError(
                f"query {missing[0]!r} has no weight; query_weight names other queries but not this one"
            )
        values = [values[query] for query in query_ids]
    weights = _copy(values, "query_weight")
    if weights.shape == (n,) != (len(query_ids),):
        stored = weights if rows is None else weights[rows]
        weights = stored[offsets[:-1]]
        differs = np.repeat(weights, np.diff(offsets)) != stored
        # NaN differs from itself; it is refused below, by the name of its query.
        bad = np.flatnonzero(differs & ~np.isnan(stored))
        if len(bad):
            row = bad[0] if rows is None else rows[bad[0]]
            raise InputError(
                f"row {row}: query_weight differs from that of another row of its query; give one a query"
            )
    if weights.shape != (len(query_ids),):
        raise InputError(
            f"query_weight has shape {weights.shape}; "
            f"give one weight a query ({len(query_ids)}) or one a row ({n})"
        )
    bad = np.flatnonzero(~_usable(weights))
    if len(bad):
        raise InputError(
            f"query {query_ids[bad[0]]!r}: query_weight is {weights[bad[0]]:g}; "
            "weights are finite and not negative"
        )
    return weights


def document_ids(documents: Iterable[Any], n: int) -> tuple[str, ...]:
    """One id a row, as text."""
    ids = tuple(documents)
    if len(ids) != n:
        raise InputError(f"there are {len(ids)} document ids for {n} rows; give one a row")
    for row, document in enumerate(ids):
        if not isinstance(document, str) and is_missing(document):
            raise InputError(f"row {row}: the document id is missing; give every row one, or none at all")
    return tuple(map(str, ids))


def feature_names(names: Iterable[Any], n_features: int) -> tuple[str, ...]:
    """One name a feature, no name twice."""
    given = tuple(map(str, names))
    if len(given) != n_features:
        raise InputError(
            f"there are {len(given)} feature names for {n_features} features; give one a feature"
        )
    if len(set(given)) < n_features:
        twice = next(name for index, name in enumerate(given) if name in given[:index])
        raise InputError(f"two features are named {twice!r}; give each a name of its own")
    return given


def _usable(weights: Floats) -> NDArray[np.bool_]:
    return (weights >= 0) & np.isfinite(weights)


def _copy(values: Any, name: str) -> Floats:
    return np.array(as_numbers(as_array(values, name), name), dtype=np.float64, order="C")
