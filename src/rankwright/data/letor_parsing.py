"""The rows of LETOR text: ``label qid:id index:value … # comment``, scanned in one pass.

Text is as ``decimals`` has it. A newline is stepped over only where ``at`` is checked against ``end``, so no
kernel reads past the padding. What a kernel cannot use it reports by position; the sentence about it is made
from the text there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankwright.data.decimals import (
    EXACT,
    LOWEST,
    MINUS,
    PLUS,
    POWERS,
    ZERO,
    Text,
    is_space,
    near_single,
    nearest_single,
    scan_decimal,
    scan_short_decimal,
)
from rankwright.runtime.arrays import Floats, Integers, Singles
from rankwright.runtime.intrinsics import byte_at
from rankwright.runtime.kernels import kernel

NEWLINE, HASH, COLON = b"\n#:"
QID = b"qid:"
FINE, BAD_LABEL, BAD_QUERY, BAD_FEATURE, BAD_VALUE, REPEATED = range(6)
NO_INDEX = 2**62


class Found(NamedTuple):
    """What ``parse_rows`` says of a text: how much is filled of each output, and where it stopped and why."""

    rows: int
    runs: int
    unsettled: int
    lowest: int
    highest: int
    status: int
    position: int


@kernel(
    "UniTuple(int64, 7)(uint8[::1], int64, int64, int64, int64, float32[:, ::1], float64[::1], "
    "int64[:, ::1], int64[:, ::1], int64[:, ::1], int64[::1])"
)
def parse_rows(
    text: Text,
    end: int,
    first: int,
    least: int,
    most: int,
    features: Singles,
    labels: Floats,
    runs: Integers,
    comments: Integers,
    unsettled: Integers,
    seen: Integers,
) -> tuple[int, int, int, int, int, int, int]:
    """Parse the rows of ``text[:end]``: feature ``first`` goes to column 0, ``least`` to ``most`` may occur.

    ``runs`` receives the first row and the query id's begin and end of each run of rows of one query;
    ``comments`` begin and end of each row's; ``unsettled`` row, column (-1: the label) and begin of each
    token whose number is left to Python. Features outside the columns are checked and left out. ``seen`` is
    as long as a row of features and holds -1.
    """
    at = row = n_runs = n_unsettled = id_begin = id_end = 0
    lowest, highest = NO_INDEX, -1
    status = FINE
    while at < end and status == FINE:
        at = skip_blanks(text, at)
        if text[at] == NEWLINE or text[at] == HASH:
            at = line_end(text, at) + 1
            continue
        begin = at
        at, labels[row], certain = scan_label(text, begin)
        if at == begin:
            status = BAD_LABEL
            break
        if not certain:
            unsettled[n_unsettled] = row, -1, begin
            n_unsettled += 1
        begin = skip_blanks(text, at)
        at = scan_query(text, begin)
        if at == begin:
            status = BAD_QUERY
            break
        if n_runs == 0 or not same_text(text, id_begin, id_end, begin + 4, at):
            id_begin, id_end = begin + 4, at
            runs[n_runs] = row, id_begin, id_end
            n_runs += 1
        at, status, lowest, highest, n_unsettled = scan_features(
            text, at, row, first, least, most, lowest, highest, features, seen, unsettled, n_unsettled
        )
        if status == FINE:
            comments[row, 0] = at
            at = line_end(text, at)
            comments[row, 1] = at
            at += 1
            row += 1
    return row, n_runs, n_unsettled, lowest, highest, status, at


@kernel()
def scan_features(
    text: Text,
    at: int,
    row: int,
    first: int,
    least: int,
    most: int,
    lowest: int,
    highest: int,
    features: Singles,
    seen: Integers,
    unsettled: Integers,
    n_unsettled: int,
) -> tuple[int, int, int, int, int]:
    """The features of one row, up to its comment or end."""
    width = features.shape[1]
    for column in range(width):
        features[row, column] = 0.0
    while True:
        at = skip_blanks(text, at)
        if byte_at(text, at) == NEWLINE or byte_at(text, at) == HASH:
            return at, FINE, lowest, highest, n_unsettled
        begin = at
        index = 0
        # Digit by digit: a processor foresees how long the next index is, and need not wait for it.
        digit = byte_at(text, at) - ZERO
        while 0 <= digit <= 9 and index <= most:
            index = index * 10 + digit
            at += 1
            digit = byte_at(text, at) - ZERO
        if at == begin or byte_at(text, at) != COLON or index < least or index > most:
            return begin, BAD_FEATURE, lowest, highest, n_unsettled
        number = at + 1
        negative = byte_at(text, number) == MINUS
        at, whole, power = scan_short_decimal(text, number + negative)
        value, certain = near_single(whole, power)
        if negative:
            value = -value
        if not (certain and at > number + negative and is_space(byte_at(text, at))):
            at, value, certain = scan_single(text, number)
            if at == number:
                return begin, BAD_VALUE, lowest, highest, n_unsettled
        lowest, highest = min(lowest, index), max(highest, index)
        column = index - first
        if 0 <= column < width:
            if seen[column] == row:
                return begin, REPEATED, lowest, highest, n_unsettled
            seen[column] = row
            features[row, column] = value
            if not certain:
                unsettled[n_unsettled, 0] = row
                unsettled[n_unsettled, 1] = column
                unsettled[n_unsettled, 2] = begin
                n_unsettled += 1


@kernel()
def scan_single(text: Text, at: int) -> tuple[int, np.float32, bool]:
    """A token as float32: its end (its begin if it is no number), the value and whether that is certain."""
    begin = at
    negative = text[at] == MINUS
    if negative or text[at] == PLUS:
        at += 1
    end, whole, power = scan_decimal(text, at)
    if end == at:
        end = skip_missing(text, at)
        return (end if end > at and ends_token(text, end) else begin), np.float32(np.nan), True
    if not ends_token(text, end):
        return begin, np.float32(0.0), True
    value, certain = nearest_single(whole, power)
    return end, -value if negative else value, certain


@kernel()
def scan_label(text: Text, at: int) -> tuple[int, float, bool]:
    """The same as float64, certain where one operation on exact numbers gives it."""
    begin = at
    negative = text[at] == MINUS
    if negative or text[at] == PLUS:
        at += 1
    end, whole, power = scan_decimal(text, at)
    if end == at:
        end = skip_missing(text, at)
        return (end if end > at and ends_token(text, end) else begin), np.nan, True
    if not ends_token(text, end):
        return begin, 0.0, True
    if whole > EXACT or power > 0 or power < -22:
        return end, 0.0, False
    value = whole / POWERS[-power - LOWEST]
    return end, -value if negative else value, True


@kernel()
def scan_query(text: Text, at: int) -> int:
    """The end of ``qid:id``, or where it starts if it is none."""
    end = at
    for character in QID:
        if text[end] != character:
            return at
        end += 1
    while not ends_token(text, end):
        end += 1
    return end if end > at + 4 else at


@kernel()
def skip_missing(text: Text, at: int) -> int:
    """The end of "nan" or "null" in any case, or where it starts if it is neither."""
    # Setting the bit 32 makes a capital letter small.
    if text[at] | 32 != 110:
        return at
    if text[at + 1] | 32 == 97 and text[at + 2] | 32 == 110:
        return at + 3
    if text[at + 1] | 32 == 117 and text[at + 2] | 32 == 108 and text[at + 3] | 32 == 108:
        return at + 4
    return at


@kernel()
def same_text(text: Text, begin: int, end: int, other_begin: int, other_end: int) -> bool:
    """Whether two parts of a text are equal."""
    if end - begin != other_end - other_begin:
        return False
    same = True
    for k in range(end - begin):
        same &= text[begin + k] == text[other_begin + k]
    return same


@kernel()
def ends_token(text: Text, at: int) -> bool:
    """Whether no token goes on here."""
    return is_space(text[at]) or text[at] == HASH


@kernel()
def skip_blanks(text: Text, at: int) -> int:
    """The first character from here on that is no blank; a newline is none."""
    character = byte_at(text, at)
    while is_space(character) and character != NEWLINE:
        at += 1
        character = byte_at(text, at)
    return at


@kernel()
def line_end(text: Text, at: int) -> int:
    """The next newline from here on."""
    while text[at] != NEWLINE:
        at += 1
    return at
