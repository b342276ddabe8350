"""Interrupts that wait for the end of a block."""

from __future__ import annotations

import signal
import threading

import pytest

from rankwright.runtime.interrupts import interrupts_deferred


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


def test_the_first_waits_and_the_second_does_not() -> None:
    done: list[int] = []
    with pytest.raises(KeyboardInterrupt), interrupts_deferred():
        interrupt()
        done.append(1)
    with pytest.raises(KeyboardInterrupt), interrupts_deferred():
        interrupt()
        done.append(2)
        interrupt()
        done.append(3)
    assert done == [1, 2]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_error_in_the_block_goes_before() -> None:
    with pytest.raises(ValueError, match="lost"), interrupts_deferred():
        interrupt()
        raise ValueError("lost")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_handlers_and_other_threads_are_left_alone() -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        with interrupts_deferred():
            interrupt()
            assert seen == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)

    def elsewhere() -> None:
        with interrupts_deferred():
            seen.append(signal.getsignal(signal.SIGINT) is signal.default_int_handler)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert seen[1:] == [True]
