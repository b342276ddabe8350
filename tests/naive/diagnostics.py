"""Diagnostics the slow way: nets by loops, circulations by small steps, pairs one by one."""

import math

from tests.naive import rules


def net_score(layers, x):
    """A net's output without the last offset, which changes no order."""
    values = list(x)
    for number, (matrix, offsets) in enumerate(layers):
        if number:
            values = [math.tanh(v) for v in values]
        last = number == len(layers) - 1
        values = [
            sum(w * v for w, v in zip(line, values, strict=True)) + (0.0 if last else b)
            for line, b in zip(matrix, offsets, strict=True)
        ]
    return values[0]


def circulation(loop, lambdas, pieces=4000):
    """The work of the forces round a polygon, by the midpoint of each of many small steps."""
    total = 0.0
    for begin, end in zip(loop, [*loop[1:], loop[0]], strict=True):
        way = [b - a for a, b in zip(begin, end, strict=True)]
        for p in range(pieces):
            at = [a + (p + 0.5) / pieces * w for a, w in zip(begin, way, strict=True)]
            total += sum(x * w for x, w in zip(lambdas(at), way, strict=True)) / pieces
    return total


def effective_pairs(scores, labels, measure, rising=False):
    """Pairs that differ in worth and whose swap changes the measure (or raises it)."""
    order, worth = rules.ranked(scores), rules.MEASURES[measure][2]
    count = 0
    for a in range(len(order)):
        for b in range(a + 1, len(order)):
            gain = rules.swap_gain(measure, labels, order, a, b)
            if worth(labels[order[a]]) != worth(labels[order[b]]) and abs(gain) > 1e-12:
                count += not rising or gain > 0
    return count


def bad_above_the_top_good(scores, labels):
    """2009's count for RR: pairs of a relevant document and an irrelevant one above the top relevant one."""
    ranked = [labels[i] >= 1 for i in rules.ranked(scores)]
    return ranked.index(True) * sum(ranked)
