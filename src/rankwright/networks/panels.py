"""Panels: the rows of a matrix by group, turned so that rows lie side by side.

A group (a query) starts at a multiple of ``LANES`` rows and is cut into panels of at most ``WIDEST`` rows,
which keep the activations of a pass in the first-level cache; a panel holds all features of its rows, feature
by feature. Rows that fill up a group are 0, and their slopes are 0, so they have no part in any gradient.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwright.networks.backward import backward
from rankwright.networks.forward import ONE, ZERO, Counts, Singles, forward
from rankwright.runtime.kernels import kernel

LANES = 16
WIDEST = np.uint64(256)


class Panels(NamedTuple):
    """Rows in panels: those of group g start at row ``starts[g]`` of ``values``, and are ``counts[g]``."""

    values: Singles
    starts: Counts
    counts: Counts


def panel_types() -> Any:
    """Numba's type of panels."""
    import numba as nb

    return nb.types.NamedTuple((nb.float32[::1], nb.uint64[::1], nb.uint64[::1]), Panels)


def empty_panels(counts: NDArray[np.int64], n_features: int) -> Panels:
    """Room for groups of these sizes.

    >>> empty_panels(np.array([50, 3]), 2).starts
    array([ 0, 64, 80], dtype=uint64)
    """
    padded = -(-counts // LANES) * LANES
    starts = np.concatenate([[0], np.cumsum(padded)])
    values = np.zeros(int(starts[-1]) * n_features, np.float32)
    return Panels(values, starts.astype(np.uint64), counts.astype(np.uint64))


def fill_group(panels: Panels, group: int, rows: NDArray[np.floating]) -> None:
    """Write the rows of one group into its panels."""
    n_features = rows.shape[1]
    first, last = int(panels.starts[group]), int(panels.starts[group + 1])
    widest = int(WIDEST)
    for begin in range(0, last - first, widest):
        width = min(widest, last - first - begin)
        values = panels.values[(first + begin) * n_features : (first + begin + width) * n_features]
        part = rows[begin : begin + width]
        values.reshape(n_features, width)[:, : len(part)] = part.T


@kernel("void(uint64[::1], float32[::1], float32[::1], uint64, uint64, float32[::1], float32[::1])")
def forward_group(
    sizes: Counts,
    weights: Singles,
    values: Singles,
    start: Any,
    end: Any,
    activations: Singles,
    scores: Singles,
) -> None:
    """The scores of the rows from ``start`` up to ``end`` (a group), and the activations behind them."""
    units = ZERO
    for layer in range(ONE, np.uint64(sizes.size)):
        units += sizes[layer]
    for begin in range(start, end, WIDEST):
        width = min(WIDEST, end - begin)
        panel = values[begin * sizes[0] : (begin + width) * sizes[0]].reshape((sizes[0], width))
        to = begin - start
        stored = activations[to * units : (to + width) * units].reshape((units, width))
        forward(sizes, weights, panel, stored)
        scores[to : to + width] = stored[units - ONE]


@kernel(
    "void(uint64[::1], float32[::1], float32[::1], uint64, uint64, float32[::1], float32[::1], float32[::1])"
)
def backward_group(
    sizes: Counts,
    weights: Singles,
    values: Singles,
    start: Any,
    end: Any,
    slopes: Singles,
    activations: Singles,
    gradient: Singles,
) -> None:
    """Add a group's part to the gradient, from ∂C/∂o of its rows and the activations that were stored."""
    units = ZERO
    for layer in range(ONE, np.uint64(sizes.size)):
        units += sizes[layer]
    for begin in range(start, end, WIDEST):
        width = min(WIDEST, end - begin)
        panel = values[begin * sizes[0] : (begin + width) * sizes[0]].reshape((sizes[0], width))
        to = begin - start
        stored = activations[to * units : (to + width) * units].reshape((units, width))
        stored[units - ONE] = slopes[to : to + width]
        backward(sizes, weights, panel, stored, gradient)


@kernel("void(uint64[::1], float32[::1], float32[::1], uint64[::1], uint64[::1], float64[::1])")
def score_groups(
    sizes: Counts, weights: Singles, values: Singles, starts: Counts, counts: Counts, out: NDArray[np.float64]
) -> None:
    """The scores of the rows of all groups, one after the other."""
    units, longest, to = ZERO, ZERO, ZERO
    for layer in range(ONE, np.uint64(sizes.size)):
        units += sizes[layer]
    for group in range(np.uint64(counts.size)):
        longest = max(longest, starts[group + ONE] - starts[group])
    activations = np.empty(longest * units, np.float32)
    scores = np.empty(longest, np.float32)
    for group in range(np.uint64(counts.size)):
        forward_group(sizes, weights, values, starts[group], starts[group + ONE], activations, scores)
        for i in range(counts[group]):
            out[to + i] = scores[i]
        to += counts[group]
