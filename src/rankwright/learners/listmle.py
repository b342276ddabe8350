"""ListMLE (Xia, Liu, Wang, Zhang and Li 2008): a net under which the labelled order is as likely as can be.

    P(π) = Π over ranks r of  e^s(π(r)) / Σ over ranks q ≥ r of e^s(π(q))      (Plackett and Luce)
    C = −ln P(π),   ∂C/∂sₖ = Σ over ranks r down to that of k of  e^sₖ / Σ over ranks q ≥ r of e^s(π(q))   − 1

π has the highest labels first. Labels leave the order of equal ones open; it is drawn anew each epoch. The
weight of a document is that of its factor, and multiplies its e^s.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from rankwright.data import QuerySet
from rankwright.learners.base import DEFAULT_MEASURE, Ranker
from rankwright.learners.costs import SLOPES, Aims, CostTraining
from rankwright.learners.nets import NetParameters
from rankwright.measures import Measure
from rankwright.networks.forward import ONE, Singles
from rankwright.networks.net import Floats
from rankwright.networks.training import Record
from rankwright.runtime.kernels import kernel


@kernel(SLOPES)
def likelihood_slopes(n: Any, scores: Singles, targets: Floats, weights: Floats, out: Singles) -> float:
    """−ln P of one query, and its slopes; ``targets[r]`` is the number of the document of rank r."""
    below = np.empty(n)  # ln of the sum of w·e^s from rank r down
    total = -np.inf
    for back in range(n):
        r = n - ONE - back
        k = np.uint64(targets[r])
        if weights[k] > 0.0:
            total = added(total, scores[k] + np.log(weights[k]))
        below[r] = total
    cost, above = 0.0, -np.inf  # ln of the sum of w / (that sum) up to rank r
    for r in range(n):
        k = np.uint64(targets[r])
        out[k] = np.float32(0)
        if weights[k] > 0.0:
            cost += weights[k] * (below[r] - scores[k])
            above = added(above, np.log(weights[k]) - below[r])
            out[k] = np.float32(weights[k] * (np.exp(scores[k] + above) - 1.0))
    return cost


@kernel("float64(float64, float64)")
def added(a: float, b: float) -> float:
    """ln (e^a + e^b)."""
    high, low = max(a, b), min(a, b)
    return high if low == -np.inf else high + np.log1p(np.exp(low - high))


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class ListMLE(NetParameters, Ranker):
    """A linear, two-layer or deeper net on the likelihood of the whole labelled order.

    The parameters are ``NetParameters``; the net is linear, as the paper's, unless ``hidden`` says more.

    >>> X = np.random.default_rng(0).standard_normal((100, 3))
    >>> y, qid = np.round(X[:, 0]).clip(0, 2), np.repeat(np.arange(10), 10)
    >>> ListMLE(epochs=20, learning_rate=0.01).fit(X, y, qid=qid).score(X, y, qid=qid) > 0.95
    True
    """

    measure: str | Measure = DEFAULT_MEASURE
    hidden: int | tuple[int, ...] = 0

    paper = "Xia et al. 2008"

    def _fit(
        self, queries: QuerySet, valid: QuerySet | None, progress: Callable[[Record], None] | None = None
    ) -> None:
        training = CostTraining(self, queries, valid, likelihood_slopes)
        trained = training.differing()
        random = training.training.random

        def aim(aims: Aims) -> None:
            order = np.lexsort((random.random(len(training.levels)), -training.levels, training.query_of))
            aims.targets[:] = order - training.offsets[training.query_of]

        training.run(trained, aim, float(training.aims.query_weights[trained].sum()), progress)
