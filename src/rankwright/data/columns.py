"""Text in columns apart by blanks, a document a line: how TREC's files are read."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Sequence
from typing import BinaryIO

import numpy as np

from rankwright.data.compressed import open_binary
from rankwright.runtime.arrays import Floats, Integers
from rankwright.runtime.errors import InputError

CHUNK = 1 << 22
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclasses.dataclass(frozen=True)
class Layout:
    """What the columns of a file are; the number is in the column called label or score.

    >>> Layout("judgements", ("query", "iteration", "document", "label"), finite=True).number
    3
    """

    name: str
    columns: tuple[str, ...]
    finite: bool

    @property
    def number(self) -> int:
        """The column of the number."""
        return next(place for place, column in enumerate(self.columns) if column in ("label", "score"))

    def accepts(self, value: float) -> bool:
        """Whether a number may stand there: never NaN, and an infinite one only as a score."""
        return value == value and (not self.finite or abs(value) != float("inf"))


@dataclasses.dataclass(frozen=True)
class Columns:
    """The rows of a file, and the line that each stood on (counted from 1)."""

    queries: list[str]
    documents: list[str]
    numbers: Floats
    lines: Integers


def read_columns(path: str | os.PathLike[str], layout: Layout) -> Columns:
    """Read a file of this layout; blank lines are passed over."""
    queries: list[str] = []
    documents: list[str] = []
    numbers, lines = [], []
    known: dict[str, str] = {}
    first_line = 1
    with open_binary(path) as file:
        for chunk in _whole_lines(file):
            rows = list(map(bytes.split, chunk.split(b"\n")))
            at = np.flatnonzero(np.fromiter(map(bool, rows), bool, len(rows))) + first_line
            first_line += len(rows) - 1
            rows = list(filter(None, rows))
            if not rows:
                continue
            parsed = _parse(rows, layout)
            if parsed is None:
                raise _first_error(path, rows, at, layout)
            of_chunk, ids, values = parsed
            # One text a query, not one a line.
            queries.extend(map(known.setdefault, of_chunk, of_chunk))
            documents.extend(ids)
            numbers.append(values)
            lines.append(at)
    if not queries:
        raise InputError(f"{path} holds no line; a line of {layout.name} is: {' '.join(layout.columns)}")
    return Columns(queries, documents, np.concatenate(numbers), np.concatenate(lines))


def _whole_lines(file: BinaryIO) -> Iterator[bytes]:
    """The file in pieces that end where a line ends."""
    begun = file.read(CHUNK).removeprefix(BYTE_ORDER_MARK)
    while data := file.read(CHUNK):
        end = data.rfind(b"\n") + 1
        if end:
            yield begun + data[:end]
            begun = data[end:]
        else:
            begun += data
    yield begun


def _parse(rows: list[list[bytes]], layout: Layout) -> tuple[list[str], list[str], Floats] | None:
    """Queries, documents and numbers of some rows; None where one of them is not as it should be."""
    if set(map(len, rows)) != {len(layout.columns)}:
        return None
    columns: list[Sequence[bytes]] = list(zip(*rows, strict=True))
    written = columns[layout.number]
    try:
        values = np.fromiter(map(float, written), np.float64, len(rows))
        queries, documents = _text(columns[0]), _text(columns[2])
    except ValueError:
        return None
    unfit = np.isnan(values) if not layout.finite else ~np.isfinite(values)
    # Python reads 1_000 as a number; no other tool does.
    if unfit.any() or b"_" in b"".join(written):
        return None
    return queries, documents, values


def _text(column: Sequence[bytes]) -> list[str]:
    return b"\n".join(column).decode().split("\n")


def _first_error(
    path: str | os.PathLike[str], rows: list[list[bytes]], lines: Integers, layout: Layout
) -> InputError:
    for row, line in zip(rows, lines, strict=True):
        if _parse([row], layout) is not None:
            continue
        place = f"{path}, line {line}"
        if len(row) != len(layout.columns):
            return InputError(
                f"{place}: there are {len(row)} columns; "
                f"a line of {layout.name} has {len(layout.columns)}: {' '.join(layout.columns)}"
            )
        try:
            _text(row)
        except UnicodeDecodeError:
            return InputError(f"{place}: this is not UTF-8 text; convert the file")
        kind = layout.columns[layout.number]
        written = row[layout.number].decode()
        return InputError(f"{place}: the {kind} {written!r} is not a {'finite ' * layout.finite}number")
    raise AssertionError("a row that did not parse among others parses alone")
