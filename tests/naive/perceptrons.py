"""PRank (Crammer and Singer 2001, Figure 2) and OAP-BPM (Harrington 2003), one number at a time."""

import math


def quadratic(x):
    """The features, and the product of every two of them."""
    return [*x, *(x[i] * x[j] for i in range(len(x)) for j in range(i, len(x)))]


def dot(a, b):
    return sum(p * q for p, q in zip(a, b, strict=True))


def prank(documents, k, weights=None, w=None, b=None, product=dot):
    """Documents (x, y), y from 1 to k, in turn: (α of each correction, thresholds, losses).

    w is kept as the corrected documents, [(amount, x), …], so that ``product`` may be any kernel.
    """
    w, b = list(w or []), list(b or [0.0] * (k - 1))
    losses = []
    for t, (x, y) in enumerate(documents):
        c = 1.0 if weights is None else weights[t]
        score = sum(amount * product(other, x) for amount, other in w)
        bounds = [*b, math.inf]
        predicted = min(r for r in range(1, k + 1) if score - bounds[r - 1] < 0)
        losses.append(abs(predicted - y))
        if predicted != y:
            sides = [-1 if y <= r else 1 for r in range(1, k)]
            tau = [s if (score - bound) * s <= 0 else 0 for s, bound in zip(sides, b, strict=True)]
            w.append((c * sum(tau), x))
            b = [bound - c * each for bound, each in zip(b, tau, strict=True)]
    return w, b, losses


def as_weights(w, n):
    """Σ αᵢ xᵢ, where the product is the plain one."""
    return [sum(amount * x[f] for amount, x in w) for f in range(n)]


def oapbpm(documents, k, seen):
    """The mean weights and thresholds of perceptrons; ``seen[j][t]`` says whether j sees document t."""
    n = len(documents[0][0])
    made = []
    for mine in seen:
        w, b, _ = prank([each for each, taken in zip(documents, mine, strict=True) if taken], k)
        made.append((as_weights(w, n), b))
    mean = lambda rows: [sum(column) / len(rows) for column in zip(*rows, strict=True)]  # noqa: E731
    return mean([w for w, _ in made]), mean([b for _, b in made])
