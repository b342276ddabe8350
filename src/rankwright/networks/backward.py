"""The backward pass, after 2005 equations 8 to 11: from the cost's slope at each output to its gradient.

    Δ³ = ∂C/∂o              ∂C/∂b³ = Δ³      ∂C/∂w³²ₘ = Δ³ g²ₘ
    Δ²ₘ = g′²ₘ Δ³ w³²ₘ      ∂C/∂b²ₘ = Δ²ₘ    ∂C/∂w²¹ₘₙ = Δ²ₘ xₙ

each summed over the rows. tanh′ = 1 − tanh², so the activations that the forward pass stored are all that it
needs, and Δ takes their place as it goes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwright.networks.forward import ONE, ONE_F, TWO, ZERO, Counts, Singles
from rankwright.runtime.kernels import kernel

SUMS = {"reassoc", "contract", "nsz"}


@kernel("float32(float32[:, ::1], uint64, float32[:, ::1], uint64)", fastmath=SUMS)
def dot(slopes: Singles, d: Any, inputs: Singles, i: Any) -> np.float32:
    """Σ over rows of Δ[d] · inputs[i]."""
    total = np.float32(0)
    for t in range(np.uint64(inputs.shape[1])):
        total += slopes[d, t] * inputs[i, t]
    return total


@kernel("UniTuple(float32, 4)(float32[:, ::1], uint64, float32[:, ::1], uint64)", fastmath=SUMS)
def four_dots(
    slopes: Singles, d: Any, inputs: Singles, i: Any
) -> tuple[np.float32, np.float32, np.float32, np.float32]:
    """The same for two lines of slopes and two of inputs, each read once."""
    a, b, c, e = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
    for t in range(np.uint64(inputs.shape[1])):
        s, r, x, y = slopes[d, t], slopes[d + ONE, t], inputs[i, t], inputs[i + ONE, t]
        a += s * x
        b += s * y
        c += r * x
        e += r * y
    return a, b, c, e


@kernel("void(uint64, uint64, float32[:, ::1], uint64, float32[:, ::1], uint64, uint64, float32[::1])")
def collect(
    n_in: Any, n_out: Any, inputs: Singles, first: Any, slopes: Singles, of: Any, at: Any, gradient: Singles
) -> None:
    """Add ``Σ over rows of Δ[j] · inputs[k]`` to the weights' gradients and ``Σ Δ[j]`` to the offsets'.

    for j in units, for k in inputs: gradient[j, k] += dot(Δ[j], inputs[k])     # two by two at once
    """
    for j in range(n_out):
        total = np.float32(0)
        for t in range(np.uint64(inputs.shape[1])):
            total += slopes[of + j, t]
        gradient[at + n_in * n_out + j] += total
    for j in range(ZERO, n_out, TWO):
        for k in range(ZERO, n_in, TWO):
            g = at + j * n_in + k
            if j + ONE < n_out and k + ONE < n_in:
                a, b, c, e = four_dots(slopes, of + j, inputs, first + k)
                gradient[g] += a
                gradient[g + ONE] += b
                gradient[g + n_in] += c
                gradient[g + n_in + ONE] += e
                continue
            gradient[g] += dot(slopes, of + j, inputs, first + k)
            if k + ONE < n_in:
                gradient[g + ONE] += dot(slopes, of + j, inputs, first + k + ONE)
            if j + ONE < n_out:
                gradient[g + n_in] += dot(slopes, of + j + ONE, inputs, first + k)


@kernel("void(float32[::1], uint64, uint64, uint64, uint64, float32[:, ::1])", fastmath=SUMS)
def push_down(weights: Singles, at: Any, n_in: Any, n_out: Any, first: Any, activations: Singles) -> None:
    """``Δ[k] = (1 − g[k]²) · Σⱼ w[j, k] Δ[j]``, in the place of the activations g of a hidden layer."""
    width = np.uint64(activations.shape[1])
    above = first + n_in
    totals = np.empty(activations.shape[1], np.float32)
    for k in range(n_in):
        i = first + k
        totals[:] = np.float32(0)
        for j in range(n_out):
            w = weights[at + j * n_in + k]
            for t in range(width):
                totals[t] += w * activations[above + j, t]
        for t in range(width):
            activations[i, t] = (ONE_F - activations[i, t] * activations[i, t]) * totals[t]


@kernel("void(uint64[::1], float32[::1], float32[:, ::1], float32[:, ::1], float32[::1])")
def backward(
    sizes: Counts, weights: Singles, panel: Singles, activations: Singles, gradient: Singles
) -> None:
    """Add a panel's part to the gradient; the last line of ``activations`` holds ∂C/∂o in place of o."""
    first = np.uint64(activations.shape[0])
    at = np.uint64(weights.size)
    for back in range(ONE, np.uint64(sizes.size)):
        layer = np.uint64(sizes.size) - ONE - back
        n_in, n_out = sizes[layer], sizes[layer + ONE]
        first -= n_out
        at -= (n_in + ONE) * n_out
        if layer == ZERO:
            collect(n_in, n_out, panel, ZERO, activations, first, at, gradient)
        else:
            collect(n_in, n_out, activations, first - n_in, activations, first, at, gradient)
            push_down(weights, at, n_in, n_out, first - n_in, activations)


@kernel(
    "void(uint64[::1], float32[::1], float32[::1], float32[::1], float32, float32[::1])",
    fastmath=SUMS,
)
def backward_one(
    sizes: Counts, weights: Singles, row: Singles, activations: Singles, slope: np.float32, gradient: Singles
) -> None:
    """The same for a single row, from the activations that ``forward_one`` stored and ∂C/∂o."""
    first = np.uint64(activations.size) - ONE
    at = np.uint64(weights.size)
    activations[first] = slope
    for back in range(ONE, np.uint64(sizes.size)):
        layer = np.uint64(sizes.size) - ONE - back
        n_in, n_out = sizes[layer], sizes[layer + ONE]
        at -= (n_in + ONE) * n_out
        inputs, before = (row, ZERO) if layer == ZERO else (activations, first - n_in)
        for j in range(n_out):
            delta = activations[first + j]
            for k in range(n_in):
                gradient[at + j * n_in + k] += delta * inputs[before + k]
            gradient[at + n_in * n_out + j] += delta
        if layer > ZERO:
            for k in range(n_in):
                total = np.float32(0)
                for j in range(n_out):
                    total += weights[at + j * n_in + k] * activations[first + j]
                activations[before + k] = (ONE_F - activations[before + k] * activations[before + k]) * total
        first = before
