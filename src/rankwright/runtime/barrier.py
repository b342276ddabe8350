"""Where the threads of one kernel meet: a barrier that spins, for waits shorter than a system call."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankwright.runtime.intrinsics import fetch_add, give_way, load, pause, store
from rankwright.runtime.kernels import kernel

ARRIVED, GENERATION = 0, 8  # a cache line apart
SPINS = 4000
"""Spins before a waiting thread lets others run: beyond this, more threads than cores are waiting."""


def new_barrier() -> NDArray[np.int64]:
    """The memory of one barrier.

    >>> len(new_barrier())
    16
    """
    return np.zeros(16, np.int64)


@kernel("void(int64[::1], int64)")
def meet(barrier: NDArray[np.int64], threads: int) -> None:
    """Wait until all threads are here; what each wrote before is then seen by all."""
    generation = load(barrier, GENERATION)
    if fetch_add(barrier, ARRIVED, 1) == threads - 1:
        store(barrier, ARRIVED, 0)
        fetch_add(barrier, GENERATION, 1)
    else:
        spins = 0
        while load(barrier, GENERATION) == generation:
            pause(spins)
            spins += 1
            if spins > SPINS:
                give_way()
