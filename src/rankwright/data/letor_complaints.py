"""What is wrong with a row of LETOR text, in one sentence: the line, the cause and the cure."""

from __future__ import annotations

import re

from rankwright.data.blocks import Block
from rankwright.data.letor_parsing import BAD_LABEL, BAD_QUERY, BAD_VALUE, REPEATED

FORM = "a row is: label qid:id index:value … # comment"
LONGEST_QUOTE = 40
DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)


def complaint(block: Block, position: int, status: int, least: int, most: int) -> str:
    r"""The line and what is wrong at this position, as the kernel saw it.

    >>> text = bytearray(b"1 qid:7 1:0.5\n0 qid:7 1:zero\n")
    >>> complaint(Block(text, [0, len(text)], [2], 1, False, 1.0, True), 22, BAD_VALUE, 0, 100)
    "line 2: the value 'zero' of feature 1 is not a number; write numbers, or nan for what is missing"
    """
    begin = block.text.rfind(b"\n", 0, position) + 1
    end = block.text.find(b"\n", position)
    place = f"line {block.line_of(position)}"
    if re.search(rb"[\x00-\x08\x0e-\x1f]", block.text[begin:end]):
        return (
            f"{place}: this is not text; a compressed file needs a name that ends in .gz, .xz, .bz2 or .zst"
        )
    token = token_at(block.text, position)
    if status == BAD_LABEL:
        cause = _about_label(token)
    elif status == BAD_QUERY:
        cause = _about_query(token)
    else:
        cause = _about_feature(token, status, least, most)
    if block.completed and end == block.cuts[-1] - 1:
        cause += "; the file ends here without a newline and may be cut short"
    return f"{place}: {cause}"


def token_at(text: bytes | bytearray, position: int) -> str:
    """The token that begins at a position."""
    match = re.compile(rb"[^\s#]*").match(text, position)
    assert match is not None
    return match[0].decode(errors="backslashreplace")


def _quoted(token: str) -> str:
    return repr(token if len(token) <= LONGEST_QUOTE else token[:LONGEST_QUOTE] + "…")


def _excess(number: str, most: str) -> str | None:
    """What to say of a number that is one, but not a finite one."""
    if re.fullmatch("[+-]?inf(inity)?", number, re.IGNORECASE):
        return "is infinite"
    if DECIMAL.fullmatch(number):
        return f"is beyond {most}, the largest there is room for"
    return None


def _about_label(token: str) -> str:
    excess = _excess(token, "1.8e308")
    if excess:
        return f"the label {_quoted(token)} {excess}; labels are finite, or nan where unjudged"
    return f"the label {_quoted(token)} is not a number; {FORM}"


def _about_query(token: str) -> str:
    if token == "qid:":
        return f"the query id is empty; {FORM}"
    found = _quoted(token) if token else "nothing"
    return f"there is {found} after the label and no qid; {FORM}"


def _about_feature(token: str, status: int, least: int, most: int) -> str:
    index, colon, value = token.partition(":")
    if not colon or not re.fullmatch("-?[0-9]+", index):
        return f"{_quoted(token)} is not index:value; {FORM}"
    if status == REPEATED:
        return f"feature {index} stands twice in the row; keep one of the two"
    if index.startswith("-"):
        return f"the feature index {_quoted(index)} is negative; indices count from 1, or from 0"
    if status == BAD_VALUE:
        return _about_value(index, value)
    if least == 1 and int(index[:19]) == 0:
        return "there is a feature 0, though zero_based=False was given; leave zero_based out"
    return (
        f"feature {_quoted(index)} is above the highest allowed, {most}; "
        "if it is right, give n_features, the number of features"
    )


def _about_value(index: str, value: str) -> str:
    if not value:
        return f"feature {index} has no value; write a number, or nan for what is missing"
    excess = _excess(value, "3.4e38")
    if excess:
        return f"the value {_quoted(value)} of feature {index} {excess}; scale the feature, or write nan"
    return (
        f"the value {_quoted(value)} of feature {index} is not a number; "
        "write numbers, or nan for what is missing"
    )
