"""ListNet (Cao, Qin, Liu, Tsai and Li 2007): a net trained on the probability of each document to be first.

    P_y(j) = e^yⱼ / Σ e^yₖ,   P_s(j) = e^sⱼ / Σ e^sₖ        (top-one probabilities, of labels and of scores)
    C = −Σ P_y(j) ln P_s(j),  ∂C/∂sⱼ = P_s(j) − P_y(j)

A document of weight w counts as w documents: each e^y and e^s is times w. The paper's net is linear,
and follows the gradient query by query.
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
from rankwright.networks.forward import Singles
from rankwright.networks.net import Floats
from rankwright.networks.training import Record
from rankwright.runtime.kernels import kernel


@kernel(SLOPES)
def top_one_slopes(n: Any, scores: Singles, targets: Floats, weights: Floats, out: Singles) -> float:
    """The cross entropy of one query's top-one probabilities, and its slopes; ``targets`` are labels."""
    highest, label = -np.inf, -np.inf
    for j in range(n):
        highest, label = max(highest, np.float64(scores[j])), max(label, targets[j])
    total, wanted = 0.0, 0.0
    for j in range(n):
        total += weights[j] * np.exp(scores[j] - highest)
        wanted += weights[j] * np.exp(targets[j] - label)
    if not (total > 0.0 and wanted > 0.0):  # of no weight, as far as floats can tell
        out[:n] = np.float32(0)
        return 0.0
    cost = 0.0
    for j in range(n):
        target = weights[j] * np.exp(targets[j] - label) / wanted
        out[j] = np.float32(weights[j] * np.exp(scores[j] - highest) / total - target)
        cost -= target * (scores[j] - highest - np.log(total))
    return cost


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class ListNet(NetParameters, Ranker):
    """A linear, two-layer or deeper net on the probability of each document to stand first in its list.

    The parameters are ``NetParameters``; the net is linear, as the paper's, unless ``hidden`` says more.

    >>> X = np.random.default_rng(0).standard_normal((100, 3))
    >>> y, qid = np.round(X[:, 0]).clip(0, 2), np.repeat(np.arange(10), 10)
    >>> ListNet(epochs=20, learning_rate=0.01).fit(X, y, qid=qid).score(X, y, qid=qid) > 0.95
    True
    """

    measure: str | Measure = DEFAULT_MEASURE
    hidden: int | tuple[int, ...] = 0

    paper = "Cao et al. 2007"

    def _fit(
        self, queries: QuerySet, valid: QuerySet | None, progress: Callable[[Record], None] | None = None
    ) -> None:
        training = CostTraining(self, queries, valid, top_one_slopes)
        trained = training.differing()

        def aim(aims: Aims) -> None:
            aims.targets[:] = training.levels

        training.run(trained, aim, float(training.aims.query_weights[trained].sum()), progress)
