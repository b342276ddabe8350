"""Feature maps and worst orderings as 2008 defines them, over all permutations of a query's documents."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment


def partial_order(good: Sequence[bool], order: Sequence[int], averaged: bool = True) -> list[float]:
    """Equation 3: y_gb is 1 where the good document g stands before the bad one b, else −1."""
    phi = [0.0] * len(good)
    rank = {document: r for r, document in enumerate(order)}
    for g in range(len(good)):
        for b in range(len(good)):
            if good[g] and not good[b]:
                y = 1.0 if rank[g] < rank[b] else -1.0
                phi[g] += y
                phi[b] -= y
    pairs = sum(good) * (len(good) - sum(good))
    return [c / pairs for c in phi] if averaged else phi


def local_order(good: Sequence[bool], order: Sequence[int], averaged: bool = True) -> list[float]:
    """ψ of Fact 3.1."""
    psi = [0.0] * len(good)
    for r, b in enumerate(order):
        for g in order[r + 1 :]:
            if good[g] and not good[b]:
                psi[b] += 2.0
                psi[g] -= 2.0
    pairs = sum(good) * (len(good) - sum(good))
    return [c / pairs for c in psi] if averaged else psi


def first_good(good: Sequence[bool], order: Sequence[int]) -> list[float]:
    """Equation 5."""
    phi = [0.0] * len(good)
    above = []
    for document in order:
        if good[document]:
            for b in above:
                phi[b] += 1.0
                phi[document] -= 1.0
            return phi
        above.append(document)
    return phi


def decay(
    good: Sequence[bool], order: Sequence[int], until: int | None = None, by: Sequence[float] | None = None
) -> list[float]:
    """Equation 6 with A(r) = 1/√(r + 1), 0 from a rank on; or A by a list."""
    phi = [0.0] * len(good)
    for r, document in enumerate(order):
        a = 1.0 / math.sqrt(r + 1) if by is None else (*by, *[0.0] * len(good))[r]
        phi[document] = 0.0 if until is not None and r >= until else a
    return phi


Map = Callable[[Sequence[bool], Sequence[int]], list[float]]


@functools.cache
def orderings(good: tuple[bool, ...], phi: Map) -> tuple[Any, Any, list[tuple[bool, ...]]]:
    """All permutations, φ of each, and the pattern of good ranks of each."""
    orders = list(itertools.permutations(range(len(good))))
    maps = np.array([phi(good, order) for order in orders])
    return np.array(orders), maps, [tuple(good[document] for document in order) for order in orders]


def losses(patterns: Sequence[tuple[Any, ...]], value: Callable[[Sequence[int]], float]) -> Any:
    """Δ of each pattern: what the ideal ranking has more of the measure."""
    known = {pattern: float(value([int(label) for label in pattern])) for pattern in set(patterns)}
    best = max(known.values())
    return np.array([best - known[pattern] for pattern in patterns])


def worst(good: tuple[bool, ...], scores: Any, phi: Map, value: Callable[[Sequence[int]], float]) -> Any:
    """(max over y of Δ + w·(φ(y) − φ(y*)), all Δ, all φ(y*) − φ(y)); y* is the mean of the ideal rankings."""
    _, maps, patterns = orderings(good, phi)
    ideal = tuple(sorted(good, reverse=True))
    truth = np.mean([one for one, pattern in zip(maps, patterns, strict=True) if pattern == ideal], axis=0)
    loss = losses(patterns, value)
    difference = truth - maps
    return (loss - difference @ scores).max(), loss, difference


def assignment(scores: Any, decay: Any, gains: Any, worths: Any) -> float:
    """The best of Σ A(rank) s − g v(rank)/DCG* as an assignment of documents to ranks (section 3.5)."""
    ideal = np.sort(gains)[::-1] @ worths
    value = np.outer(scores, decay) - np.outer(gains, worths) / ideal
    rows, ranks = linear_sum_assignment(value, maximize=True)
    return float(value[rows, ranks].sum())


# 2008's Figure 2 and the two facts that shorten it, to the letter. All take sorted scores and what a rank is
# worth (0 from k on, divided by the ideal); they give the bad documents above each good one.


def cell_score(good: Sequence[float], bad: Sequence[float], g: int, b: int) -> float:
    left = sum(score - good[g] for score in bad[:b])
    right = sum(good[g] - score for score in bad[b:])
    return (left + right) / (len(good) * len(bad))


def merge_value(good: Sequence[float], bad: Sequence[float], worth: Any, above: Sequence[int]) -> float:
    """The objective, less what is the same for all rankings."""
    return sum(cell_score(good, bad, g, b) - worth(g + b) for g, b in enumerate(above))


def best_merge(good: Sequence[float], bad: Sequence[float], worth: Any) -> tuple[int, ...]:
    """The best of all merges."""
    merges = itertools.combinations_with_replacement(range(len(bad) + 1), len(good))
    return max(merges, key=lambda above: merge_value(good, bad, worth, above))


def figure_2(good: Sequence[float], bad: Sequence[float], worth: Any, places: int | None = None) -> Any:
    """The full table; as printed it has a column before each bad document, and none behind the last."""
    columns = len(bad) if places is None else places
    best = [(cell_score(good, bad, 0, b) - worth(b), (b,)) for b in range(columns)]
    for g in range(1, len(good)):
        best = [
            max(
                (value + cell_score(good, bad, g, b) - worth(g + b), (*above, b))
                for value, above in best[: b + 1]
            )
            for b in range(columns)
        ]
    return max(best)[1]


def fact_3_3(good: Sequence[float], bad: Sequence[float], worth: Any, k: int) -> Any:
    """Rows for min(n⁺, k) good documents only; the others stand where the score likes them, if free to."""
    rows = min(len(good), k)

    def best_from(g: int, least: int) -> tuple[int, ...]:
        above: list[int] = []
        for document in range(g, len(good)):
            least = max(range(least, len(bad) + 1), key=lambda b: cell_score(good, bad, document, b))
            above.append(least)
        return tuple(above)

    merges = itertools.combinations_with_replacement(range(len(bad) + 1), rows)
    kept = max(merges, key=lambda above: merge_value(good, bad, worth, above))
    return kept + best_from(rows, kept[-1])


def fact_3_4(good: Sequence[float], bad: Sequence[float], worth: Any) -> Any:
    """Row by row, each good document at the best place that is not above the one before it."""
    above: list[int] = []
    for g in range(len(good)):
        places = range(above[-1] if above else 0, len(bad) + 1)
        above.append(max(places, key=lambda b: cell_score(good, bad, g, b) - worth(g + b)))
    return tuple(above)
