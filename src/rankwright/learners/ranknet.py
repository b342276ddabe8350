"""RankNet: a net trained on the cross entropy of pairs (2005; trained by queries as in 2006 section 5).

    minimise  Σ over pairs  w (−P̄ᵢⱼ ln Pᵢⱼ − (1 − P̄ᵢⱼ) ln(1 − Pᵢⱼ)),     Pᵢⱼ = 1 / (1 + e^(−σ(sᵢ − sⱼ)))

Its three trainings differ in when they update, and in what a pair costs:

    "pair"  an update a pair. Both documents go forward, their activations are stored, and the difference of
            their gradients is followed at once (2005 equations 12 to 15).
    "v1"    an update a query (or batch), the gradient summed pair by pair: both documents of each pair go
            forward and backward (2006 section 6.1, the baseline).
    "v2"    the same gradient, factored: ∂C/∂w = Σᵢ λᵢ ∂sᵢ/∂w with λᵢ the sum over the pairs of document i,
            so each document goes forward and backward once (2006 equation 7), with both speed-ups of its
            footnote: activations are stored, so there are n forward passes and not 2n, and e^s is computed
            once a document and not once a pair.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from rankwright.data import QuerySet
from rankwright.learners.base import DEFAULT_MEASURE, Ranker
from rankwright.learners.nets import (
    TOO_FAR,
    Buffers,
    Crew,
    NetParameters,
    NetTraining,
    buffer_types,
    close_batch,
    crew_types,
    label_order,
    pairs_of,
    rows_of,
    update,
    weights_of,
)
from rankwright.measures import Measure
from rankwright.networks.backward import backward_one
from rankwright.networks.forward import ONE, ZERO, Counts, Singles, forward_one
from rankwright.networks.net import Floats, Net, net_types
from rankwright.networks.panels import Panels, backward_group, forward_group, panel_types
from rankwright.networks.training import Record
from rankwright.pairwise.cross_entropy import pair_slope, spread
from rankwright.pairwise.tasks import (
    Task,
    check_pairs,
    check_settings,
    query_slopes,
    task_of_labels,
    task_of_pairs,
    task_types,
)
from rankwright.runtime.errors import InputError
from rankwright.runtime.kernels import kernel

TRAININGS = ("v2", "v1", "pair")


def _chunk_types() -> Any:
    import numba as nb

    size = nb.uint64
    return nb.float64(
        nb.uint64[::1], size, size, net_types(), panel_types(), task_types(), buffer_types(), nb.float32[::1]
    )


@kernel(_chunk_types)
def factored_chunk(
    order: Counts,
    begin: Any,
    end: Any,
    net: Net,
    panels: Panels,
    task: Task,
    buffers: Buffers,
    gradient: Singles,
) -> float:
    """Add the gradient of some queries; their cost, NaN where scores run away."""
    activations, scores, slopes, scratch = buffers
    cost = 0.0
    for at in range(begin, end):
        q = order[at]
        start, stop, n = panels.starts[q], panels.starts[q + ONE], panels.counts[q]
        # 1. All documents forward.
        forward_group(net.sizes, net.weights, panels.values, start, stop, activations, scores)
        if not spread(n, scores) * task.sigma < TOO_FAR:
            return np.nan
        # 2. The slope of each, from all of its pairs.
        cost += query_slopes(task, q, n, start, stop, scores, scratch, slopes)
        # 3. All documents backward.
        backward_group(net.sizes, net.weights, panels.values, start, stop, slopes, activations, gradient)
    return cost


def _factored_types() -> Any:
    import numba as nb

    return nb.void(
        nb.uint64[::1], nb.uint64, nb.float64[::1], net_types(), panel_types(), task_types(), crew_types(),
        buffer_types(),
    )  # fmt: skip


@kernel(_factored_types)
def factored_epoch(
    order: Counts,
    batch: Any,
    rates: Floats,
    net: Net,
    panels: Panels,
    task: Task,
    crew: Crew,
    buffers: Buffers,
) -> None:
    """One pass over the queries in this order, with an update a batch; each thread does some chunks of it."""
    queries, chunks = np.uint64(order.size), np.uint64(crew.costs.size)
    for begin in range(ZERO, queries, batch):
        size = min(batch, queries - begin)
        for chunk in range(np.uint64(crew.thread), chunks, np.uint64(crew.threads)):
            crew.costs[chunk] += factored_chunk(
                order, begin + size * chunk // chunks, begin + size * (chunk + ONE) // chunks,
                net, panels, task, buffers, crew.gradients[chunk],
            )  # fmt: skip
        if not close_batch(crew, rates, np.float64(size) / np.float64(queries), net):
            return


def _paired_types() -> Any:
    import numba as nb

    return nb.types.Tuple((nb.float64, nb.boolean))(
        nb.uint64[::1], nb.uint64, nb.boolean, nb.float64[::1], net_types(), nb.float32[:, ::1], task_types()
    )


@kernel(_paired_types)
def paired_epoch(
    order: Counts, batch: Any, each: bool, rates: Floats, net: Net, rows: Singles, task: Task
) -> tuple[float, bool]:
    """One pass, pair by pair, with an update a batch of queries or after ``each`` pair."""
    cost, queries, units = 0.0, np.uint64(order.size), ZERO
    for layer in range(ONE, np.uint64(net.sizes.size)):
        units += net.sizes[layer]
    first, second = np.empty(units, np.float32), np.empty(units, np.float32)
    for begin in range(ZERO, queries, batch):
        end = min(begin + batch, queries)
        for at in range(begin, end):
            q = order[at]
            for p in range(task.begins[q], task.begins[q + ONE]):
                high, low = rows[np.uint64(task.better[p])], rows[np.uint64(task.worse[p])]
                # 1. Both documents forward; their activations are stored.
                o1 = forward_one(net.sizes, net.weights, high, first)
                o2 = forward_one(net.sizes, net.weights, low, second)
                apart = task.sigma * (o1 - o2)
                if not abs(apart) < TOO_FAR:
                    return cost, False
                slope, part = pair_slope(apart, task.targets[p])
                weight = task.pair_weights[p] * np.float32(task.query_weights[q])
                cost += part * weight
                # 2. The difference of their gradients, times f′.
                slope *= task.sigma * weight
                backward_one(net.sizes, net.weights, high, first, slope, net.gradient)
                backward_one(net.sizes, net.weights, low, second, -slope, net.gradient)
                # 3. An update.
                share = 1.0 / np.float64(task.better.size)
                if each and not update(rates, share, net):
                    return cost, False
        share = np.float64(end - begin) / np.float64(queries)
        if not each and not update(rates, share, net):
            return cost, False
    return cost, True


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class RankNet(NetParameters, Ranker):
    """A linear, two-layer or deeper net on the probabilities of pairs.

    Pairs come from the labels, with those of equal labels left out (``ties="out"``) or trained to be equal
    (``"half"``), or from ``fit(…, preferences=[(better, worse[, probability[, weight]]), …])``, which names
    documents by their rows; labels are then needed only to ``score``. ``training`` is "v2", "v1" or "pair"
    (see the module), ``sigma`` the steepness σ of the probabilities. The rest is ``NetParameters``.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).standard_normal((100, 3))
    >>> y, qid = np.round(X[:, 0]).clip(0, 2), np.repeat(np.arange(10), 10)
    >>> RankNet(hidden=4, epochs=20, learning_rate=0.01).fit(X, y, qid=qid).score(X, y, qid=qid) > 0.9
    True
    """

    measure: str | Measure = DEFAULT_MEASURE
    training: str = "v2"
    ties: str = "out"
    sigma: float = 1.0

    paper = "2005"

    def _fit(
        self,
        queries: QuerySet,
        valid: QuerySet | None,
        preferences: Any = None,
        progress: Callable[[Record], None] | None = None,
    ) -> None:
        if self.training not in TRAININGS:
            raise InputError(f"training is {self.training!r}; it is one of {', '.join(TRAININGS)}")
        check_settings(self.ties, self.sigma)
        # 1. The documents, in the order that suits the pairs.
        by_labels = preferences is None and self.training == "v2"
        training = NetTraining(self, queries, valid, label_order(queries) if by_labels else None)
        # 2. The pairs, and the weight of those of each query.
        weights, query_weights = weights_of(queries)
        if by_labels:
            assert queries.labels is not None
            starts = training.panels.starts.astype(np.int64)
            task, total = task_of_labels(
                queries.labels,
                queries.offsets,
                starts,
                weights,
                query_weights,
                sigma=self.sigma,
                ties=self.ties,
            )
        else:
            pairs = pairs_of(queries, preferences, self.ties)
            task, total = task_of_pairs(pairs, queries.offsets, query_weights, sigma=self.sigma)
        trained = check_pairs(total)
        epoch = self._epoch(training, task)

        def once(order: Counts, rates: Floats) -> Record:
            cost, finite = epoch(order, rates)
            mean = float(cost / total.sum())
            return {"cost": mean, "loss": mean, "finite": finite}

        # 3. Descend.
        training.run(trained, once, progress)

    def _epoch(self, training: NetTraining, task: Task) -> Callable[[Counts, Floats], tuple[float, bool]]:
        net, panels, batch = training.net, training.panels, np.uint64(self.batch_size)
        if self.training == "v2":
            return lambda order, rates: training.together(
                lambda crew, buffers: factored_epoch(order, batch, rates, net, panels, task, crew, buffers)
            )
        rows, each = rows_of(training.queries, training.transform), self.training == "pair"
        return lambda order, rates: paired_epoch(order, batch, each, rates, net, rows, task)
