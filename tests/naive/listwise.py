"""ListNet's and ListMLE's costs, and RankProp's targets, from the definitions."""

import itertools
import math


def probability(order, scores):
    """Plackett and Luce: the probability that documents come in this order, one after the other."""
    left, found = list(range(len(scores))), 1.0
    for document in order:
        found *= math.exp(scores[document]) / sum(math.exp(scores[k]) for k in left)
        left.remove(document)
    return found


def top_one(scores):
    """The probability of each document to be first, as the sum over all orders in which it is."""
    n = len(scores)
    return [
        sum(probability(order, scores) for order in itertools.permutations(range(n)) if order[0] == j)
        for j in range(n)
    ]


def listnet(scores, labels):
    """The cross entropy of top-one probabilities."""
    return -sum(p * math.log(q) for p, q in zip(top_one(labels), top_one(scores), strict=True))


def listmle(scores, order, weights=None):
    """−ln P(order); a factor's weight is that of its document, and multiplies its e^s."""
    w = weights or [1.0] * len(scores)
    cost = 0.0
    for r, document in enumerate(order):
        rest = sum(w[k] * math.exp(scores[k]) for k in order[r:])
        cost += w[document] * (math.log(rest) - scores[document])
    return cost


def rankprop_targets(labels, outputs):
    """The mean rank of each document among those that its label and output leave open, from 0 to 1."""
    keys = list(zip(labels, outputs, strict=True))
    found = []
    for key in keys:
        below, same = sum(other < key for other in keys), sum(other == key for other in keys)
        found.append((below + (same - 1) / 2) / max(1, len(keys) - 1))
    return found
