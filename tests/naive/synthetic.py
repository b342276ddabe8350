"""The papers' targets for one document at a time, in plain Python, on numbers of NumPy's Generator."""

from __future__ import annotations

import math

import numpy as np


class Numbers:
    """What the package draws from raw bits, drawn by NumPy's own methods."""

    def __init__(self, seed, number):
        self.generator = np.random.Generator(np.random.PCG64([seed, number]))

    def uniform(self, n):
        return [2 * float(value) - 1 for value in self.generator.random(n)]

    def permutation(self, n):
        keys = [int(key) for key in self.generator.integers(0, 2**64, n, dtype=np.uint64)]
        return sorted(range(n), key=keys.__getitem__)


def net(documents, hidden, seed):
    width = len(documents[0])
    numbers = Numbers(seed, 0)
    flat = numbers.uniform(hidden * width)
    first = [flat[unit * width : (unit + 1) * width] for unit in range(hidden)]
    thresholds, second = numbers.uniform(hidden), numbers.uniform(hidden)
    return [
        sum(v * math.tanh(dot(w, x) + b) for v, w, b in zip(second, first, thresholds, strict=True))
        for x in documents
    ]


def polynomial(documents, seed):
    width = len(documents[0])
    numbers = Numbers(seed, 0)
    weights = numbers.uniform(width)
    p, q, r = (numbers.permutation(width) for _ in range(3))
    terms = [
        [dot(weights, x) for x in documents],
        [sum(x[i] * x[p[i]] for i in range(width)) for x in documents],
        [sum(x[i] * x[q[i]] * x[r[i]] for i in range(width)) for x in documents],
    ]
    return [sum(values) / 3 for values in zip(*map(scaled, terms), strict=True)]


def dot(weights, values):
    return sum(w * x for w, x in zip(weights, values, strict=True))


def scaled(values):
    mean = math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
    return [(value - mean) / deviation for value in values]


def binned(values, ends):
    """The label of each value: how many of the ends its rank has reached."""
    labels = [0] * len(values)
    for rank, index in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        labels[index] = sum(rank >= end for end in ends)
    return labels


def pairs(labels, ids):
    """How many pairs of documents of one query have different labels, and how many pairs there are."""
    different = total = 0
    for query in set(ids):
        own = [label for label, other in zip(labels, ids, strict=True) if other == query]
        total += len(own) * (len(own) - 1) // 2
        different += sum(a != b for i, a in enumerate(own) for b in own[:i])
    return different, total
