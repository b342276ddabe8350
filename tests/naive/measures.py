"""Measures written from their definitions, one document after the other, in fractions.

Only logarithms and powers that are not whole are rounded, to the nearest double, before the fractions begin.
Each measure takes labels in ranked order (None is unjudged), all judged labels of the query, and a cut-off,
and gives None where the query is blank.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

Labels = Sequence[Any]
Naive = Callable[[Labels, Labels, int | None], Any]


def top(labels: Labels, k: int | None) -> list[Any]:
    return list(labels if k is None else labels[:k])


def is_relevant(label: Any, threshold: Any = 1) -> bool:
    return label is not None and label >= threshold


def count_relevant(labels: Labels, threshold: Any = 1) -> int:
    return sum(is_relevant(label, threshold) for label in labels)


def exponential_gain(label: Any) -> float:
    return 0.0 if label is None else 2.0 ** float(label) - 1.0


def linear_gain(label: Any) -> float:
    return 0.0 if label is None else float(label)


def table_gain(*table: float) -> Callable[[Any], float]:
    return lambda label: 0.0 if label is None else table[int(label)]


def log2_discount(rank: int) -> float:
    return 1.0 / math.log2(rank + 1)


def letor_discount(rank: int) -> float:
    """2008's: zero-based ranks 0 and 1 count 1, rank r counts 1/log2(1 + r)."""
    zero_based = rank - 1
    return 1.0 if zero_based < 2 else 1.0 / math.log2(1 + zero_based)


def zipf_discount(rank: int) -> float:
    return 1.0 / rank


def dcg(
    gain: Callable[[Any], float] = exponential_gain, discount: Callable[[int], float] = log2_discount
) -> Naive:
    def measured(labels: Labels, judged: Labels, k: int | None) -> Any:
        if ideal(gain, discount, judged, k) == 0:
            return None
        return cumulated([gain(label) for label in labels], discount, k)

    return measured


def cumulated(gains: Sequence[float], discount: Callable[[int], float], k: int | None) -> Fraction:
    terms = (Fraction(g) * Fraction(discount(r)) for r, g in enumerate(top(gains, k), 1))
    return sum(terms, Fraction(0))


def ideal(
    gain: Callable[[Any], float], discount: Callable[[int], float], judged: Labels, k: int | None
) -> Fraction:
    return cumulated(sorted((gain(label) for label in judged), reverse=True), discount, k)


def ndcg(
    gain: Callable[[Any], float] = exponential_gain, discount: Callable[[int], float] = log2_discount
) -> Naive:
    def measured(labels: Labels, judged: Labels, k: int | None) -> Any:
        found = dcg(gain, discount)(labels, judged, k)
        return None if found is None else found / ideal(gain, discount, judged, k)

    return measured


def average_precision(threshold: Any = 1, by_cutoff: bool = False) -> Naive:
    def measured(labels: Labels, judged: Labels, k: int | None) -> Any:
        relevant = count_relevant(judged, threshold)
        if relevant == 0:
            return None
        total = Fraction(0)
        for r, label in enumerate(top(labels, k), 1):
            if is_relevant(label, threshold):
                total += Fraction(count_relevant(labels[:r], threshold), r)
        return total / (min(relevant, k) if by_cutoff and k is not None else relevant)

    return measured


def reciprocal_rank(threshold: Any = 1) -> Naive:
    def measured(labels: Labels, judged: Labels, k: int | None) -> Any:
        if count_relevant(judged, threshold) == 0:
            return None
        for r, label in enumerate(top(labels, k), 1):
            if is_relevant(label, threshold):
                return Fraction(1, r)
        return Fraction(0)

    return measured


def stop_by_exponent(max_label: int = 4) -> Callable[[Any], Fraction]:
    def stop(label: Any) -> Fraction:
        if label is None:
            return Fraction(0)
        power = 2 ** int(label) if label == int(label) else Fraction(2.0 ** float(label))
        return (Fraction(power) - 1) / 2**max_label

    return stop


def stop_by_label(label: Any) -> Fraction:
    return Fraction(0) if label is None else Fraction(label)


def err(stop: Callable[[Any], Fraction]) -> Naive:
    def measured(labels: Labels, judged: Labels, k: int | None) -> Any:
        if not any(stop(label) > 0 for label in judged):
            return None
        total, reached = Fraction(0), Fraction(1)
        for r, label in enumerate(top(labels, k), 1):
            total += Fraction(1, r) * stop(label) * reached
            reached *= 1 - stop(label)
        return total

    return measured


def precision(threshold: Any = 1, by_length: bool = False) -> Naive:
    def measured(labels: Labels, judged: Labels, k: int | None) -> Any:
        if count_relevant(judged, threshold) == 0:
            return None
        found = count_relevant(top(labels, k), threshold)
        return Fraction(found, max(1, len(top(labels, k)) if k is None or by_length else k))

    return measured


def recall(threshold: Any = 1) -> Naive:
    def measured(labels: Labels, judged: Labels, k: int | None) -> Any:
        relevant = count_relevant(judged, threshold)
        return Fraction(count_relevant(top(labels, k), threshold), relevant) if relevant else None

    return measured


def winner_takes_all(threshold: Any = 1) -> Naive:
    def measured(labels: Labels, judged: Labels, k: int | None) -> Any:
        if count_relevant(judged, threshold) == 0:
            return None
        return Fraction(count_relevant(labels[:1], threshold))

    return measured


def pairs(labels: Labels, judged: Labels, k: int | None = None) -> Any:
    known = [label for label in judged if label is not None]
    different = sum(a != b for i, a in enumerate(known) for b in known[i + 1 :])
    if different == 0:
        return None
    ranked = [label for label in labels if label is not None]
    return Fraction(sum(a > b for i, a in enumerate(ranked) for b in ranked[i + 1 :]), different)


def auc(threshold: Any = 1) -> Naive:
    def measured(labels: Labels, judged: Labels, k: int | None = None) -> Any:
        binary = [None if label is None else int(label >= threshold) for label in labels]
        return pairs(binary, [None if label is None else int(label >= threshold) for label in judged])

    return measured


def bpref(threshold: Any = 1) -> Naive:
    def measured(labels: Labels, judged: Labels, k: int | None = None) -> Any:
        relevant = count_relevant(judged, threshold)
        irrelevant = sum(label is not None for label in judged) - relevant
        if relevant == 0:
            return None
        total, above = Fraction(0), 0
        for label in labels:
            if is_relevant(label, threshold):
                total += 1 - Fraction(min(above, relevant), min(relevant, irrelevant)) if above else 1
            elif label is not None:
                above += 1
        return total / relevant

    return measured


def rank_biased_precision(p: float, threshold: Any = 1) -> Naive:
    def measured(labels: Labels, judged: Labels, k: int | None) -> Any:
        if count_relevant(judged, threshold) == 0:
            return None
        go_on = Fraction(p)
        return sum(
            (
                (1 - go_on) * go_on**r
                for r, label in enumerate(top(labels, k))
                if is_relevant(label, threshold)
            ),
            Fraction(0),
        )

    return measured


def swap_gain(naive: Naive, labels: Labels, i: int, j: int, k: int | None = None) -> Any:
    """The measure after swapping ranks i and j, minus before."""
    swapped = list(labels)
    swapped[i], swapped[j] = swapped[j], swapped[i]
    after, before = naive(swapped, labels, k), naive(labels, labels, k)
    return None if before is None else after - before
