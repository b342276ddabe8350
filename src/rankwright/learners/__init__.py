"""Learners: each turns labelled queries into a scorer. One file a learner."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from typing import Any


@functools.cache
def known() -> dict[str, type[Any]]:
    """All learners by name, found in this folder.

    >>> "RankNet" in known()
    True
    """
    from rankwright.learners.base import Ranker

    found: dict[str, type[Any]] = {}
    for module in pkgutil.iter_modules(__path__):
        for name, value in vars(importlib.import_module(f"{__name__}.{module.name}")).items():
            own = isinstance(value, type) and value.__module__ == f"{__name__}.{module.name}"
            if own and issubclass(value, Ranker) and value is not Ranker and not name.startswith("_"):
                found[name] = value
    return dict(sorted(found.items()))
