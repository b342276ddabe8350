"""Random numbers that belong to a thing and not to a thread: mixed from a seed and the thing's number."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwright.runtime.kernels import kernel


@kernel("uint64(uint64, uint64)")
def mixed(seed: Any, x: Any) -> Any:
    """A well-mixed 32-bit number from a seed and a number below 2³² (products stay below 2⁶⁴)."""
    low = np.uint64(0xFFFFFFFF)
    state = np.uint64(0)
    for part in (seed & low, seed >> np.uint64(32), x & low):
        # The seed is mixed before x comes in, or neighbouring seeds would give each other's numbers.
        state = state ^ part ^ np.uint64(0x9E3779B9)
        state = ((state ^ (state >> np.uint64(16))) * np.uint64(0x7FEB352D)) & low
        state = ((state ^ (state >> np.uint64(15))) * np.uint64(0x846CA68B)) & low
        state = state ^ (state >> np.uint64(16))
    return state
