"""A net's shape and weights, and what a kernel needs to train it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwright.networks.forward import Counts, Singles

Floats = NDArray[np.float64]
Layers = list[tuple[NDArray[Any], NDArray[Any]]]
SMALL_WEIGHT = 0.1


class Net(NamedTuple):
    """A net in training.

    ``weights`` is what the passes run with; ``exact`` the same in float64, for steps that float32 would lose
    (the papers' learning rates go down to 1e-7). ``decay`` is the L2 penalty of each weight, 0 for offsets.
    """

    sizes: Counts
    weights: Singles
    exact: Floats
    gradient: Singles
    moments: Floats
    decay: Floats


def net_types() -> Any:
    """Numba's type of a net."""
    import numba as nb

    vector, singles = nb.float64[::1], nb.float32[::1]
    return nb.types.NamedTuple((nb.uint64[::1], singles, vector, singles, nb.float64[:, ::1], vector), Net)


def net(sizes: Sequence[int], weights: Floats, l2: float = 0.0) -> Net:
    """A net of these sizes that starts from these weights.

    >>> net((2, 3, 1), np.zeros(13)).gradient.shape
    (13,)
    """
    decay = np.zeros(len(weights))
    for matrix, _ in layers(sizes, decay):
        matrix[:] = l2
    return Net(
        np.array(sizes, np.uint64),
        weights.astype(np.float32),
        weights.astype(np.float64),
        np.zeros(len(weights), np.float32),
        np.zeros((2, len(weights))),
        decay,
    )


def n_weights(sizes: Sequence[int]) -> int:
    """How many weights and offsets a net of these sizes has.

    >>> n_weights((50, 10, 1))
    521
    """
    return sum(n_out * (n_in + 1) for n_in, n_out in itertools.pairwise(sizes))


def layers(sizes: Sequence[int], weights: NDArray[Any]) -> Layers:
    """The matrix (units × inputs) and the offsets of each layer, as views of all weights in their order."""
    views, at = [], 0
    for n_in, n_out in itertools.pairwise(sizes):
        matrix = weights[at : at + n_in * n_out].reshape(n_out, n_in)
        at += n_in * n_out
        views.append((matrix, weights[at : at + n_out]))
        at += n_out
    return views


def random_weights(sizes: Sequence[int], how: str, random: np.random.Generator) -> Floats:
    """Weights to start from; the offsets are 0.

    "scaled": normal with variance 1 / inputs, so that a unit's sum has the variance of its inputs. "small":
    after 2005 section 5.1, uniform in [−0.1, 0.1], and 0 in the first of several layers.

    >>> random_weights((2, 1), "small", np.random.default_rng(0)).round(3)
    array([ 0.027, -0.046,  0.   ])
    """
    weights = np.zeros(n_weights(sizes))
    for number, (matrix, _) in enumerate(layers(sizes, weights)):
        if how == "scaled":
            matrix[:] = random.standard_normal(matrix.shape) / np.sqrt(max(1, matrix.shape[1]))
        elif number > 0 or len(sizes) == 2:
            matrix[:] = random.uniform(-SMALL_WEIGHT, SMALL_WEIGHT, matrix.shape)
    return weights
