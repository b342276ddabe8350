"""LETOR text (the ranking dialect of svmlight's), read and written.

A row is ``label qid:id index:value … # comment``. Features that a row does not name are 0, as everywhere in
this format; a missing value is written as nan or NULL.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwright.data.blocks import Block, read_blocks
from rankwright.data.decimals import PADDING, nearest_single_of
from rankwright.data.letor_complaints import complaint, token_at
from rankwright.data.letor_parsing import BAD_LABEL, BAD_VALUE, FINE, NO_INDEX, Found, parse_rows
from rankwright.data.letor_rows import Piece, Rows, decoded
from rankwright.data.queries import QuerySet
from rankwright.runtime.arrays import Floats, Integers, Singles
from rankwright.runtime.errors import InputError
from rankwright.runtime.threads import in_chunks

MOST_FEATURES = 1_000_000  # Unless n_features says more.
HIGHEST_INDEX = 99_999_999  # An index has at most eight digits.
DOCUMENT = re.compile(rb"\s*docid\s*=\s*(\S+)", re.IGNORECASE)


class Layout(NamedTuple):
    """Which feature goes to column 0, how many columns there are, and which indices are allowed."""

    first: int
    width: int
    least: int
    most: int

    @property
    def bounds(self) -> tuple[int, int, int]:
        """What the kernel needs beside the columns: where they begin, and which indices are allowed."""
        return self.first, self.least, self.most


def read_letor(
    path: str | os.PathLike[str],
    *,
    n_features: int | None = None,
    zero_based: bool | None = None,
    scattered: bool = False,
    n_jobs: int | None = None,
) -> QuerySet:
    """Read a file of LETOR text, plain or compressed (.gz, .xz, .bz2, .zst).

    ``n_features``: as many as the highest index says, unless given. ``zero_based``: whether features count
    from 0; by default they do where the file has a feature 0. ``scattered`` allows the rows of a query to
    stand apart; otherwise that is an error.

    Query ids are ints where all of them are whole numbers, and text otherwise; document ids are taken from
    comments (``#docid = GX008 inc = 1``, or the whole comment). A row without a label has nan in its place;
    where all have, there are no labels.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "train.txt"
    >>> _ = path.write_text("2 qid:1 1:0.5 3:1e-2 #docid = D7\\n0 qid:1 2:nan #docid = D9\\n")
    >>> queries = read_letor(path)
    >>> queries, queries.documents
    (QuerySet(1 query, 2 documents, 3 features), ('D7', 'D9'))
    >>> queries.features
    array([[0.5 , 0.  , 0.01],
           [0.  ,  nan, 0.  ]], dtype=float32)
    """
    if n_features is not None and not 1 <= n_features < HIGHEST_INDEX:
        raise InputError(f"n_features is {n_features}; give a number from 1 to {HIGHEST_INDEX:,}")
    reader = _Reader(Path(path), n_features, zero_based, scattered, n_jobs)
    with read_blocks(path) as blocks:
        first = next(blocks, None)
        if first is None:
            raise InputError(f"{path} has no rows; give a file with at least one document")
        try:
            return reader.read(itertools.chain([first], blocks), reader.layout([first]))
        except _Misfit as misfit:
            if not Path(path).is_file():
                raise InputError(
                    f"{misfit}; what is no file is read only once: give n_features and zero_based"
                ) from None
    # The first block did not say how wide the rows are: ask all of them.
    with read_blocks(path) as blocks:
        layout = reader.layout(blocks)
    with read_blocks(path) as blocks:
        return reader.read(blocks, layout)


class _Misfit(InputError):
    """Features for which the layout has no column."""


@dataclasses.dataclass(frozen=True)
class _Reader:
    path: Path
    n_features: int | None
    zero_based: bool | None
    scattered: bool
    n_jobs: int | None

    def layout(self, blocks: Iterable[Block]) -> Layout:
        """The layout that the rows of these blocks ask for, where the caller did not say."""
        lowest, highest = NO_INDEX, -1
        for block in blocks:
            nowhere = np.empty((sum(block.lines), 0), np.float32)
            # What is wrong with a row is said when it is read into its place, in the order of the lines.
            for piece in self._parse(block, self._layout(lowest, -1), nowhere):
                lowest, highest = min(lowest, piece.lowest), max(highest, piece.highest)
        return self._layout(lowest, highest)

    def _layout(self, lowest: int, highest: int) -> Layout:
        first = int(lowest > 0 if self.zero_based is None else not self.zero_based)
        least = int(self.zero_based is False)
        if self.n_features is None:
            return Layout(first, max(0, highest + 1 - first), least, MOST_FEATURES)
        return Layout(first, self.n_features, least, self.n_features + first - 1)

    def read(self, blocks: Iterable[Block], layout: Layout) -> QuerySet:
        """Parse everything into one matrix."""
        rows = Rows(self.path, layout.width, scattered=self.scattered, limited=self.n_features is None)
        for block in blocks:
            features = rows.begin(block)
            for piece in self._parse(block, layout, features):
                if piece.lowest < layout.first or piece.highest >= layout.first + layout.width:
                    outside = piece.lowest if piece.lowest < layout.first else piece.highest
                    raise _Misfit(f"{self.path}: feature {outside} comes up only after the first rows")
                rows.add(piece)
                if piece.problem is not None:
                    raise InputError(f"{self.path}, {piece.problem}")
        return rows.queries()

    def _parse(self, block: Block, layout: Layout, features: Singles) -> list[Piece]:
        starts = np.cumsum([0, *block.lines])
        kernel = parse_rows.plain if block.whole and not parse_rows.is_compiled else parse_rows.compiled

        def parse(k: int, _: int) -> Piece:
            return self._parse_piece(kernel, block, k, layout, features[starts[k] : starts[k + 1]])

        return in_chunks(parse, range(len(block.lines) + 1), self.n_jobs)

    def _parse_piece(
        self, kernel: Callable[..., Any], block: Block, k: int, layout: Layout, features: Singles
    ) -> Piece:
        begin, end = block.cuts[k], block.cuts[k + 1]
        n = block.lines[k]
        labels, runs, comments = np.empty(n), np.empty((n, 3), np.int64), np.empty((n, 2), np.int64)
        # A token takes four bytes or more.
        unsettled = np.empty(((end - begin) // 4 + 1, 3), np.int64)
        as_bytes = kernel is parse_rows.plain
        text = (bytes if as_bytes else _byte_array)(memoryview(block.text)[begin : end + PADDING])
        seen = np.full(features.shape[1], -1)
        found = Found(
            *kernel(text, end - begin, *layout.bounds, features, labels, runs, comments, unsettled, seen)
        )
        rows, problem = found.rows, None
        bad = self._settle(block, begin, unsettled[: found.unsettled], labels, features)
        if bad is None and found.status != FINE:
            bad = rows, begin + found.position, found.status
        if bad is not None:
            rows, position, status = bad
            problem = complaint(block, position, status, layout.least, layout.most)
        runs = runs[: found.runs][runs[: found.runs, 0] < rows] + np.array([0, begin, begin])
        documents = _documents(block, begin, comments[:rows])
        return Piece(labels[:rows], runs, documents, found.lowest, found.highest, problem)

    def _settle(
        self, block: Block, begin: int, unsettled: Integers, labels: Floats, features: Singles
    ) -> tuple[int, int, int] | None:
        """Give their values to the numbers the kernel was not sure of; row, place and status of a bad one."""
        for row, column, at in unsettled.tolist():
            number = token_at(block.text, begin + at).rpartition(":")[2]
            if column < 0:
                labels[row] = value = float(number)
            else:
                features[row, column] = value = float(nearest_single_of(number))
            if np.isinf(value):
                return row, begin + at, BAD_LABEL if column < 0 else BAD_VALUE
        return None


def _byte_array(text: memoryview) -> NDArray[np.uint8]:
    return np.frombuffer(text, np.uint8)


def _documents(block: Block, begin: int, comments: Integers) -> list[str] | None:
    """The ids in the comments of some rows, or None if there are none."""
    if (comments[:, 0] == comments[:, 1]).all():
        return None
    text = bytes(memoryview(block.text)[begin : begin + int(comments[-1, 1])])
    ids = [document_id(text[at + 1 : end]) for at, end in comments.tolist()]
    return ids if any(ids) else None


def document_id(comment: bytes) -> str:
    """The id that a comment holds: what follows "docid =", or all of it.

    >>> document_id(b"docid = GX008-86 inc = 1"), document_id(b" WT04-B1 ")
    ('GX008-86', 'WT04-B1')
    """
    named = DOCUMENT.match(comment)
    return decoded(named[1] if named else comment.strip())
