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

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwright.data import QuerySet
from rankwright.learners.base import DEFAULT_MEASURE, Ranker
from rankwright.learners.nets import TOO_FAR, Buffers, NetTraining, buffer_types, rows_of, update, weights_of
from rankwright.measures import Measure
from rankwright.networks.backward import backward_one
from rankwright.networks.forward import ONE, ZERO, Counts, Singles, forward_one
from rankwright.networks.net import Floats, Net, net_types
from rankwright.networks.panels import Panels, backward_group, forward_group, panel_types
from rankwright.networks.training import Record
from rankwright.pairwise.cross_entropy import label_slopes, listed_slopes, pair_slope, spread
from rankwright.pairwise.pairs import Pairs, Rows, by_label, pairs_of_labels, pairs_of_preferences
from rankwright.runtime.errors import InputError
from rankwright.runtime.kernels import kernel

TRAININGS = ("v2", "v1", "pair")
TIES = ("out", "half")


class Task(NamedTuple):
    """The pairs: all those of different labels (``by_label``), or those listed.

    By label, ``ends`` and ``weights`` are of documents in the panels, highest labels first within a query.
    Listed pairs are by stored row: ``first`` is that of each query, ``begins`` its first pair.
    """

    sigma: np.float32
    query_weights: Floats
    by_label: bool
    ties: bool
    ends: Rows
    weights: Singles
    first: Counts
    begins: Counts
    better: Rows
    worse: Rows
    targets: Singles
    pair_weights: Singles


def _task_types() -> Any:
    import numba as nb

    rows, singles, counts = nb.uint32[::1], nb.float32[::1], nb.uint64[::1]
    return nb.types.NamedTuple(
        (nb.float32, nb.float64[::1], nb.boolean, nb.boolean, rows, singles,
         counts, counts, rows, rows, singles, singles), Task,
    )  # fmt: skip


def _factored_types() -> Any:
    import numba as nb

    return nb.types.Tuple((nb.float64, nb.boolean))(
        nb.uint64[::1], nb.uint64, nb.float64[::1], net_types(), panel_types(), _task_types(), buffer_types()
    )


@kernel(_factored_types)
def factored_epoch(
    order: Counts, batch: Any, rates: Floats, net: Net, panels: Panels, task: Task, buffers: Buffers
) -> tuple[float, bool]:
    """One pass over the queries in this order; the cost, and whether all is finite."""
    activations, scores, slopes, scratch = buffers
    cost, queries = 0.0, np.uint64(order.size)
    for begin in range(ZERO, queries, batch):
        end = min(begin + batch, queries)
        for at in range(begin, end):
            q = order[at]
            start, stop, n = panels.starts[q], panels.starts[q + ONE], panels.counts[q]
            # 1. All documents forward.
            forward_group(net.sizes, net.weights, panels.values, start, stop, activations, scores)
            if not spread(n, scores) * task.sigma < TOO_FAR:
                return cost, False
            # 2. The slope of each, from all of its pairs.
            slopes[n : stop - start] = np.float32(0)
            if task.by_label:
                part = label_slopes(
                    n, scores, task.weights[start:stop], task.ends[start:stop], task.sigma, task.ties,
                    scratch, slopes,
                )  # fmt: skip
            else:
                part = listed_slopes(
                    task.first[q], n, task.begins[q], task.begins[q + ONE], scores,
                    task.better, task.worse, task.targets, task.pair_weights, task.sigma, slopes,
                )  # fmt: skip
            cost += part * task.query_weights[q]
            for i in range(n):
                slopes[i] *= np.float32(task.query_weights[q])
            # 3. All documents backward.
            backward_group(
                net.sizes, net.weights, panels.values, start, stop, slopes, activations, net.gradient
            )
        # 4. One update.
        share = np.float64(end - begin) / np.float64(queries)
        if not update(rates, share, net):
            return cost, False
    return cost, True


def _paired_types() -> Any:
    import numba as nb

    return nb.types.Tuple((nb.float64, nb.boolean))(
        nb.uint64[::1], nb.uint64, nb.boolean, nb.float64[::1], net_types(), nb.float32[:, ::1], _task_types()
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


class RankNet(Ranker):
    """A linear, two-layer or deeper net on the probabilities of pairs.

    ``hidden`` is 0 (linear), a number of tanh units, or one number a layer. Pairs come from the labels, with
    those of equal labels left out (``ties="out"``) or trained to be equal (``"half"``), or from
    ``fit(…, preferences=[(better, worse[, probability[, weight]]), …])``, which names documents by their
    rows; labels are then needed only to ``score``. ``training`` is "v2", "v1" or "pair": see the module.

    ``init``: "scaled" or "small" random weights, layers of weights, or a fitted net to go on from.
    ``standardise`` puts the features on one scale inside the model. The schedules (``decay``,
    ``decay_chance``, ``restart_rounds``) are those of ``networks.training.Descent``; the net of the best
    epoch is kept, by ``measure`` on ``valid`` or else by the training cost.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).standard_normal((100, 3))
    >>> y, qid = np.round(X[:, 0]).clip(0, 2), np.repeat(np.arange(10), 10)
    >>> RankNet(hidden=4, epochs=20, learning_rate=0.01).fit(X, y, qid=qid).score(X, y, qid=qid) > 0.9
    True
    """

    paper = "2005"

    def __init__(
        self,
        *,
        hidden: int | tuple[int, ...] = 10,
        measure: str | Measure = DEFAULT_MEASURE,
        training: str = "v2",
        ties: str = "out",
        sigma: float = 1.0,
        init: Any = "scaled",
        standardise: bool = True,
        epochs: int = 100,
        learning_rate: float = 0.001,
        optimiser: str = "adam",
        momentum: float = 0.0,
        batch_size: int = 1,
        decay: float = 1.0,
        decay_chance: float = 1.0,
        restart_rounds: int | None = None,
        early_stopping_rounds: int | None = None,
        l2_regularization: float = 0.0,
        random_state: Any = 0,
    ):
        self.hidden = hidden
        self.measure = measure
        self.training = training
        self.ties = ties
        self.sigma = sigma
        self.init = init
        self.standardise = standardise
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.optimiser = optimiser
        self.momentum = momentum
        self.batch_size = batch_size
        self.decay = decay
        self.decay_chance = decay_chance
        self.restart_rounds = restart_rounds
        self.early_stopping_rounds = early_stopping_rounds
        self.l2_regularization = l2_regularization
        self.random_state = random_state

    def _fit(
        self,
        queries: QuerySet,
        valid: QuerySet | None,
        preferences: Any = None,
        progress: Callable[[Record], None] | None = None,
    ) -> None:
        self._check()
        # 1. The pairs, and the documents in the order that suits them.
        by_labels = preferences is None and self.training == "v2"
        order = [by_label(labels)[0] for labels in split(queries)] if by_labels else None
        training = NetTraining(self, queries, valid, order)
        # 2. The epoch that goes with the training, and the weight of each query's pairs.
        if order is not None:
            task, weight = self._by_label(training, order)
        else:
            task, weight = self._listed(queries, self._pairs(queries, preferences))
        trained = np.flatnonzero(weight)
        if not len(trained):
            raise InputError(
                "there are no pairs to learn from: no query has two documents with different labels (and "
                "weights above 0); give graded labels, preferences, or ties='half'"
            )
        epoch = self._epoch(training, task)

        def once(order: Counts, rates: Floats) -> Record:
            cost, finite = epoch(order, rates)
            mean = float(cost / weight.sum())
            return {"cost": mean, "loss": mean, "finite": finite}

        # 3. Descend.
        training.run(trained, once, progress)

    def _epoch(self, training: NetTraining, task: Task) -> Callable[[Counts, Floats], tuple[float, bool]]:
        net, panels, batch = training.net, training.panels, np.uint64(self.batch_size)
        if self.training == "v2":
            room = training.buffers
            return lambda order, rates: factored_epoch(order, batch, rates, net, panels, task, room)
        rows, each = rows_of(training.queries, training.transform), self.training == "pair"
        return lambda order, rates: paired_epoch(order, batch, each, rates, net, rows, task)

    def _by_label(self, training: NetTraining, order: list[NDArray[np.int64]]) -> tuple[Task, Floats]:
        queries, starts = training.queries, training.panels.starts.astype(np.int64)
        documents, own = weights_of(queries)
        ends, weights = np.zeros(starts[-1], np.uint32), np.zeros(starts[-1], np.float32)
        total = np.zeros(queries.n_queries)
        for query, labels in enumerate(split(queries)):
            inner = slice(starts[query], starts[query] + len(order[query]))
            ends[inner] = below = by_label(labels)[1]
            weights[inner] = given = documents[queries.offsets[query] + order[query]]
            rest = np.concatenate([np.cumsum(given[::-1])[::-1], [0.0]])
            partners = rest[1:] if self.ties == "half" else rest[below]
            total[query] = own[query] * (given @ partners)
        return self._task(own, ends=ends, weights=weights, by_label=True), total

    def _listed(self, queries: QuerySet, pairs: Pairs) -> tuple[Task, Floats]:
        own = weights_of(queries)[1]
        sums = np.concatenate([[0.0], np.cumsum(pairs.weights, dtype=np.float64)])
        task = self._task(
            own, first=queries.offsets[:-1].astype(np.uint64), begins=pairs.offsets.astype(np.uint64),
            better=pairs.better, worse=pairs.worse, targets=pairs.targets, pair_weights=pairs.weights,
        )  # fmt: skip
        return task, np.diff(sums[pairs.offsets]) * own

    def _task(self, query_weights: Floats, **fields: Any) -> Task:
        rows, singles, counts = np.zeros(0, np.uint32), np.zeros(0, np.float32), np.zeros(0, np.uint64)
        empty = Task(
            np.float32(self.sigma), query_weights, False, self.ties == "half", rows, singles, counts, counts,
            rows, rows, singles, singles,
        )  # fmt: skip
        return empty._replace(**fields)

    def _pairs(self, queries: QuerySet, preferences: Any) -> Pairs:
        weights = queries.sample_weight
        if preferences is not None:
            return pairs_of_preferences(preferences, queries.offsets, queries.rows, weights)
        assert queries.labels is not None
        return pairs_of_labels(queries.labels, queries.offsets, ties=self.ties == "half", weights=weights)

    def _check(self) -> None:
        if self.training not in TRAININGS:
            raise InputError(f"training is {self.training!r}; it is one of {', '.join(TRAININGS)}")
        if self.ties not in TIES:
            raise InputError(f"ties is {self.ties!r}; it is one of {', '.join(TIES)}")
        if not isinstance(self.sigma, int | float) or not 0 < self.sigma < np.inf:
            raise InputError(f"sigma is {self.sigma!r}; it is a number above 0")


def split(queries: QuerySet) -> list[NDArray[np.float64]]:
    """The labels of each query."""
    assert queries.labels is not None
    return np.split(queries.labels, queries.offsets[1:-1])
