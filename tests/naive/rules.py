"""The λ rules as formulas over two documents, from 2006 section 6.2 and 2009 section 7."""

import math


def dcg(levels):
    return sum((2**level - 1) / math.log2(r + 2) for r, level in enumerate(levels))


def ndcg(k):
    def value(levels):
        return dcg(levels[:k]) / dcg(sorted(levels, reverse=True)[:k])

    return value


def average_precision(levels):
    hits = [level >= 1 for level in levels]
    return sum(sum(hits[: r + 1]) / (r + 1) for r, hit in enumerate(hits) if hit) / sum(hits)


def reciprocal_rank(levels):
    return next(1 / (r + 1) for r, level in enumerate(levels) if level >= 1)


# Each measure with its normaliser N and what it tells labels apart by.
MEASURES = {
    "ndcg": (ndcg(None), lambda levels: 1 / dcg(sorted(levels, reverse=True)), lambda level: level),
    "ndcg@2": (ndcg(2), lambda levels: 1 / dcg(sorted(levels, reverse=True)[:2]), lambda level: level),
    "map": (average_precision, lambda levels: 1 / sum(x >= 1 for x in levels), lambda level: level >= 1),
    "mrr": (reciprocal_rank, lambda levels: 1.0, lambda level: level >= 1),
    None: (None, lambda levels: 1.0, lambda level: level),
}


def sign(x):
    return (x > 0) - (x < 0)


def ranked(scores):
    """Documents from the highest score to the lowest, equal ones as given."""
    return sorted(range(len(scores)), key=lambda i: -scores[i])


def swap_gain(measure, labels, order, a, b):
    """The measure with ranks a and b swapped, minus before; without one, 1 for a wrong pair put right."""
    value, _, worth = MEASURES[measure]
    if value is None:
        return sign(worth(labels[order[b]]) - worth(labels[order[a]]))
    swapped = list(order)
    swapped[a], swapped[b] = swapped[b], swapped[a]
    return value([labels[i] for i in swapped]) - value([labels[i] for i in order])


def cross_entropy(d, weight, sigma=1.0, margin=0.0):
    return weight * sigma / (1 + math.exp(sigma * (d - margin)))


def pair_lambdas(scores, labels, measure, force, neighbours=None, weights=None, alpha=0.0):
    """``force(d, Δ, N)`` on the better document of each pair, the opposite on the worse one."""
    n, order, worth = len(scores), ranked(scores), MEASURES[measure][2]
    weights = weights or [1.0] * n
    constant = MEASURES[measure][1](labels)
    out = [0.0] * n
    for a in range(n):
        for b in range(a + 1, n if neighbours is None else min(n, a + neighbours + 1)):
            i, j = order[a], order[b]
            way = sign(worth(labels[i]) - worth(labels[j]))
            if way:
                pull = way * force(
                    way * (scores[i] - scores[j]), swap_gain(measure, labels, order, a, b), constant
                )
                out[i] += weights[i] * weights[j] * pull
                out[j] -= weights[i] * weights[j] * pull
    mean = sum(w * s for w, s in zip(weights, scores, strict=True)) / sum(weights)
    return [x - alpha * w * (s - mean) for x, w, s in zip(out, weights, scores, strict=True)]


def discrete_bounded(scores, labels, measure, unit=1.0):
    value, constant, worth = MEASURES[measure]
    order = ranked(scores)
    now = [labels[i] for i in order]
    bound = unit * constant(labels)
    out = [0.0] * len(scores)
    for a, i in enumerate(order):
        ideal = sorted((worth(x) for x in labels), reverse=True)
        places = [r for r, level in enumerate(ideal) if level == worth(labels[i])]
        to = min(places, key=lambda r: abs(r - a))
        moved = now[:a] + now[a + 1 :]
        moved.insert(to, labels[i])
        gain = min(max(value(moved) - value(now), -bound), bound)
        out[i] = gain if to < a else -gain
    mean = sum(out) / len(out)
    return [x - mean for x in out]
