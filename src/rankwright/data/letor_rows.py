"""Parsed pieces of LETOR text put together: a matrix with room to grow, queries from runs of rows."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rankwright.data.blocks import Block
from rankwright.data.queries import QuerySet
from rankwright.runtime.arrays import Floats, Integers, Singles
from rankwright.runtime.errors import InputError

# Without n_features, a matrix may take so many bytes, or so many for each byte of text.
FREE, FREE_PER_BYTE = 1 << 26, 100
WHOLE_NUMBER = re.compile("0|-?[1-9][0-9]{0,999}")


class Piece(NamedTuple):
    """What was parsed of one piece of a block: labels, runs of rows of one query, document ids.

    A run is its first row and the begin and end of its query's id in the block. A problem ends the rows.
    """

    labels: Floats
    runs: Integers
    documents: list[str] | None
    lowest: int
    highest: int
    problem: str | None


class Rows:
    """The rows of a file, block by block."""

    def __init__(self, path: Path, width: int, *, scattered: bool, limited: bool):
        self._path = path
        self._text = 0
        self._matrix = _Matrix(width, limited)
        self._scattered = scattered
        self._n = 0
        self._labels: list[Floats] = []
        self._documents: list[list[str] | None] = []
        self._run_starts: list[int] = []
        self._run_queries: list[int] = []
        self._queries: dict[bytes, int] = {}

    def begin(self, block: Block) -> Singles:
        """Where the features of a block go, line by line."""
        end = self._n + sum(block.lines)
        self._text += block.cuts[-1]
        # The first block is too small to tell how many rows there will be.
        expected = end if not self._n else int(end / block.share * 1.1) if block.share else 2 * end
        try:
            self._features = self._matrix.rows(self._n, end, expected, self._text)
        except _TooLarge as error:
            raise InputError(f"{self._path}: {error}") from None
        self._block, self._pieces, self._row = block, 0, 0
        return self._features

    def add(self, piece: Piece) -> None:
        """Take over the next piece of the block."""
        n = len(piece.labels)
        line, row = sum(self._block.lines[: self._pieces]), self._row
        if row < line:  # Some lines before held no row.
            self._features[row : row + n] = self._features[line : line + n]
        self._labels.append(piece.labels)
        self._documents.append(piece.documents)
        self._add_runs(self._block, piece.runs)
        self._n += n
        self._row += n
        self._pieces += 1

    def _add_runs(self, block: Block, runs: Integers) -> None:
        for row, begin, end in runs.tolist():
            known = len(self._queries)
            query = self._queries.setdefault(bytes(block.text[begin:end]), known)
            if self._run_queries and query == self._run_queries[-1]:
                continue
            if query < known and not self._scattered:
                raise InputError(
                    f"{self._path}, line {block.line_of(begin)}: query {decoded(block.text[begin:end])!r} "
                    "has rows further up, apart from this one; put them together, or say scattered=True"
                )
            self._run_starts.append(self._n + row)
            self._run_queries.append(query)

    def queries(self) -> QuerySet:
        """All rows as a query set."""
        if not self._n:
            raise InputError(f"{self._path} has no rows; give a file with at least one document")
        numbers = np.repeat(self._run_queries, np.diff([*self._run_starts, self._n]))
        labels, features = np.concatenate(self._labels), self._matrix.finished(self._n)
        known = None if np.isnan(labels).all() else labels
        # The features were checked as they were parsed: they need not pass the constructor's check.
        bare = QuerySet(features[:, :0], known, qid=numbers, documents=self._document_ids())
        return bare._with(features=bare.in_stored_order(features), query_ids=_query_ids(self._queries))

    def _document_ids(self) -> list[str] | None:
        if not any(self._documents):
            return None
        parts = zip(self._documents, self._labels, strict=True)
        return [ids for part, labels in parts for ids in (part or [""] * len(labels))]


def _query_ids(written: Iterable[bytes]) -> tuple[Hashable, ...]:
    ids = tuple(map(decoded, written))
    return tuple(map(int, ids)) if all(map(WHOLE_NUMBER.fullmatch, ids)) else ids


def decoded(written: bytes | bytearray) -> str:
    """Bytes of a file as text, such that writing gives the same bytes again."""
    return written.decode(errors="surrogateescape")


class _TooLarge(Exception):
    """There is no room for a matrix, or its text does not warrant it."""


class _Matrix:
    """Rows of float32 whose number is not known before.

    Room is made for as many as are expected. What of it is not used in the end takes no memory, as systems
    give that only when it is written to.
    """

    def __init__(self, width: int, limited: bool):
        self._width = width
        self._limited = limited
        self._cells = np.empty(0, np.float32)

    def rows(self, begin: int, end: int, expected: int, text: int) -> Singles:
        """Some rows, with room for the expected number of all, as so many bytes of text warrant it."""
        if end * self._width > self._cells.size:
            n_bytes = 4 * end * self._width
            if self._limited and n_bytes > max(FREE, FREE_PER_BYTE * text):
                raise _TooLarge(
                    f"{end:,} rows of {self._width:,} features take {n_bytes / 1e9:,.1f} GB of memory "
                    f"for {text:,} bytes of text; if that is meant, give n_features"
                )
            self._grow(begin * self._width, max(end, expected) * self._width)
        return self._cells[begin * self._width : end * self._width].reshape(end - begin, self._width)

    def _grow(self, used: int, size: int) -> None:
        try:
            grown = np.empty(size, np.float32)
        except (MemoryError, ValueError):
            gigabytes = size * 4 / 1e9
            raise _TooLarge(f"there is no memory for {gigabytes:,.1f} GB of features; read a part") from None
        grown[:used] = self._cells[:used]
        self._cells = grown

    def finished(self, n: int) -> Singles:
        """The first n rows."""
        return self._cells[: n * self._width].reshape(n, self._width)
