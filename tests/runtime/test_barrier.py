"""The barrier: nobody passes before all are there, and what was written before is seen after."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from rankwright.runtime import barrier as module
from rankwright.runtime.barrier import meet, new_barrier
from rankwright.runtime.kernels import kernel

JIT_OFF = os.environ.get("NUMBA_DISABLE_JIT") == "1"
forms = pytest.mark.parametrize(
    "form", ["plain", pytest.param("compiled", marks=pytest.mark.skipif(JIT_OFF, reason="the JIT is off"))]
)


@kernel("int64(int64[::1], int64[::1], int64, int64, int64)", cache=False)
def rounds(barrier: Any, written: Any, thread: int, threads: int, n: int) -> int:
    """Write the number of the round, meet, read everybody's, meet again; how often one was wrong."""
    wrong = 0
    for number in range(1, n + 1):
        written[8 * thread] = number
        meet(barrier, threads)
        for other in range(threads):
            wrong += written[8 * other] != number
        meet(barrier, threads)
    return wrong


@forms
@pytest.mark.parametrize("threads", [1, 2, 3, 4])
def test_all_see_what_all_wrote(form: str, threads: int) -> None:
    """Also with more threads than cores."""
    n = 2000 if form == "compiled" and threads <= 2 else 50
    barrier, written, run = new_barrier(), np.zeros(8 * threads, np.int64), getattr(rounds, form)
    with ThreadPoolExecutor(threads) as pool:
        wrong = list(pool.map(lambda thread: run(barrier, written, thread, threads, n), range(threads)))
    assert wrong == [0] * threads
    assert barrier[module.ARRIVED] == 0 and barrier[module.GENERATION] == 2 * n


@forms
def test_who_comes_first_waits(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """For long, too: then it lets others run."""
    barrier, run, order = new_barrier(), getattr(meet, form), []

    def arrive(delay: float) -> None:
        time.sleep(delay)
        order.append(("arrives", delay))
        run(barrier, 2)
        order.append(("leaves", delay))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(arrive, [0.0, 0.3]))
    assert order[:2] == [("arrives", 0.0), ("arrives", 0.3)]
    assert {what for what, _ in order[2:]} == {"leaves"}
