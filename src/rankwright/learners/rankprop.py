"""RankProp (Caruana, Baluja and Mitchell 1996; a baseline of 2005): regression on ranks that the net chooses.

for each epoch:
    1.  sort all documents by label, those of one label by what the net makes of them
    2.  the target of a document is its rank in this order, scaled to [0, 1]
    3.  an epoch of regression: descend Σ ½ (output − target)²

Equal labels leave the order of their documents to the net, so that what it has to learn is any function that
ranks, not the labels' values. Documents that it cannot tell apart share the mean of their ranks.
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
from rankwright.runtime.errors import InputError
from rankwright.runtime.kernels import kernel


@kernel(SLOPES)
def regression_slopes(n: Any, scores: Singles, targets: Floats, weights: Floats, out: Singles) -> float:
    """Half the squared error of one query, and its slopes."""
    cost = 0.0
    for i in range(n):
        error = scores[i] - targets[i]
        out[i] = np.float32(weights[i] * error)
        cost += 0.5 * weights[i] * error * error
    return cost


def rank_targets(levels: Floats, outputs: Floats) -> Floats:
    """Ranks by level and within a level by output, scaled to [0, 1]; equals share the mean of their ranks.

    >>> rank_targets(np.array([0.0, 1.0, 0.0, 1.0]), np.array([0.9, 0.1, 0.2, 0.1])).round(3)
    array([0.333, 0.833, 0.   , 0.833])
    """
    n = len(levels)
    order = np.lexsort((outputs, levels))
    differs = (np.diff(levels[order]) != 0) | (np.diff(outputs[order]) != 0)
    starts = np.concatenate([[0], np.flatnonzero(differs) + 1])
    sizes = np.diff(np.append(starts, n))
    targets = np.empty(n)
    targets[order] = np.repeat(starts + (sizes - 1) / 2, sizes) / max(1, n - 1)
    return targets


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class RankProp(NetParameters, Ranker):
    """A net on its own ranks: it regresses on them, and they are adjusted to it, epoch by epoch.

    Labels are compared over all queries. Training ends after ``epochs``, or once the error has been the same
    for ``unchanged_epochs``. The rest is ``NetParameters``; the net is linear, as 2005's, unless
    ``hidden`` says more.

    >>> X = np.random.default_rng(0).standard_normal((100, 3))
    >>> y, qid = np.round(X[:, 0]).clip(0, 2), np.repeat(np.arange(10), 10)
    >>> RankProp(epochs=40, learning_rate=0.01).fit(X, y, qid=qid).score(X, y, qid=qid) > 0.95
    True
    """

    measure: str | Measure = DEFAULT_MEASURE
    hidden: int | tuple[int, ...] = 0
    unchanged_epochs: int | None = 10

    paper = "2005"

    def _fit(
        self, queries: QuerySet, valid: QuerySet | None, progress: Callable[[Record], None] | None = None
    ) -> None:
        training = CostTraining(self, queries, valid, regression_slopes, offset=True)
        total = float((training.weights * training.aims.query_weights[training.query_of]).sum())
        if len(np.unique(training.levels)) < 2 or not total > 0:
            raise InputError("there is nothing to learn from: all labels are the same; give graded labels")

        def aim(aims: Aims) -> None:
            outputs = training.training.scores(training.training.panels)
            aims.targets[:] = rank_targets(training.levels, outputs)

        training.run(np.flatnonzero(training.sizes), aim, total, progress)
