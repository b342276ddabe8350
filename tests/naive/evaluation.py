"""Evaluation as its definitions read: Python lists, and every order of tied documents tried."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

Value = Callable[[Sequence[float], Sequence[float]], "float | None"]
"""A measure: labels in ranked order and all judged labels, to its value (None: blank)."""


def ndcg(k: int) -> Value:
    def value(ranked: Sequence[float], judged: Sequence[float]) -> float | None:
        def dcg(labels: Sequence[float]) -> float:
            known = [0.0 if math.isnan(label) else label for label in labels[:k]]
            return sum((2.0**label - 1) / math.log2(rank + 2) for rank, label in enumerate(known))

        ideal = dcg(sorted((label for label in judged if not math.isnan(label)), reverse=True))
        return dcg(ranked) / ideal if ideal > 0 else None

    return value


def average_precision(ranked: Sequence[float], judged: Sequence[float]) -> float | None:
    found, total = 0, 0.0
    for rank, label in enumerate(ranked, 1):
        if label >= 1:
            found += 1
            total += found / rank
    relevant = sum(label >= 1 for label in judged)
    return total / relevant if relevant else None


def reciprocal_rank(ranked: Sequence[float], judged: Sequence[float]) -> float | None:
    if not any(label >= 1 for label in judged):
        return None
    return next((1 / rank for rank, label in enumerate(ranked, 1) if label >= 1), 0.0)


def precision(k: int) -> Value:
    def value(ranked: Sequence[float], judged: Sequence[float]) -> float | None:
        if not any(label >= 1 for label in judged):
            return None
        return sum(label >= 1 for label in ranked[:k]) / k

    return value


def expected_reciprocal_rank(ranked: Sequence[float], judged: Sequence[float]) -> float | None:
    if not any(label > 0 for label in judged):
        return None
    total, reading = 0.0, 1.0
    for rank, label in enumerate(ranked, 1):
        stops = 0.0 if math.isnan(label) else (2.0**label - 1) / 16
        total += reading * stops / rank
        reading *= 1 - stops
    return total


def pairs(ranked: Sequence[float], judged: Sequence[float]) -> float | None:
    def different(labels: Sequence[float]) -> int:
        return sum(a != b for a, b in itertools.combinations([x for x in labels if not math.isnan(x)], 2))

    if not different(judged):
        return None
    return sum(a > b for a, b in itertools.combinations(ranked, 2)) / different(judged)


def order(scores: Sequence[float], ids: Sequence[str] | None = None) -> list[int]:
    """Documents from the highest score down; equal ones as given, or by id, the last first."""
    places = list(range(len(scores)))
    if ids is not None:
        places.sort(key=lambda place: ids[place].encode(), reverse=True)
    return sorted(places, key=lambda place: scores[place], reverse=True)


def orders(scores: Sequence[float]) -> Iterator[list[int]]:
    """Every order that the scores allow."""
    groups = [
        [place for place, score in enumerate(scores) if score == level]
        for level in sorted(set(scores), reverse=True)
    ]
    for arranged in itertools.product(*(itertools.permutations(group) for group in groups)):
        yield [place for group in arranged for place in group]


def over_orders(value: Value, scores: Sequence[float], labels: Sequence[float]) -> tuple[float, float, float]:
    """The worst, mean and best value over all orders of tied documents; NaN for a blank query."""
    values = [value([labels[place] for place in each], labels) for each in orders(scores)]
    known = [each for each in values if each is not None]
    if not known:
        return math.nan, math.nan, math.nan
    return min(known), math.fsum(known) / len(known), max(known)


def randomisation(differences: Sequence[Fraction]) -> Fraction:
    """The share of all ways to set signs that bring a sum at least as large."""
    least = abs(sum(differences))
    signs = list(itertools.product((1, -1), repeat=len(differences)))
    large = sum(abs(sum(s * d for s, d in zip(each, differences, strict=True))) >= least for each in signs)
    return Fraction(large, len(signs))


def holm(p_values: Sequence[float]) -> list[float]:
    """Each p-value times the hypotheses not yet rejected before it, never below a smaller one's."""
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for rejected, place in enumerate(sorted(range(len(p_values)), key=lambda place: p_values[place])):
        highest = max(highest, min(1.0, p_values[place] * (len(p_values) - rejected)))
        corrected[place] = highest
    return corrected
