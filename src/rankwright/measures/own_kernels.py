"""Users' functions in the shape that kernels have: compiled where Numba can, else called back in Python."""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from rankwright.measures.base import ONE, PREPARE, ROW, VALUE, Floats, Singles
from rankwright.runtime.errors import SlowWarning
from rankwright.runtime.kernels import Kernel

Function = Callable[..., Any]

IN_PYTHON: list[Function] = []
"""Functions that Numba could not compile; compiled code knows them by their place here."""
INDEX_BITS = np.uint64(2**62 - 1)
"""Which bits of an index are kept: then the compiler sees that it is not negative, and can vectorise."""


class OwnKernel(Kernel):
    """A user's function in the shape that kernels have; in Python where Numba cannot compile it."""

    def __init__(self, shape: Callable[[Function], Function], own: Function, name: str, slow: str = ""):
        self._shape, self._own, self._name, self._slow = shape, own, name, slow
        options = {"nogil": True, "error_model": "numpy", "boundscheck": False}
        super().__init__(shape(own), SHAPES[shape], options)

    @functools.cached_property
    def compiled(self) -> Any:
        """The form that Numba compiled, or one that calls back into Python."""
        import numba

        if self._slow:
            warnings.warn(self._slow, SlowWarning, stacklevel=4)
        _teach_float_of_truths()
        reason = ""
        for inline in ("always", "never"):
            own = numba.njit(**self._options, inline=inline)(self._own)
            try:
                return Kernel(self._shape(own), self._signature, self._options).compiled
            except Exception as error:
                reason = _in_a_line(error)
        warnings.warn(
            f"{self._name} runs in Python, which is slow, as Numba cannot compile it: {reason}",
            SlowWarning,
            stacklevel=4,
        )
        IN_PYTHON.append(self.plain)
        call_back = BACK[self._signature](len(IN_PYTHON) - 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", numba.NumbaWarning)
            return Kernel(call_back, self._signature, self._options).compiled


@functools.cache
def _teach_float_of_truths() -> None:
    """Let Numba compile ``float(… > 0)``, which it refuses by itself and many a measure ends with."""
    from numba import types
    from numba.extending import overload

    @overload(float)
    def float_of(value: Any) -> Any:
        def of_truth(value: Any) -> Any:  # Numba wants both to read alike
            return 1.0 if value else 0.0

        return of_truth if isinstance(value, types.Boolean) else None


def _in_a_line(error: Exception) -> str:
    colourless = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    lines = [line.strip() for line in colourless.splitlines()]
    telling = [line for line in lines if line and not line.startswith("Failed in")]
    return telling[0] if telling else type(error).__name__


def _value(own: Function) -> Function:
    def value(gains: Floats, constant: float, ranks: Floats) -> float:
        return own(gains) + 0.0

    return value


def _prepare(own: Function) -> Function:
    def prepare(n: Any, labels: Floats, constant: float, tables: Floats) -> None:
        own(np.int64(n & INDEX_BITS), labels, constant, tables)

    return prepare


def _row(own: Function) -> Function:
    def row(i: Any, n: Any, labels: Floats, tables: Floats, out: Singles) -> None:
        own(np.int64(i & INDEX_BITS), np.int64(n & INDEX_BITS), labels, tables, out)

    return row


def _brute_row(own: Function) -> Function:
    def row(i: Any, n: Any, labels: Floats, tables: Floats, out: Singles) -> None:
        moved = labels[:n].copy()
        before = own(moved) + 0.0
        for j in range(i + ONE, n):
            moved[i], moved[j] = labels[j], labels[i]
            out[j] = np.float32(own(moved) + 0.0 - before)
            moved[j] = labels[j]

    return row


SHAPES: dict[Callable[[Function], Function], str] = {
    _value: VALUE,
    _prepare: PREPARE,
    _row: ROW,
    _brute_row: ROW,
}


def _no_tables(n: Any, labels: Floats, constant: float, tables: Floats) -> None:
    """A row that needs no tables needs nothing prepared."""


def _value_back(number: int) -> Function:
    from numba import objmode

    def value(gains: Floats, constant: float, ranks: Floats) -> float:
        with objmode(result="float64"):
            result = float(IN_PYTHON[number](gains, constant, ranks))
        return result

    return value


def _prepare_back(number: int) -> Function:
    from numba import objmode

    def prepare(n: Any, labels: Floats, constant: float, tables: Floats) -> None:
        with objmode():
            IN_PYTHON[number](n, labels, constant, tables)

    return prepare


def _row_back(number: int) -> Function:
    from numba import objmode

    def row(i: Any, n: Any, labels: Floats, tables: Floats, out: Singles) -> None:
        with objmode():
            IN_PYTHON[number](i, n, labels, tables, out)

    return row


BACK: dict[Any, Callable[[int], Function]] = {VALUE: _value_back, PREPARE: _prepare_back, ROW: _row_back}


@functools.cache
def own_kernels(
    name: str, function: Function, prepare: Function | None, row: Function | None
) -> tuple[OwnKernel, OwnKernel, OwnKernel]:
    """The value, prepare and row kernels of a user's measure."""
    slow = (
        f"{name} has no row of swap gains: each takes one evaluation of {name} a document, which is slow in "
        "training; give row= for speed"
    )
    return (
        OwnKernel(_value, function, name),
        OwnKernel(_prepare, prepare or _no_tables, name),
        OwnKernel(_row, row, name) if row else OwnKernel(_brute_row, function, name, slow),
    )
