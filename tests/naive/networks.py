"""Nets and RankNet as the papers write them, in float64, one number at a time where that is clearer."""

import itertools

import numpy as np


def split(sizes, weights):
    """The matrix and the offsets of each layer."""
    at, found = 0, []
    for n_in, n_out in itertools.pairwise(sizes):
        matrix = weights[at : at + n_in * n_out].reshape(n_out, n_in)
        found.append((matrix, weights[at + n_in * n_out : at + (n_in + 1) * n_out]))
        at += (n_in + 1) * n_out
    return found


def output(sizes, weights, x):
    """2005 equation 7 for one row, without a transfer function at the output."""
    layers = split(sizes, np.asarray(weights, float))
    values = np.asarray(x, float)
    for number, (matrix, offsets) in enumerate(layers):
        if number > 0:
            values = np.tanh(values)
        values = np.array([sum(w * v for w, v in zip(row, values, strict=True)) for row in matrix]) + offsets
    return values[0]


def pairs_of(labels, ties=False):
    """(better, worse, target) of one query, from its labels; NaN is unjudged."""
    n, found = len(labels), []
    for i in range(n):
        for j in range(n):
            if labels[i] > labels[j]:
                found.append((i, j, 1.0))
            elif ties and labels[i] == labels[j] and i < j:
                found.append((i, j, 0.5))
    return found


def pair_cost(difference, target, sigma=1.0):
    """2005 equation 1."""
    p = 1.0 / (1.0 + np.exp(-sigma * difference))
    with np.errstate(divide="ignore", invalid="ignore"):
        certain = -target * np.log(p) if target else 0.0
        return certain - ((1.0 - target) * np.log(1.0 - p) if target < 1.0 else 0.0)


def query_cost(sizes, weights, rows, pairs, sigma=1.0, document_weights=None):
    """The cost of one query's pairs."""
    w = np.ones(len(rows)) if document_weights is None else document_weights
    s = [output(sizes, weights, x) for x in rows]
    return sum(w[i] * w[j] * pair_cost(s[i] - s[j], target, sigma) for i, j, target in pairs)


def slopes(function, weights, width=1e-5):
    """The gradient by central differences."""
    gradient = np.empty(len(weights))
    for k in range(len(weights)):
        up, down = np.array(weights, float), np.array(weights, float)
        up[k] += width
        down[k] -= width
        gradient[k] = (function(up) - function(down)) / (2 * width)
    return gradient


def pair_gradient(sizes, weights, first, second, target, sigma=1.0):
    """2005 equations 12 to 15 for a two-layer net: the difference of two rows' gradients, times f′."""
    (w1, b1), (w2, _) = split(sizes, np.asarray(weights, float))
    hidden = [np.tanh(w1 @ x + b1) for x in (first, second)]
    o = w2[0] @ (hidden[0] - hidden[1])
    f = sigma * (1.0 / (1.0 + np.exp(-sigma * o)) - target)
    d3 = [f, f]
    d2 = [d * w2[0] * (1.0 - g**2) for d, g in zip(d3, hidden, strict=True)]
    return np.concatenate(
        [
            (np.outer(d2[0], first) - np.outer(d2[1], second)).ravel(),
            d2[0] - d2[1],
            d3[0] * hidden[0] - d3[1] * hidden[1],
            [d3[0] - d3[1]],
        ]
    )


def momentum(weights, gradients, rate, mu=0.0):
    """Weights after descending these gradients in turn."""
    w, v = np.array(weights, float), np.zeros(len(weights))
    for g in np.asarray(gradients, float):
        v = mu * v + g
        w -= rate * v
    return w


def adam(weights, gradients, rate, beta1=0.9, beta2=0.999, epsilon=1e-8):
    """The same by Adam's rule."""
    w, m, u = np.array(weights, float), np.zeros(len(weights)), np.zeros(len(weights))
    for t, g in enumerate(np.asarray(gradients, float), 1):
        m = beta1 * m + (1 - beta1) * g
        u = beta2 * u + (1 - beta2) * g**2
        w -= rate * (m / (1 - beta1**t)) / (np.sqrt(u / (1 - beta2**t)) + epsilon)
    return w


def kernel_value(function, gamma, degree, x, z):
    """k(x, z)."""
    if function == "rbf":
        return np.exp(-gamma * sum((a - b) ** 2 for a, b in zip(x, z, strict=True)))
    return (gamma * sum(a * b for a, b in zip(x, z, strict=True)) + 1.0) ** degree


def kernel_objective(alphas, matrix, pairs, strength, sigma=1.0):
    """2005 equation 17 at f = Σ αᵢ k(·, xᵢ) over the training documents; ``matrix`` is k(xᵢ, xⱼ)."""
    f = matrix @ alphas
    cost = sum(np.logaddexp(0, -sigma * (f[i] - f[j])) + (1 - t) * sigma * (f[i] - f[j]) for i, j, t in pairs)
    return cost + strength * alphas @ matrix @ alphas
