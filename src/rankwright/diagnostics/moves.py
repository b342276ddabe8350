"""Scores of a model whose weights are moved: many directions and steps at once.

A linear model is a net without hidden layers. The first layer's sums are linear in the weights,

    Σ (w + ηd)·x  =  Σ w·x + η Σ d·x

so each direction is multiplied with the features once, however many steps are taken along it.

A row's score depends on its features and the weights alone, bit for bit, and the output's offset, which
changes no order, is left out: documents that tie keep their tie wherever the weights go.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rankwright.data import QuerySet
from rankwright.networks.forward import ONE, ZERO, Counts, squash
from rankwright.networks.net import layers, n_weights
from rankwright.runtime.errors import InputError
from rankwright.runtime.kernels import kernel
from rankwright.runtime.threads import in_chunks, thread_count
from rankwright.scorers import LinearScorer, NetworkScorer, Scorer

Floats = NDArray[np.float64]
ScoresAlong = Callable[[Floats, Floats], Floats]

WIDEST = np.uint64(256)
"""Rows that are worked on at once, so that their activations stay in the first-level cache."""


@runtime_checkable
class Weighted(Protocol):
    """A scorer that shows its weights and can be made again with others."""

    def weights_vector(self) -> Floats: ...  # noqa: D102
    def with_weights(self, vector: Floats) -> Any: ...  # noqa: D102


@kernel(
    "void(float64[::1], float64[::1], float64, uint64, uint64, uint64, boolean, float64[:, ::1], uint64, "
    "uint64, float64[:, ::1], uint64, uint64)"
)
def layer_sums(
    weights: Floats,
    direction: Floats,
    step: float,
    at: Any,
    n_in: Any,
    n_out: Any,
    offsets: bool,
    inputs: Floats,
    first: Any,
    column: Any,
    outputs: Floats,
    to: Any,
    width: Any,
) -> None:
    """A layer's sums with the weights ``weights + step * direction``, whose own begin at ``at``."""
    for j in range(n_out):
        b = at + n_in * n_out + j
        offset = weights[b] + step * direction[b] if offsets else 0.0
        for t in range(width):
            outputs[to + j, t] = offset
        for k in range(n_in):
            w = weights[at + j * n_in + k] + step * direction[at + j * n_in + k]
            for t in range(width):
                outputs[to + j, t] += w * inputs[first + k, column + t]


@kernel(
    "void(uint64[::1], float64[::1], float64[:, ::1], float64[::1], float64[:, ::1], uint64, uint64,"
    "float64[:, :, ::1])"
)
def scores_along(
    sizes: Counts,
    weights: Floats,
    directions: Floats,
    steps: Floats,
    features: Floats,
    begin: Any,
    end: Any,
    out: Floats,
) -> None:
    """``out[m, s]`` holds the scores at ``weights + steps[s] * directions[m]``; a line of features each."""
    n_layers, n_in, n_first = np.uint64(sizes.size) - ONE, sizes[ZERO], sizes[ONE]
    units = ZERO
    for layer in range(ONE, n_layers + ONE):
        units += sizes[layer]
    here, there = np.empty((n_first, WIDEST)), np.empty((n_first, WIDEST))
    lines, hidden = np.empty((units, WIDEST)), n_layers > ONE
    for column in range(begin, end, WIDEST):
        width = min(WIDEST, end - column)
        layer_sums(
            weights, weights, 0.0, ZERO, n_in, n_first, hidden, features, ZERO, column, here, ZERO, width
        )
        for m in range(np.uint64(directions.shape[0])):
            way = directions[m]
            layer_sums(way, way, 0.0, ZERO, n_in, n_first, hidden, features, ZERO, column, there, ZERO, width)
            for s in range(np.uint64(steps.size)):
                step = steps[s]
                for j in range(n_first):
                    for t in range(width):
                        lines[j, t] = here[j, t] + step * there[j, t]
                first, at = ZERO, (n_in + ONE) * n_first
                for layer in range(ONE, n_layers):
                    below, above = sizes[layer], sizes[layer + ONE]
                    for j in range(first, first + below):
                        for t in range(width):
                            lines[j, t] = squash(np.float32(lines[j, t]))
                    layer_sums(
                        weights, way, step, at, below, above, layer + ONE < n_layers, lines, first, ZERO,
                        lines, first + below, width,
                    )  # fmt: skip
                    first += below
                    at += (below + ONE) * above
                for t in range(width):
                    out[m, s, column + t] = lines[first, t]


@dataclasses.dataclass(frozen=True, eq=False)
class Moves:
    """A model's weights, its scores wherever they are moved to, and the model made again with others.

    ``scores(directions, steps)`` has a list of scores, by stored row, for each direction and each step.
    """

    weights: Floats
    scores: ScoresAlong
    at: Callable[[Floats], Any]


def moves(scorer: Any, queries: QuerySet, n_jobs: int | None = None) -> Moves:
    """How to move a scorer's weights: a linear model's, a net's, or any other's that shows them.

    >>> made = moves(LinearScorer([1.0, 2.0]), QuerySet([[1, 0], [0, 1]], qid=1))
    >>> made.weights
    array([1., 2., 0.])
    >>> made.scores(np.eye(3)[:1], np.array([0.0, 0.5]))
    array([[[1. , 2. ],
            [1.5, 2. ]]])
    """
    if hasattr(scorer, "predict"):
        scorer.predict(queries)  # refuses data that it cannot score
    if isinstance(scorer, LinearScorer):
        vector = np.append(scorer.weights, scorer.bias)
        scores = _net_scores((scorer.n_features, 1), vector, scorer, queries, n_jobs)
        return Moves(vector, scores, lambda w: dataclasses.replace(scorer, weights=w[:-1], bias=float(w[-1])))
    if isinstance(scorer, NetworkScorer):
        sizes = scorer.sizes
        vector = np.concatenate([np.append(np.ravel(matrix), offsets) for matrix, offsets in scorer.layers])
        scores = _net_scores(sizes, vector, scorer, queries, n_jobs)
        return Moves(vector, scores, lambda w: dataclasses.replace(scorer, layers=layers(sizes, w)))
    if isinstance(scorer, Weighted):
        return _weighted(scorer, queries)
    raise InputError(
        f"{type(scorer).__name__} has no weights to move; give a linear model or a net, "
        "or a scorer with weights_vector() and with_weights(vector)"
    )


def _net_scores(
    sizes: tuple[int, ...], weights: Floats, scorer: Scorer, queries: QuerySet, n_jobs: int | None
) -> ScoresAlong:
    assert len(weights) == n_weights(sizes)
    features = np.ascontiguousarray(scorer.transform(queries.features, queries.offsets).T, dtype=np.float64)
    missing = np.argwhere(np.isnan(features))
    if len(missing):
        raise InputError(
            f"feature {missing[0][0]} is missing in some rows, and its weight, now 0, is to be moved; "
            "fill it in, or standardise"
        )
    n = features.shape[1]
    bounds = np.linspace(0, n, 4 * thread_count(n_jobs) + 1).astype(np.int64).tolist()

    def scores(directions: Floats, steps: Floats) -> Floats:
        out = np.empty((len(directions), len(steps), n))
        in_chunks(
            lambda begin, end: scores_along(
                np.array(sizes, np.uint64), weights, np.ascontiguousarray(directions), steps, features,
                np.uint64(begin), np.uint64(end), out,
            ),
            bounds,
            n_jobs,
        )  # fmt: skip
        return out

    return scores


def _weighted(scorer: Weighted, queries: QuerySet) -> Moves:
    vector = np.array(scorer.weights_vector(), dtype=np.float64)

    def scores(directions: Floats, steps: Floats) -> Floats:
        moved = [
            [scorer.with_weights(vector + step * way).predict(queries) for step in steps]
            for way in directions
        ]
        return np.array([[queries.in_stored_order(each) for each in row] for row in moved])

    return Moves(vector, scores, scorer.with_weights)
