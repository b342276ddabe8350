"""LETOR text read line by line in plain Python, each number by exact fractions."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, NamedTuple

NUMBER = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:e([+-]?[0-9]+))?", re.IGNORECASE)
BLANKS = " \t\r\v\f"


class Row(NamedTuple):
    label: float
    query: str
    features: dict[int, float]
    document: str


def exact(text: str) -> Fraction:
    """The value of a decimal, without its sign."""
    parts = NUMBER.fullmatch(text)
    assert parts is not None and (parts[2] or parts[3]), text
    whole, fraction, exponent = parts[2] or "", parts[3] or "", int(parts[4] or 0)
    # Texts here have few digits: whatever stands before such an exponent rounds to zero or to infinity.
    exponent = max(-5000, min(exponent, 5000))
    return Fraction(int("0" + whole + fraction)) * Fraction(10) ** (exponent - len(fraction))


def nearest(value: Fraction, digits: int, least: int, most: int) -> float:
    """The nearest of the numbers with so many binary digits, from 2^least and below 2^most; ties to even."""
    if value == 0:
        return 0.0
    magnitude = value.numerator.bit_length() - value.denominator.bit_length()
    if Fraction(2) ** magnitude > value:
        magnitude -= 1
    unit = Fraction(2) ** max(magnitude - digits + 1, least)
    count, rest = divmod(value, unit)
    if rest * 2 > unit or (rest * 2 == unit and count % 2):
        count += 1
    rounded = count * unit
    return float("inf") if rounded >= Fraction(2) ** most else float(rounded)


def signed(text: str, digits: int, least: int, most: int) -> float:
    if text.lower().lstrip("+-") in ("nan", "null"):
        return float("nan")
    value = nearest(exact(text), digits, least, most)
    return -value if text.startswith("-") else value


def nearest_float32(text: str) -> float:
    return signed(text, 24, -149, 128)


def nearest_float64(text: str) -> float:
    return signed(text, 53, -1074, 1024)


def document_id(comment: str) -> str:
    words = comment.replace("=", " = ", 1).split(None, 3)
    if len(words) >= 3 and words[0].lower() == "docid" and words[1] == "=":
        return words[2]
    return comment.strip(BLANKS)


def read(text: str) -> list[Row]:
    """The rows of a text; one that is not as it should be raises an error of some kind."""
    rows = []
    for line in text.split("\n"):
        content, _, comment = line.partition("#")
        tokens = re.split(f"[{BLANKS}]+", content.strip(BLANKS))
        if tokens == [""]:
            continue
        label, query, *named = tokens
        assert query.startswith("qid:") and len(query) > 4
        features: dict[int, float] = {}
        for token in named:
            index, value = token.split(":")
            assert index.isascii() and index.isdigit() and int(index) not in features
            features[int(index)] = nearest_float32(value)
            assert abs(features[int(index)]) != float("inf")
        rows.append(Row(nearest_float64(label), query[4:], features, document_id(comment)))
        assert abs(rows[-1].label) != float("inf")
    assert rows
    return rows


def matrix(rows: list[Row], first: int, width: int) -> list[list[float]]:
    return [[row.features.get(first + column, 0.0) for column in range(width)] for row in rows]


def lowest_index(rows: list[Row]) -> int:
    return min((index for row in rows for index in row.features), default=1)


def highest_index(rows: list[Row]) -> int:
    return max((index for row in rows for index in row.features), default=0)


def query_ids(rows: list[Row]) -> list[Any]:
    """The ids in order of appearance: ints where all are whole numbers, text otherwise."""
    ids = list(dict.fromkeys(row.query for row in rows))
    whole = all(re.fullmatch("0|-?[1-9][0-9]{0,999}", query) for query in ids)
    return [int(query) for query in ids] if whole else ids
