"""Max-margin learning as the papers write it, pair by pair; worst orderings for the AUC by sign."""

import numpy as np


def auc_worst(X, labels, w):
    """2008 equation 8: Δ and δφ of one query's worst ordering, the sign of each pair by itself."""
    good, bad = np.flatnonzero(labels > 0), np.flatnonzero(labels <= 0)
    loss, vector = 0.0, np.zeros(X.shape[1])
    for g in good:
        for b in bad:
            if (X[g] - X[b]) @ w - 0.5 < 0:
                loss += 1 / (len(good) * len(bad))
                vector += 2 / (len(good) * len(bad)) * (X[g] - X[b])
    return loss, vector


class AUC:
    """The problem of SVMAUC; a query without good or without bad documents has share 0."""

    def __init__(self, X, labels, qid):
        self.queries = [(X[qid == q], labels[qid == q]) for q in np.unique(qid)]
        trains = np.array([0 < (y > 0).sum() < len(y) for _, y in self.queries])
        self.shares = trains / trains.sum()
        self.n_features = X.shape[1]

    def worst(self, w, blocks=None):
        chosen = self.queries if blocks is None else [self.queries[b] for b in blocks]
        found = [auc_worst(X, y, w) for X, y in chosen]
        return np.array([loss for loss, _ in found]), np.array([vector for _, vector in found])

    def pairs(self):
        """Its pairs' differences and bounds: each is Σ bound · max(0, 1 − w·difference)."""
        rows, bounds = [], []
        for (X, y), share in zip(self.queries, self.shares, strict=True):
            good, bad = X[y > 0], X[y <= 0]
            for g in good:
                for b in bad:
                    rows.append(2 * (g - b))
                    bounds.append(share / (len(good) * len(bad)))
        return np.array(rows), np.array(bounds)


def hinge_optimum(differences, bounds):
    """The least ½|w|² + Σ bound · max(0, 1 − w·d), by its dual in a box; and w."""
    from scipy.optimize import minimize

    def dual(alpha):
        w = alpha @ differences
        return 0.5 * w @ w - alpha.sum(), differences @ w - 1

    found = minimize(
        dual, np.zeros(len(bounds)), jac=True, method="L-BFGS-B", bounds=[(0, b) for b in bounds],
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10000, "maxfun": 100000},
    )  # fmt: skip
    return -found.fun, found.x @ differences


def planes_optimum(losses, vectors, shares, C):
    """The least ½|w|² + C Σ r ξ over listed planes, by block, as one programme in (w, ξ) by SciPy's SLSQP."""
    from scipy.optimize import minimize

    n, planes = losses.shape
    rows, bounds, d = vectors.reshape(n * planes, -1), losses.ravel(), vectors.shape[2]
    of, costs = np.repeat(np.eye(n), planes, axis=0), C * np.asarray(shares)
    above = {
        "type": "ineq",
        "fun": lambda z: rows @ z[:d] + of @ z[d:] - bounds,
        "jac": lambda z: np.hstack([rows, of]),
    }
    found = minimize(
        lambda z: (0.5 * z[:d] @ z[:d] + costs @ z[d:], np.append(z[:d], costs)),
        np.append(np.zeros(d), np.full(n, losses.max())), jac=True, constraints=[above],
        bounds=[(None, None)] * d + [(0, None)] * n, options={"ftol": 1e-12, "maxiter": 500},
    )  # fmt: skip
    return found.fun


def hinge_losses(scores, labels, weights, squared):
    """Σ over pairs of w_i w_j h (or h²), its slope by each score, and the weight of pairs with h > 0."""
    total, violated, slopes = 0.0, 0.0, np.zeros(len(scores))
    for i in range(len(scores)):
        for j in range(len(scores)):
            h = 1 - scores[i] + scores[j]
            if labels[i] > labels[j] and h > 0:
                weight = weights[i] * weights[j]
                total += weight * (h * h if squared else h)
                violated += weight
                slope = weight * (2 * h if squared else 1)
                slopes[i] -= slope
                slopes[j] += slope
    return total, slopes, violated
