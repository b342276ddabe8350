"""Errors that a user meets: one sentence with the place, the cause and the cure."""

from __future__ import annotations

import importlib
from types import ModuleType


class RankwrightError(Exception):
    """What Rankwright raises when it refuses to go on; its text is meant for the user."""


class InputError(RankwrightError, ValueError):
    """Data, a parameter or a file that cannot be used, and what to do about it."""


class MissingExtra(RankwrightError, ImportError):
    """A library that belongs to an optional extra is not installed."""


class SlowWarning(UserWarning):
    """Something that is correct and slow, and what would make it fast."""


def require(module: str, extra: str) -> ModuleType:
    """Import ``module``, or say which extra brings it.

    >>> require("json", "frames").__name__
    'json'
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        raise MissingExtra(
            f"{name} is not installed; it comes with: pip install 'rankwright[{extra}]'"
        ) from error
