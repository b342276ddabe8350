"""Arrays of a scorer: frozen when it is made, checked when they come from a file."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwright.runtime.arrays import Floats
from rankwright.runtime.errors import InputError


def frozen(values: ArrayLike, name: str) -> Floats:
    """A copy as float64 of one dimension that nobody can change; refused unless finite.

    >>> frozen([1, 2], "weights")
    array([1., 2.])
    """
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: these are not numbers ({error})") from error
    if array.ndim != 1:
        raise InputError(f"{name}: the shape is {array.shape}; give one number a feature")
    bad = np.flatnonzero(~np.isfinite(array))
    if len(bad):
        raise InputError(f"{name}: number {bad[0]} is {array[bad[0]]}; give finite numbers")
    array.flags.writeable = False
    return array


class StoredArrays:
    """The arrays of a model file, each taken once, with the type and shape that its reader states."""

    def __init__(self, arrays: dict[str, NDArray[Any]]):
        self._arrays = dict(arrays)

    def floats(self, name: str, shape: tuple[int, ...]) -> Floats:
        """Finite float64 numbers of this shape."""
        array = self.take(name, np.float64, shape)
        if not np.isfinite(array).all():
            raise InputError(f"its array {name!r} holds numbers that are not finite")
        return array

    def shape(self, name: str) -> tuple[int, ...] | None:
        """The shape of an array, where the reader cannot know it; None if there is no such array."""
        return self._arrays[name].shape if name in self._arrays else None

    def take(self, name: str, dtype: type[np.generic], shape: tuple[int | None, ...]) -> NDArray[Any]:
        """The array of this name, type and shape (None: any length)."""
        array = self._arrays.pop(name, None)
        if array is None:
            raise InputError(f"its array {name!r} is missing")
        fits = len(array.shape) == len(shape) and all(
            wanted in (None, length) for length, wanted in zip(array.shape, shape, strict=True)
        )
        if array.dtype != dtype or not fits:
            wanted_shape = str(shape).replace("None", "any")
            raise InputError(
                f"its array {name!r} is {array.dtype} of shape {array.shape}, "
                f"not {np.dtype(dtype)} of shape {wanted_shape}"
            )
        return array

    def below(self, prefix: str) -> StoredArrays:
        """The arrays whose names begin with ``prefix``, taken together, under the rest of their names."""
        names = [name for name in self._arrays if name.startswith(prefix)]
        return StoredArrays({name.removeprefix(prefix): self._arrays.pop(name) for name in names})

    def numbered(self, count: int) -> list[StoredArrays]:
        """The arrays named ``0.*`` to ``count − 1.*``, taken together, under the rest of their names.

        >>> [part.shape("a") for part in StoredArrays({"0.a": np.ones(2), "1.a": np.ones(3)}).numbered(2)]
        [(2,), (3,)]
        """
        parts: dict[str, dict[str, NDArray[Any]]] = {str(number): {} for number in range(count)}
        for name in list(self._arrays):
            number, _, rest = name.partition(".")
            if number in parts:
                parts[number][rest] = self._arrays.pop(name)
        return [StoredArrays(own) for own in parts.values()]

    def rest(self) -> dict[str, NDArray[Any]]:
        """All that nobody took, taken: for a reader that cannot know what there is."""
        taken, self._arrays = self._arrays, {}
        return taken

    def close(self) -> None:
        """Refuse arrays that nobody took."""
        if self._arrays:
            raise InputError(f"it holds an array {min(self._arrays)!r}, which has no place in it")
