"""How training tells of its steps, and is told to end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def told(progress: Callable[[Any], object] | None, record: Any) -> bool:
    """Tell of a step; False where the listener ends training by raising ``StopIteration``.

    >>> def enough(record):
    ...     raise StopIteration
    >>> told(print, "step 1"), told(None, "step 2"), told(enough, "step 3")
    step 1
    (True, True, False)
    """
    try:
        if progress is not None:
            progress(record)
    except StopIteration:
        return False
    return True
