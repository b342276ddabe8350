"""Ctrl-C during work that must not be left half done."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Keep an interrupt until the block is done; a second one ends it at once.

    Only where Python's own handler would raise ``KeyboardInterrupt``, which is on the main thread alone.

    >>> done = []
    >>> try:
    ...     with interrupts_deferred():
    ...         signal.raise_signal(signal.SIGINT)
    ...         done.append("all of it")
    ... except KeyboardInterrupt:
    ...     done.append("interrupted")
    >>> done
    ['all of it', 'interrupted']
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or handler is not signal.default_int_handler:
        yield
        return
    noted = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal noted
        if noted:
            raise KeyboardInterrupt
        noted = True

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if noted:
        raise KeyboardInterrupt
