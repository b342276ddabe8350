"""Measures of the user's own: a function of the labels in ranked order is enough.

It becomes a measure like the built-in ones. Its gains are the labels themselves (unjudged ones are NaN), its
formula is the function. Swap gains come from a ``row`` that the user gives, checked at the door against
swapping and evaluating again, or from doing just that, which is correct and slow. What Numba cannot compile
runs in Python: slower still, with the same results.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import inspect
import math
import re
from typing import Any, ClassVar

import numpy as np

from rankwright.measures.base import Floats, Measure
from rankwright.measures.formulas import one_if_any
from rankwright.measures.own_kernels import Function, own_kernels
from rankwright.runtime.errors import InputError
from rankwright.runtime.kernels import Kernel

REGISTERED: dict[str, Measure] = {}
"""The user's measures by name."""
DOOR: tuple[tuple[float, ...], ...] = (
    (1,),
    (3,),
    (0, 1),
    (1, 0),
    (2, 0, 1),
    (0, 0, 1, 2),
    (1, 2, 1, 0, 0),
    (3, 0, 2, 0, 1, 1),
    (0, 1, 0, 0, 3, 0, 0, 2, 1, 0, 0, 1),
)
"""The lists on which a function is tried before it is let in."""
TAKEN = {
    "measure": "the labels in ranked order",
    "prepare": "n, labels, constant, tables",
    "row": "i, n, labels, tables, out",
}
"""What the functions of a measure are given."""
TOLERANCE = 1e-5
"""How far a gain in single precision may be from the exact one, relative to it or to 1."""


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class Own(Measure):
    """A measure of the user's own, known by its name. Made by ``rankwright.measure`` around a function."""

    name: str
    function: Function
    prepare: Function | None = None
    row: Function | None = None
    own_tables: int = 0

    graded: ClassVar[bool] = True
    constant_kernel: ClassVar[Kernel] = one_if_any

    def __post_init__(self) -> None:
        super().__post_init__()
        made = own_kernels(self.name, self.function, self.prepare, self.row)
        for name, kernel in zip(("value_kernel", "prepare_kernel", "row_kernel"), made, strict=True):
            object.__setattr__(self, name, kernel)
        object.__setattr__(self, "scratch", self.own_tables)

    def __call__(self, labels: Floats) -> Any:
        """The function itself."""
        return self.function(labels)

    def __reduce__(self) -> tuple[Any, ...]:
        return recall, (self.name, self.function.__module__, self.function.__qualname__, self._changes())

    def __repr__(self) -> str:
        changes = ", ".join(f"{name}={value}" for name, value in self._changes().items())
        return f"{self.name}({changes})" if changes else self.name

    __str__ = __repr__

    def gains(self, labels: Floats) -> Floats:
        """The labels as they are."""
        return np.array(labels, np.float64)

    def ranks(self, n: int) -> Floats:
        """1, 2, 3, …: nothing is assumed of what a rank is worth."""
        return np.arange(1.0, n + 1.0)

    def _changes(self) -> dict[str, Any]:
        """How this differs from what is registered under its name."""
        known = REGISTERED.get(self.name, self)
        shared = (field.name for field in dataclasses.fields(Measure) if field.compare)
        return {name: getattr(self, name) for name in shared if getattr(self, name) != getattr(known, name)}


def own_measure(
    function: Any,
    *,
    name: str | None = None,
    prepare: Any = None,
    row: Any = None,
    tables: int = 0,
    **shared: Any,
) -> Own:
    """Check a user's function at the door, and register the measure that it makes."""
    if not callable(function):
        raise InputError(
            f'{function!r} is not a measure; give its syntax, as in "ndcg@10", '
            "or a function of the labels in ranked order"
        )
    # What Numba compiled already is compiled again, in the shape that kernels have.
    value, prepare, row = (getattr(given, "py_func", given) for given in (function, prepare, row))
    known_as = str(name or getattr(value, "__name__", ""))
    _check_name(known_as)
    if row is None and (prepare is not None or tables):
        raise InputError(f"{known_as}: prepare and tables serve a row of swap gains; give row= too")
    if not isinstance(tables, int) or tables < 0:
        raise InputError(f"{known_as}: tables is {tables!r}; it is how many rows of scratch prepare fills")
    _check_arity(value, known_as, TAKEN["measure"])
    for what, given in (("prepare", prepare), ("row", row)):
        if given is not None:
            _check_arity(given, f"{known_as}'s {what}", TAKEN[what])
    for labels in DOOR:
        _evaluated(value, known_as, list(labels))
    made = Own(name=known_as, function=value, prepare=prepare, row=row, own_tables=tables, **shared)
    if row is not None:
        _check_rows(made)
    REGISTERED[known_as] = made
    return made


def recall(name: str, module: str, qualname: str, changes: dict[str, Any]) -> Measure:
    """A pickled measure: the one registered here by this name, if need be once its module is imported."""
    if name not in REGISTERED:
        with contextlib.suppress(ImportError):
            importlib.import_module(module)
    if name not in REGISTERED:
        raise InputError(
            f"{name} is a measure of {module}.{qualname} that is not registered here; define it first"
        )
    return REGISTERED[name].replace(**changes) if changes else REGISTERED[name]


def _check_name(name: str) -> None:
    from rankwright.measures import BUILT_IN

    if not re.fullmatch(r"[A-Za-z_][A-Za-z_0-9]*", name):
        raise InputError(
            f"{name!r} cannot be the name of a measure; give a name of letters, digits and _ as name="
        )
    if any(name.lower() in kind.names for kind in BUILT_IN):
        raise InputError(f"{name} is a measure already; give yours another name as name=")


def _check_arity(function: Any, what: str, taken: str) -> None:
    if not callable(function):
        raise InputError(f"{what} is {function!r}; give a function of {taken}")
    try:
        inspect.signature(function).bind(*taken.split(", "))
    except TypeError as error:
        raise InputError(f"{what} cannot be called as a function of {taken}: {error}") from error


def _evaluated(function: Function, name: str, labels: list[float]) -> float:
    """The function's number for one list, or why it is none."""
    given = np.array(labels, np.float64)
    try:
        value = function(given)
    except Exception as error:
        raise InputError(
            f"{name} fails on the labels {labels}: {type(error).__name__}: {error}; "
            "a measure must be defined on every list, one of a single document too"
        ) from error
    if not np.array_equal(given, labels):
        raise InputError(f"{name} changes the labels that it is given; let it work on a copy")
    if not isinstance(value, int | float | np.number | np.bool_) or not math.isfinite(value):
        raise InputError(f"{name} gives {value!r} for the labels {labels}; a measure gives a finite number")
    return float(value)


def _check_rows(measure: Own) -> None:
    """Compare a user's row with swapping and evaluating again."""
    assert measure.prepare_kernel is not None and measure.row_kernel is not None
    for labels in DOOR:
        n, given = len(labels), np.array(labels, np.float64)
        tables, line = measure.tables(n), np.zeros(n, np.float32)
        before = _evaluated(measure.function, measure.name, list(labels))
        try:
            measure.prepare_kernel.plain(n, given, 1.0, tables)
        except Exception as error:
            raise _failed(measure, "prepare", labels, error) from error
        for i in range(n):
            line[:] = np.nan  # what the row leaves out would be left from another
            try:
                measure.row_kernel.plain(i, n, given, tables, line)
            except Exception as error:
                raise _failed(measure, "row", labels, error) from error
            for j in range(i + 1, n):
                moved = list(labels)
                moved[i], moved[j] = moved[j], moved[i]
                exact = _evaluated(measure.function, measure.name, moved) - before
                if not abs(line[j] - exact) <= TOLERANCE * max(1.0, abs(exact)):
                    raise InputError(
                        f"{measure.name}'s row gives {line[j]:g} for swapping ranks {i} and {j} (from 0) "
                        f"of the labels {list(labels)}, but the measure then changes by {exact:g}"
                    )


def _failed(measure: Own, what: str, labels: tuple[float, ...], error: Exception) -> InputError:
    return InputError(
        f"{measure.name}'s {what} fails on the labels {list(labels)}: {type(error).__name__}: {error}"
    )
