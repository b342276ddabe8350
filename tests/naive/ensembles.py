"""Every change of order along a line of scores, by looking at all orders in exact arithmetic."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any


def order_at(start: Any, direction: Any, t: Any) -> list[int]:
    """Rows from the highest exact score to the lowest, equal ones as they stand."""
    scores = [Fraction(p) + t * Fraction(d) for p, d in zip(start, direction, strict=True)]
    return sorted(range(len(scores)), key=lambda row: -scores[row])


def crossings(queries: Any, low: Any, high: Any) -> list[Fraction]:
    """All t at which two documents of a query have the same score, in order."""
    found = set()
    for start, direction, _ in queries:
        for i in range(len(start)):
            for j in range(i):
                p, d = (
                    Fraction(start[i]) - Fraction(start[j]),
                    Fraction(direction[i]) - Fraction(direction[j]),
                )
                if d != 0 and low < -p / d < high:
                    found.add(-p / d)
    return sorted(found)


def points(queries: Any, low: Any, high: Any) -> list[tuple[Fraction, bool]]:
    """A point in each stretch between crossings, and each crossing: (t, whether it is a crossing)."""
    inner = crossings(queries, low, high)
    edges = [low if low != -math.inf else (inner[0] - 1 if inner else -1)]
    edges += inner
    edges.append(high if high != math.inf else (inner[-1] + 1 if inner else 1))
    middles = [(a + b) / Fraction(2) for a, b in itertools.pairwise(edges)]
    return sorted([(t, False) for t in middles] + [(t, True) for t in inner])


def mean_at(queries: Any, t: Any, value: Any) -> Any:
    """The mean of a measure over the queries; None is left out."""
    orders = [(order_at(start, direction, t), labels) for start, direction, labels in queries]
    values = [value([labels[row] for row in order]) for order, labels in orders]
    kept = [v for v in values if v is not None]
    return sum(kept) / len(kept)
