"""One step down the gradient: with momentum, or Adam's.

    momentum    v ← μv + g,  w ← w − ηv                                      (μ = 0: plain descent)
    Adam        m ← β₁m + (1 − β₁)g,  u ← β₂u + (1 − β₂)g²,  w ← w − η m̂ / (√û + ε)
                m̂ = m / (1 − β₁ᵗ),  û = u / (1 − β₂ᵗ)

with g the gradient and, beside it, the share of the L2 penalty: ∂/∂w of ½ · l2 · w².
"""

from __future__ import annotations

import numpy as np

from rankwright.networks.forward import Singles
from rankwright.networks.net import Floats
from rankwright.runtime.kernels import kernel

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
HIGHEST = 1e30
OPTIMISERS = ("adam", "sgd")
LEARNING_RATE, MOMENTUM, STEPS, ADAM = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3)


def rates(optimiser: str, learning_rate: float, momentum: float) -> Floats:
    """What ``step`` reads: learning rate, momentum, steps taken so far, and whether they are Adam's.

    >>> rates("sgd", 0.1, 0.9)
    array([0.1, 0.9, 0. , 0. ])
    """
    return np.array([learning_rate, momentum, 0.0, float(optimiser == "adam")])


@kernel(
    "boolean(float64[::1], float64, float64[::1], float32[::1], float64[:, ::1], float64[::1], float32[::1])",
    fastmath={"reassoc", "contract"},
)
def step(
    rates: Floats,
    share: float,
    decay: Floats,
    gradient: Singles,
    moments: Floats,
    exact: Floats,
    weights: Singles,
) -> bool:
    """Move the weights and clear the gradient, unless weights run away; tell whether they did not.

    ``share`` is the part of the data behind this gradient, and so the part of the penalty that goes with it.
    """
    n = np.uint64(exact.size)
    size = 0.0
    rates[STEPS] += 1.0
    learning_rate = rates[LEARNING_RATE]
    if rates[ADAM] != 0.0:
        first = learning_rate / (1.0 - BETA1 ** rates[STEPS])
        second = 1.0 / np.sqrt(1.0 - BETA2 ** rates[STEPS])
        for k in range(n):
            g = gradient[k] + share * decay[k] * exact[k]
            moments[0, k] = BETA1 * moments[0, k] + (1.0 - BETA1) * g
            moments[1, k] = BETA2 * moments[1, k] + (1.0 - BETA2) * g * g
            exact[k] -= first * moments[0, k] / (np.sqrt(moments[1, k]) * second + EPSILON)
    else:
        for k in range(n):
            moments[0, k] = rates[MOMENTUM] * moments[0, k] + gradient[k] + share * decay[k] * exact[k]
            exact[k] -= learning_rate * moments[0, k]
    for k in range(n):
        size += abs(exact[k])
    if not size < HIGHEST:
        return False
    for k in range(n):
        weights[k] = np.float32(exact[k])
        gradient[k] = np.float32(0)
    return True
