"""Query sets as LETOR text: each float32 by the shortest decimal that reads back as itself."""

from __future__ import annotations

import collections
import itertools
import math
import os
import re
from collections.abc import Hashable
from typing import Any

import numpy as np

from rankwright.data.compressed import create_binary
from rankwright.data.decimals import MINUS, POINT, TENS, ZERO, E, Text, shortest_decimal
from rankwright.data.letor import document_id
from rankwright.data.queries import QuerySet
from rankwright.runtime.arrays import Integers, Singles
from rankwright.runtime.errors import InputError
from rankwright.runtime.kernels import kernel
from rankwright.runtime.threads import in_chunks

BLANK, COLON = b" :"
NAN = b"nan"
CELL = 27  # A blank, eight digits of an index, a colon and at most 17 characters of a value.
PART = 1 << 17  # Cells a thread writes at a time.
SMALL = 1 << 13  # So many are written in less time than a compiler takes to start.
SEPARATES = re.compile(r"[ \t\n\r\v\f#]")


def write_letor(queries: QuerySet, path: str | os.PathLike[str], *, n_jobs: int | None = None) -> None:
    """Write a query set as LETOR text, compressed if the name ends in .gz, .xz, .bz2 or .zst.

    Features, labels, query ids and document ids read back as they are; what is missing is written as nan.
    Features count from 1. Queries stand together, their rows in stored order. The format has no place for
    feature names, weights and positions, and no types: text that spells a whole number comes back as one.
    Parquet keeps all of that.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "train.txt"
    >>> write_letor(QuerySet([[0.1, None], [3, 1e-9]], [2, 0.5], qid="a", documents=["D7", "D9"]), path)
    >>> print(path.read_text(), end="")
    2 qid:a 1:0.1 2:nan #docid = D7
    0.5 qid:a 1:3 2:1e-9 #docid = D9
    """
    heads, comments = _heads(queries), _comments(queries)
    kernel = write_features.plain if queries.features.size <= SMALL else write_features.compiled
    n, step = len(queries), max(1, PART // max(1, queries.n_features))

    def part(begin: int, end: int) -> bytes:
        rows = _features(kernel, queries.features[begin:end])
        lines = zip(heads[begin:end], rows, comments[begin:end], strict=True)
        return b"".join(piece for line in lines for piece in line)

    with create_binary(path) as file:
        for begin in range(0, n, 8 * step):
            end = min(begin + 8 * step, n)
            for text in in_chunks(part, [*range(begin, end, step), end], n_jobs):
                file.write(text)


def _features(kernel: Any, features: Singles) -> list[bytes]:
    """The features of some rows as text."""
    text, ends = bytearray(CELL * features.size), np.empty(len(features), np.int64)
    kernel(features, text if kernel is write_features.plain else np.frombuffer(text, np.uint8), ends)
    bounds = [0, *ends.tolist()]
    return [bytes(text[begin:end]) for begin, end in itertools.pairwise(bounds)]


def _heads(queries: QuerySet) -> list[bytes]:
    """The label and the query of each row as text."""
    labels = [b"nan"] * len(queries) if queries.labels is None else map(_label, queries.labels.tolist())
    ids = _query_ids(queries.query_ids)
    by_row = (ids[query] for query in np.repeat(np.arange(len(ids)), queries.sizes).tolist())
    return [label + query for label, query in zip(labels, by_row, strict=True)]


def _label(label: float) -> bytes:
    return (f"{label:.0f}" if label.is_integer() and abs(label) < 1e15 else repr(label)).encode()


def _query_ids(query_ids: tuple[Hashable, ...]) -> list[bytes]:
    texts = list(map(str, query_ids))
    for query, text in zip(query_ids, texts, strict=True):
        if not text or SEPARATES.search(text):
            raise InputError(
                f"the query id {query!r} cannot stand in LETOR text, where blanks and # end an id; "
                "give other ids, or write Parquet"
            )
    if len(set(texts)) < len(texts):
        twice = collections.Counter(texts).most_common(1)[0][0]
        raise InputError(
            f"two query ids would both be written as {twice!r}; give other ids, or write Parquet"
        )
    return [f" qid:{text}".encode(errors="surrogateescape") for text in texts]


def _comments(queries: QuerySet) -> list[bytes]:
    """The comment of each row, with its document id, and the end of the line."""
    if queries.documents is None:
        return [b"\n"] * len(queries)
    return [_comment(document) for document in queries.documents]


def _comment(document: str) -> bytes:
    written = document.encode(errors="surrogateescape")
    for comment in (b"docid = " + written, b" " + written):
        if b"\n" not in written and document_id(comment) == document:
            return b" #" + comment + b"\n" if document else b"\n"
    raise InputError(
        f"the document id {document!r} cannot stand in LETOR text, "
        "where it would be read back as another; give other ids, or write Parquet"
    )


@kernel()
def write_features(features: Singles, text: Text, ends: Integers) -> None:
    """Write `` index:value`` for each feature of each row; where each row ends."""
    at = 0
    for row in range(features.shape[0]):
        for column in range(features.shape[1]):
            text[at] = BLANK
            at = write_whole(column + 1, text, at + 1)
            text[at] = COLON
            at = write_single(features[row, column], text, at + 1)
        ends[row] = at


@kernel()
def write_single(value: np.float32, text: Text, at: int) -> int:
    """Write a float32, and give where it ends."""
    if math.isnan(value):
        for character in NAN:
            text[at] = character
            at += 1
        return at
    if math.copysign(1.0, value) < 0.0:
        text[at] = MINUS
        at += 1
        value = -value
    if value == 0.0:
        text[at] = ZERO
        return at + 1
    whole, power = shortest_decimal(value)
    while power < 0 and whole % 10 == 0:
        whole //= 10
        power += 1
    magnitude = count_digits(whole) - 1 + power
    if magnitude < -5 or magnitude > 15:
        at = write_decimal(whole, power - magnitude, text, at)
        return write_exponent(magnitude, text, at)
    return write_decimal(whole, power, text, at)


@kernel()
def write_decimal(whole: int, power: int, text: Text, at: int) -> int:
    """Write whole · 10^power without an exponent, and give where it ends."""
    if power >= 0:
        at = write_whole(whole, text, at)
        for _ in range(power):
            text[at] = ZERO
            at += 1
        return at
    integer = whole // TENS[-power]
    at = write_whole(integer, text, at)
    text[at] = POINT
    at -= power
    end = at + 1
    rest = whole - integer * TENS[-power]
    for _ in range(-power):
        text[at] = ZERO + rest % 10
        rest //= 10
        at -= 1
    return end


@kernel()
def write_exponent(exponent: int, text: Text, at: int) -> int:
    """Write an exponent, and give where it ends."""
    text[at] = E
    if exponent < 0:
        text[at + 1] = MINUS
        return write_whole(-exponent, text, at + 2)
    return write_whole(exponent, text, at + 1)


@kernel()
def write_whole(number: int, text: Text, at: int) -> int:
    """Write a whole number that is not negative, and give where it ends."""
    end = at + count_digits(number)
    for place in range(end - 1, at - 1, -1):
        text[place] = ZERO + number % 10
        number //= 10
    return end


@kernel()
def count_digits(number: int) -> int:
    """How many digits a whole number has."""
    digits = 1
    while number >= 10:
        number //= 10
        digits += 1
    return digits
