"""The measures' syntax: "ndcg@10(gain=linear, blank=0)" to an object and back.

measure   = name ["@" k] ["(" parameter {"," parameter} ")"] [":" convention]
parameter = key "=" value;   a table of numbers is written 0/3/7/15/31
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import numbers
import re
from typing import Any

from rankwright.measures.base import Measure
from rankwright.runtime.errors import InputError

PATTERN = re.compile(
    r"(?P<name>[A-Za-z_][A-Za-z_0-9]*)(@(?P<k>[^(:]*))?(\((?P<parameters>([^()]|\([^()]*\))*)\))?(:(?P<convention>\w+))?"
)
BETWEEN_PARAMETERS = re.compile(r",(?![^()]*\))")  # not the comma of min(R,k)
WHOLE = 2.0**53  # whole floats below it are written as whole numbers
HIDDEN = {"convention", "k"}
SHARED = {field.name for field in dataclasses.fields(Measure)} - HIDDEN


def parse(text: str) -> Measure:
    """Read a measure from its syntax.

    >>> parse("ndcg@10(gain=linear)")
    ndcg@10(gain=linear)
    """
    from rankwright.measures import conventions

    match = PATTERN.fullmatch(text.strip().replace(" ", ""))
    if match is None:
        raise InputError(
            f"{text!r} is not a measure; measures are written as in ndcg@10(gain=linear) or map:trec_eval"
        )
    measures = known()
    name = match["name"] if match["name"] in measures else match["name"].lower()
    if name not in measures:
        raise InputError(f"there is no measure {name!r}{_nearest(name, measures)}; see: rankwright measures")
    made = measures[name]
    if isinstance(made, Measure):
        return _own(made, name, match)
    kind, fixed = made
    fields = {field.name for field in dataclasses.fields(kind)} - HIDDEN - set(fixed)
    settings: dict[str, Any] = dict(fixed)
    if match["k"] is not None:
        settings["k"] = _cutoff(kind, text, match["k"])
    if match["convention"] is not None:
        settings |= conventions.settings(name, settings.get("k"), match["convention"])
    for key, value in _pairs(text, match["parameters"]):
        if key not in fields:
            raise InputError(
                f"{name} has no parameter {key!r}{_nearest(key, fields)}; it has {', '.join(sorted(fields))}"
            )
        settings[key] = value
    if match["convention"] is not None and match["parameters"] is None:
        settings["convention"] = match["convention"]
    return kind(**settings)


def _own(made: Measure, name: str, match: re.Match[str]) -> Measure:
    """A measure of the user's own; how blank queries and ties count is all that may be said of it."""
    if match["k"] is not None or match["convention"] is not None:
        raise InputError(f"{name} is a measure of your own, which takes no cut-off and no convention")
    changes = dict(_pairs(match[0], match["parameters"]))
    for key in changes:
        if key not in SHARED:
            raise InputError(f"{name} is a measure of your own, which has no parameter {key!r}")
    return made.replace(**changes) if changes else made


def spell(measure: Measure) -> str:
    """Write a measure in its syntax; ``parse`` gives the same measure back."""
    kind = type(measure)
    fields = {field.name: field for field in dataclasses.fields(measure)}
    values = {name: getattr(measure, name) for name in fields}
    names = [
        (name, fixed)
        for name, fixed in kind.names.items()
        if all(values[key] == value for key, value in fixed.items() if key != "k")
    ]
    k = values.get("k")
    # Where a class has a name for the whole list and one for the list cut at k (map, ap@10), the first is
    # listed first.
    name, fixed = names[0] if k is None or len(names) == 1 else names[-1]
    text = name if k is None or "k" in fixed else f"{name}@{k}"
    if measure.convention is not None:
        return f"{text}:{measure.convention}"
    changed = [
        f"{key}={_written(values[key])}"
        for key, field in _ordered(fields)
        if key not in HIDDEN and key not in fixed and values[key] != field.default
    ]
    return f"{text}({', '.join(changed)})" if changed else text


@functools.cache
def _built_in() -> dict[str, tuple[type[Measure], dict[str, Any]]]:
    from rankwright import measures

    return {name: (kind, fixed) for kind in measures.BUILT_IN for name, fixed in kind.names.items()}


def known() -> dict[str, tuple[type[Measure], dict[str, Any]] | Measure]:
    """All measures by name: the built-in ones and those that the user registered."""
    from rankwright.measures import custom

    return {**_built_in(), **custom.REGISTERED}


def _ordered(fields: dict[str, dataclasses.Field[Any]]) -> list[tuple[str, dataclasses.Field[Any]]]:
    """A class's own parameters before those that all measures share."""
    return sorted(fields.items(), key=lambda item: item[0] in SHARED)


def _cutoff(kind: type[Measure], text: str, k: str) -> int:
    if "k" not in {field.name for field in dataclasses.fields(kind)}:
        raise InputError(f"{text!r}: this measure takes no cut-off")
    if not k.isdecimal() or int(k) < 1:
        raise InputError(f"{text!r}: the cut-off {k!r} is not a whole number of at least 1")
    return int(k)


def _pairs(text: str, parameters: str | None) -> list[tuple[str, Any]]:
    pairs: list[tuple[str, Any]] = []
    for part in BETWEEN_PARAMETERS.split(parameters or ""):
        if not part:
            continue
        key, equals, value = part.partition("=")
        if not equals:
            raise InputError(
                f"{text!r}: {part!r} is not a parameter; parameters are written as in gain=linear"
            )
        if any(key == earlier for earlier, _ in pairs):
            raise InputError(f"{text!r}: {key} is given twice; give it once")
        pairs.append((key, _read(value)))
    return pairs


def _read(value: str) -> Any:
    if "/" in value:
        return tuple(_read(part) for part in value.removesuffix("/").split("/"))
    for read in (int, float):
        try:
            return read(value)
        except ValueError:
            continue
    return value


def _written(value: Any) -> str:
    if isinstance(value, tuple):
        return "/".join(map(_written, value)) + ("/" if len(value) == 1 else "")
    if isinstance(value, numbers.Real):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < WHOLE else repr(number)
    return str(value)


def _nearest(name: str, names: Any) -> str:
    close = difflib.get_close_matches(name, list(names), n=1)
    return f"; did you mean {close[0]}?" if close else ""
