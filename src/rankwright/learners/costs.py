"""Nets trained on a cost of each query's scores, for learners whose cost is one kernel.

    ``slopes(n, scores, targets, weights, out)``    the cost of a query; ∂C/∂s of each document into ``out``

``targets`` and ``weights`` are the query's, one number a document, in the order of its documents.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwright.data import QuerySet
from rankwright.learners.nets import (
    TOO_FAR,
    Buffers,
    Crew,
    NetTraining,
    buffer_types,
    close_batch,
    crew_types,
    label_order,
    weights_of,
)
from rankwright.networks.forward import ONE, ZERO, Counts, Singles
from rankwright.networks.net import Floats, Net, net_types
from rankwright.networks.panels import Panels, backward_group, forward_group, panel_types
from rankwright.networks.training import Record
from rankwright.pairwise.cross_entropy import spread
from rankwright.runtime.errors import InputError
from rankwright.runtime.kernels import Kernel, function_type, kernel

SLOPES = "float64(uint64, float32[::1], float64[::1], float64[::1], float32[::1])"


class Aims(NamedTuple):
    """What costs are made of: the rows of query q begin at ``offsets[q]``, in the order of the panels."""

    offsets: Counts
    targets: Floats
    weights: Floats
    query_weights: Floats


def _aim_types() -> Any:
    import numba as nb

    line = nb.float64[::1]
    return nb.types.NamedTuple((nb.uint64[::1], line, line, line), Aims)


def _chunk_types() -> Any:
    import numba as nb

    return nb.float64(
        function_type(SLOPES), nb.uint64[::1], nb.uint64, nb.uint64, net_types(), panel_types(), _aim_types(),
        buffer_types(), nb.float32[::1],
    )  # fmt: skip


@kernel(_chunk_types)
def cost_chunk(
    slopes_of: Callable[..., float],
    order: Counts,
    begin: Any,
    end: Any,
    net: Net,
    panels: Panels,
    aims: Aims,
    buffers: Buffers,
    gradient: Singles,
) -> float:
    """Add the gradient of some queries; their cost, NaN where scores run away."""
    activations, scores, slopes, _ = buffers
    cost = 0.0
    for at in range(begin, end):
        q = order[at]
        start, stop, n = panels.starts[q], panels.starts[q + ONE], panels.counts[q]
        first = aims.offsets[q]
        # 1. All documents forward.
        forward_group(net.sizes, net.weights, panels.values, start, stop, activations, scores)
        if not spread(n, scores) < TOO_FAR:
            return np.nan
        # 2. The slope of each.
        slopes[n : stop - start] = np.float32(0)
        targets, weights = aims.targets[first : first + n], aims.weights[first : first + n]
        cost += aims.query_weights[q] * slopes_of(n, scores, targets, weights, slopes)
        for i in range(n):
            slopes[i] *= np.float32(aims.query_weights[q])
        # 3. All documents backward.
        backward_group(net.sizes, net.weights, panels.values, start, stop, slopes, activations, gradient)
    return cost


def _epoch_types() -> Any:
    import numba as nb

    return nb.void(
        function_type(SLOPES), nb.uint64[::1], nb.uint64, nb.float64[::1], net_types(), panel_types(),
        _aim_types(), crew_types(), buffer_types(),
    )  # fmt: skip


@kernel(_epoch_types)
def cost_epoch(
    slopes_of: Callable[..., float],
    order: Counts,
    batch: Any,
    rates: Floats,
    net: Net,
    panels: Panels,
    aims: Aims,
    crew: Crew,
    buffers: Buffers,
) -> None:
    """One pass over the queries in this order, with an update a batch; each thread does some chunks of it."""
    queries, chunks = np.uint64(order.size), np.uint64(crew.costs.size)
    for begin in range(ZERO, queries, batch):
        size = min(batch, queries - begin)
        for chunk in range(np.uint64(crew.thread), chunks, np.uint64(crew.threads)):
            crew.costs[chunk] += cost_chunk(
                slopes_of, order, begin + size * chunk // chunks, begin + size * (chunk + ONE) // chunks,
                net, panels, aims, buffers, crew.gradients[chunk],
            )  # fmt: skip
        if not close_batch(crew, rates, np.float64(size) / np.float64(queries), net):
            return


class CostTraining:
    """A net to be trained on a cost of each query's judged documents, highest labels first.

    ``levels`` are the labels in that order, ``queries_of`` the number of the query of each.
    """

    def __init__(
        self, learner: Any, queries: QuerySet, valid: QuerySet | None, slopes: Kernel, *, offset: bool = False
    ):
        assert queries.labels is not None
        order = label_order(queries)
        rows = np.concatenate([first + own for first, own in zip(queries.offsets, order, strict=False)])
        self.sizes = np.array([len(own) for own in order])
        self.offsets = np.concatenate([[0], np.cumsum(self.sizes)])
        self.levels: Floats = queries.labels[rows]
        self.query_of: NDArray[np.int64] = np.repeat(np.arange(queries.n_queries), self.sizes)
        documents, own = weights_of(queries)
        self.weights: Floats = documents[rows]
        self.aims = Aims(self.offsets.astype(np.uint64), np.zeros(len(rows)), self.weights, own)
        self.training = NetTraining(learner, queries, valid, order, offset=offset)
        self._slopes, self._batch = slopes, np.uint64(learner.batch_size)

    def run(
        self,
        trained: NDArray[np.int64],
        aim: Callable[[Aims], None],
        total: float,
        progress: Callable[[Record], None] | None,
    ) -> None:
        """Train on these queries; ``aim`` sets the targets before each epoch, ``total`` divides its cost."""
        slopes, training = self._slopes.compiled, self.training

        def once(order: Counts, rates: Floats) -> Record:
            aim(self.aims)
            cost, finite = training.together(
                lambda crew, buffers: cost_epoch(
                    slopes, order, self._batch, rates, training.net, training.panels, self.aims, crew, buffers
                )
            )
            return {"cost": cost / total, "loss": cost / total, "finite": finite}

        training.run(trained, once, progress)

    def differing(self) -> NDArray[np.int64]:
        """The queries with documents of different labels and with a weight; refused if there is none."""
        found = [
            query
            for query, (begin, end) in enumerate(itertools.pairwise(self.offsets))
            if end > begin
            and self.levels[begin] > self.levels[end - 1]
            and self.aims.query_weights[query] > 0
            and self.weights[begin:end].sum() > 0
        ]
        if not found:
            raise InputError(
                "there is nothing to learn from: no query has two documents with different labels (and "
                "weights above 0); give graded labels"
            )
        return np.array(found)
