"""Query sets in Parquet files: one row a document, features as float32, nothing lost.

A file is an ordinary table that others can read. Which of its columns is what, and whether the features'
names are the user's, stands in the schema's metadata under the key ``rankwright``.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np

from rankwright.data.frames import from_frame
from rankwright.data.queries import QuerySet
from rankwright.runtime.errors import InputError, require
from rankwright.runtime.files import written_whole

KEY = b"rankwright"
ROWS_AT_ONCE = 1 << 16
KEEPABLE = (str, int, float, bool, bytes)


class ColumnNames(TypedDict, total=False):
    """The names of columns, as ``QuerySet.from_frame`` takes them."""

    label: str | None
    qid: str
    features: list[str]
    document: str | None
    sample_weight: str | None
    query_weight: str | None
    position: str | None


def read_parquet(path: str | os.PathLike[str], **columns: Unpack[ColumnNames]) -> QuerySet:
    """Read a Parquet file: one that ``to_parquet`` wrote as it is, any other by the names of its columns.

    Names are given as to ``QuerySet.from_frame``; without any, the label is in the column "label" and the
    query in "qid", and all others are features.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "train.parquet"
    >>> queries = QuerySet([[0.5], [1.5]], [0, 1], qid=["b", "a"])
    >>> queries.to_parquet(path)
    >>> read_parquet(path).equals(queries)
    True
    """
    arrow = require("pyarrow", "frames")
    parquet = require("pyarrow.parquet", "frames")
    try:
        # The file is opened here so that a folder or a missing file is not taken for a data set.
        with Path(path).open("rb") as file:
            table = parquet.read_table(arrow.PythonFile(file, mode="r"))
    except OSError as error:
        raise InputError(f"{path} cannot be opened: {error.strerror or _first_line(error)}") from error
    except arrow.ArrowException as error:
        raise InputError(f"{path} cannot be read as a Parquet file: {_first_line(error)}") from error
    written = (table.schema.metadata or {}).get(KEY)
    try:
        if written is None or columns:
            return QuerySet.from_frame(_without_index(table, columns), **columns)
        return _restored(table, _meaning(written))
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def write_parquet(queries: QuerySet, path: str | os.PathLike[str]) -> None:
    """See ``QuerySet.to_parquet``."""
    parquet = require("pyarrow.parquet", "frames")
    arrow = require("pyarrow", "frames")
    features = [f"feature {n}" for n in range(queries.n_features)]
    features = list(queries.feature_names or features)
    per_document = _per_document(queries, arrow)
    names = {what: _unused(what, features) for what in per_document}
    meaning = {
        "version": 1,
        "named": queries.feature_names is not None,
        "features": features,
        "columns": names,
    }
    fields = [arrow.field(name, arrow.float32()) for name in features]
    fields += [arrow.field(names[what], values.type) for what, values in per_document.items()]
    schema = arrow.schema(fields, metadata={KEY: json.dumps(meaning)})
    with written_whole(path) as draft, parquet.ParquetWriter(draft, schema) as writer:
        for begin in range(0, len(queries), ROWS_AT_ONCE):
            block = queries.features[begin : begin + ROWS_AT_ONCE]
            # A column at a time, each read once from a transposed copy that fits the cache better.
            columns = [arrow.array(column) for column in np.ascontiguousarray(block.T)]
            columns += [values.slice(begin, len(block)) for values in per_document.values()]
            writer.write_table(arrow.Table.from_arrays(columns, schema=schema))


def _per_document(queries: QuerySet, arrow: Any) -> dict[str, Any]:
    """The Arrow columns beside the features, by what they are."""
    sizes = queries.sizes
    query_of = np.repeat(np.arange(queries.n_queries), sizes)
    weights = None if queries.query_weight is None else np.repeat(queries.query_weight, sizes)
    columns = {
        "label": queries.labels,
        "qid": _ids(queries, arrow).take(arrow.array(query_of)),
        "document": queries.documents,
        "sample_weight": queries.sample_weight,
        "query_weight": weights,
        "position": queries.positions,
        "row": queries.rows,
    }
    return {what: arrow.array(values) for what, values in columns.items() if values is not None}


def _ids(queries: QuerySet, arrow: Any) -> Any:
    kinds = {type(query) for query in queries.query_ids}
    if len(kinds) > 1 or not kinds <= set(KEEPABLE):
        names = " and ".join(sorted(kind.__name__ for kind in kinds))
        raise InputError(
            f"the query ids are of type {names}, which Parquet cannot keep; "
            "give all as text or all as numbers"
        )
    try:
        return arrow.array(queries.query_ids)
    except (OverflowError, arrow.ArrowException) as error:
        raise InputError(
            f"the query ids do not fit into Parquet ({_first_line(error)}); give them as text"
        ) from error


def _without_index(table: Any, columns: ColumnNames) -> Any:
    """The table without the row labels that pandas kept as columns, unless they have been named."""
    try:
        about = json.loads((table.schema.metadata or {}).get(b"pandas", b"{}"))
        kept = list(about.get("index_columns", ()))
    except (ValueError, AttributeError, TypeError) as error:
        raise InputError("what pandas tells of the columns is damaged; write the file again") from error
    named = {columns.get("label", "label"), columns.get("qid", "qid"), *(columns.get("features") or ())}
    named |= {value for value in columns.values() if isinstance(value, str)}
    labels = [name for name in kept if isinstance(name, str) and name not in named]
    return table.drop_columns([name for name in labels if name in table.column_names])


def _meaning(written: bytes) -> dict[str, Any]:
    """What a file of ours tells of its columns."""
    try:
        meaning: dict[str, Any] = json.loads(written)
        if meaning["version"] == 1:
            return {what: meaning[what] for what in ("named", "features", "columns")}
    except (ValueError, KeyError, TypeError) as error:
        raise InputError("what the file tells of its columns is damaged; name its columns") from error
    raise InputError("the file was written by a newer Rankwright; update, or name its columns")


def _restored(table: Any, meaning: dict[str, Any]) -> QuerySet:
    names = meaning["columns"]
    queries = from_frame(
        table.drop_columns([names["row"]]) if "row" in names else table,
        features=meaning["features"],
        **{what: names.get(what) for what in ColumnNames.__annotations__ if what != "features"},
    )
    rows = table[names["row"]].to_numpy() if "row" in names else None
    if rows is not None and not np.array_equal(np.sort(rows), np.arange(len(rows))):
        raise InputError(
            f"column {names['row']!r} does not number the rows from 0, as if rows had been taken out; "
            "name its columns"
        )
    return queries._with(rows=rows, feature_names=queries.feature_names if meaning["named"] else None)


def _unused(name: str, taken: list[str]) -> str:
    """The name, lengthened until it is not one of those taken."""
    while name in taken:
        name += "_"
    return name


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
