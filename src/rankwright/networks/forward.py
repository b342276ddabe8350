"""The forward pass of a layered net with one output, after 2005 equation 7.

    o = Σⱼ w³²ⱼ g(Σₖ w²¹ⱼₖ xₖ + b²ⱼ) + b³        g = tanh; any number of hidden layers, or none (a linear net)

``sizes`` holds the number of units of each layer, inputs first, 1 last; ``weights`` holds, layer by layer, a
matrix (units × inputs) and then the offsets b. Rows come as *panels*, feature by feature, so that the inner
loops run over rows side by side; ``activations`` has a line for each unit, the output's last.

No sum changes its order with the panel's width and nothing is fused: a row's score has the same bits in any
panel, compiled or not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.runtime.exponential import exponential
from rankwright.runtime.kernels import kernel

Singles = NDArray[np.float32]
Counts = NDArray[np.uint64]

ZERO, ONE, TWO, THREE, FOUR = (np.uint64(i) for i in range(5))
ONE_F, TWO_F = np.float32(1), np.float32(2)


@kernel("void(float32[::1], uint64, uint64, float32[:, ::1], uint64, float32[:, ::1], uint64)")
def add_unit(
    weights: Singles, w: Any, n_in: Any, inputs: Singles, first: Any, outputs: Singles, o: Any
) -> None:
    """``outputs[o] += Σₖ weights[w + k] · inputs[first + k]``: four k's at a time, added in their order."""
    width = np.uint64(inputs.shape[1])
    k = ZERO
    while k + FOUR <= n_in:
        i = first + k
        w0, w1, w2, w3 = weights[w + k], weights[w + k + ONE], weights[w + k + TWO], weights[w + k + THREE]
        for t in range(width):
            part = outputs[o, t] + w0 * inputs[i, t] + w1 * inputs[i + ONE, t]
            outputs[o, t] = part + w2 * inputs[i + TWO, t] + w3 * inputs[i + THREE, t]
        k += FOUR
    while k < n_in:
        w0 = weights[w + k]
        for t in range(width):
            outputs[o, t] += w0 * inputs[first + k, t]
        k += ONE


@kernel("void(float32[::1], uint64, uint64, float32[:, ::1], uint64, float32[:, ::1], uint64)")
def add_two_units(
    weights: Singles, w: Any, n_in: Any, inputs: Singles, first: Any, outputs: Singles, o: Any
) -> None:
    """The same for two units, which reads the inputs once: those of w and, behind them, the next unit's."""
    width = np.uint64(inputs.shape[1])
    v, p, k = w + n_in, o + ONE, ZERO
    while k + FOUR <= n_in:
        i = first + k
        w0, w1, w2, w3 = weights[w + k], weights[w + k + ONE], weights[w + k + TWO], weights[w + k + THREE]
        v0, v1, v2, v3 = weights[v + k], weights[v + k + ONE], weights[v + k + TWO], weights[v + k + THREE]
        for t in range(width):
            x0, x1, x2, x3 = inputs[i, t], inputs[i + ONE, t], inputs[i + TWO, t], inputs[i + THREE, t]
            outputs[o, t] = outputs[o, t] + w0 * x0 + w1 * x1 + w2 * x2 + w3 * x3
            outputs[p, t] = outputs[p, t] + v0 * x0 + v1 * x1 + v2 * x2 + v3 * x3
        k += FOUR
    while k < n_in:
        w0, v0 = weights[w + k], weights[v + k]
        for t in range(width):
            outputs[o, t] += w0 * inputs[first + k, t]
            outputs[p, t] += v0 * inputs[first + k, t]
        k += ONE


@kernel("void(float32[::1], uint64, uint64, uint64, float32[:, ::1], uint64, float32[:, ::1], uint64)")
def affine(
    weights: Singles, at: Any, n_in: Any, n_out: Any, inputs: Singles, first: Any, outputs: Singles, to: Any
) -> None:
    """``outputs[to + j] = b[j] + Σₖ w[j, k] · inputs[first + k]``, for all rows of a panel.

    for j in units, for k in inputs: outputs[to + j] += w[j, k] * inputs[first + k]   # two by four at once
    """
    width = np.uint64(inputs.shape[1])
    for j in range(n_out):
        offset = weights[at + n_in * n_out + j]
        for t in range(width):
            outputs[to + j, t] = offset
    for j in range(ZERO, n_out, TWO):
        if j + ONE < n_out:
            add_two_units(weights, at + j * n_in, n_in, inputs, first, outputs, to + j)
        else:
            add_unit(weights, at + j * n_in, n_in, inputs, first, outputs, to + j)


@kernel("float32(float32)")
def squash(value: np.float32) -> np.float32:
    """The transfer function of hidden units: tanh."""
    return ONE_F - TWO_F / (ONE_F + exponential(TWO_F * value))


@kernel("void(uint64[::1], float32[::1], float32[:, ::1], float32[:, ::1])")
def forward(sizes: Counts, weights: Singles, panel: Singles, activations: Singles) -> None:
    """The activations of all units, for the rows of a panel; the last line holds the outputs."""
    width = np.uint64(panel.shape[1])
    affine(weights, ZERO, sizes[0], sizes[1], panel, ZERO, activations, ZERO)
    first, at = ZERO, (sizes[0] + ONE) * sizes[1]
    for layer in range(ONE, np.uint64(sizes.size) - ONE):
        n_in, n_out = sizes[layer], sizes[layer + ONE]
        for j in range(first, first + n_in):
            for t in range(width):
                activations[j, t] = squash(activations[j, t])
        affine(weights, at, n_in, n_out, activations, first, activations, first + n_in)
        first += n_in
        at += (n_in + ONE) * n_out


@kernel(
    "float32(uint64[::1], float32[::1], float32[::1], float32[::1])", fastmath={"reassoc", "contract", "nsz"}
)
def forward_one(sizes: Counts, weights: Singles, row: Singles, activations: Singles) -> np.float32:
    """The output for a single row, and the activations of the hidden units in turn."""
    n_in, n_out = sizes[0], sizes[1]
    layers = np.uint64(sizes.size) - ONE
    inputs, before, first, at = row, ZERO, ZERO, ZERO
    for layer in range(layers):
        n_in, n_out = sizes[layer], sizes[layer + ONE]
        for j in range(n_out):
            w = at + j * n_in
            total = np.float32(0)
            for k in range(n_in):
                total += weights[w + k] * inputs[before + k]
            total += weights[at + n_in * n_out + j]
            activations[first + j] = squash(total) if layer + ONE < layers else total
        inputs, before = activations, first
        first += n_out
        at += (n_in + ONE) * n_out
    return activations[before]
