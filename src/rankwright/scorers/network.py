"""The network core: layers of tanh units under one linear output (2005 equation 7)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwright.runtime.arrays import Floats
from rankwright.runtime.errors import InputError
from rankwright.scorers.arrays import StoredArrays
from rankwright.scorers.base import Scorer

Layer = tuple[Floats, Floats]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class NetworkScorer(Scorer):
    """A layered net. ``layers`` holds, for each layer in turn, a matrix (units × inputs) and the offsets.

    >>> NetworkScorer([([[1.0, -1.0]], [0.0]), ([[2.0]], [0.5])]).predict([[3, 3], [9, -9]])
    array([0.5, 2.5])
    """

    layers: Sequence[tuple[ArrayLike, ArrayLike]]

    kind: ClassVar[str] = "network"

    def __post_init__(self) -> None:
        layers = tuple(_layer(number, *layer) for number, layer in enumerate(self.layers))
        if not layers or len(layers[-1][1]) != 1:
            raise InputError("a net has at least one layer, and its last one has one unit")
        for number in range(1, len(layers)):
            inputs, units = layers[number][0].shape[1], len(layers[number - 1][1])
            if inputs != units:
                raise InputError(f"layer {number} has {inputs} inputs and the layer before it {units} units")
        object.__setattr__(self, "layers", layers)
        super().__post_init__()

    @property
    def n_features(self) -> int:
        """The inputs of the first layer."""
        return int(self.layers[0][0].shape[1])  # type: ignore[union-attr]

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many units each layer has, inputs first."""
        return (self.n_features, *(len(offsets) for _, offsets in self.layers))  # type: ignore[arg-type]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({' → '.join(str(size) for size in self.sizes)})"

    def _score(self, values: NDArray[np.floating]) -> Floats:
        # A row's sums are made one input after the other: unlike a matrix product, the same in any block.
        lines = np.ascontiguousarray(values.T, dtype=np.float64)
        for number, (matrix, offsets) in enumerate(self.layers):
            if number > 0:
                np.tanh(lines, out=lines)
            totals = np.repeat(np.asarray(offsets)[:, None], lines.shape[1], axis=1)
            for weights, line in zip(np.asarray(matrix).T, lines, strict=True):
                totals += weights[:, None] * line
            lines = totals
        return lines[0]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Weights and offsets of each layer."""
        stored: dict[str, NDArray[Any]] = {}
        for number, (matrix, offsets) in enumerate(self.layers):
            stored[f"{number}.weights"], stored[f"{number}.offsets"] = np.asarray(matrix), np.asarray(offsets)
        return stored

    @classmethod
    def from_arrays(cls, stored: StoredArrays, n_features: int, **about: Any) -> Self:
        """Layers from the first to the one that has one unit."""
        layers: list[Layer] = []
        inputs = n_features
        while (shape := stored.shape(f"{len(layers)}.weights")) is not None:
            units, name = shape[0] if shape else 0, str(len(layers))
            layers.append(
                (
                    stored.floats(f"{name}.weights", (units, inputs)),
                    stored.floats(f"{name}.offsets", (units,)),
                )
            )
            inputs = units
        return cls(layers, **about)


def _layer(number: int, matrix: ArrayLike, offsets: ArrayLike) -> Layer:
    arrays = []
    for name, given, dimensions in (("weights", matrix, 2), ("offsets", offsets, 1)):
        array = np.array(given, dtype=np.float64)
        if array.ndim != dimensions:
            raise InputError(f"layer {number}: the {name} have {array.ndim} dimensions, not {dimensions}")
        if not np.isfinite(array).all():
            raise InputError(f"layer {number}: the {name} are not all finite")
        array.flags.writeable = False
        arrays.append(array)
    if arrays[0].shape[0] != len(arrays[1]) or not len(arrays[1]):
        raise InputError(
            f"layer {number} has weights for {arrays[0].shape[0]} units and {len(arrays[1])} offsets"
        )
    return arrays[0], arrays[1]
