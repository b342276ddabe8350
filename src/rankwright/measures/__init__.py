"""Measures: how good an ordering is. One file a measure; ``measure("ndcg@10")`` makes one."""

from __future__ import annotations

from rankwright.measures.base import Measure
from rankwright.measures.ndcg import NDCG
from rankwright.measures.syntax import parse

BUILT_IN: tuple[type[Measure], ...] = (NDCG,)


def measure(text: str) -> Measure:
    """A measure from its syntax.

    >>> measure("ndcg@10")
    ndcg@10
    """
    return parse(text)
