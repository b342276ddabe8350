"""What the learners of nets share: the data in panels, the weights to start from, epochs, and the scorer."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwright.data import QuerySet
from rankwright.learners.adaptation import base_scorer, base_scores
from rankwright.learners.base import Ranker, generator, judge, tells_apart
from rankwright.measures import Measure
from rankwright.measures.lists import Lists
from rankwright.networks.forward import ONE, Counts, Singles
from rankwright.networks.net import Floats, Net, layers, n_weights, net, net_types, random_weights
from rankwright.networks.optimisers import LEARNING_RATE, STEPS, step
from rankwright.networks.panels import Panels, empty_panels, fill_group, score_groups
from rankwright.networks.training import Descent, Record
from rankwright.pairwise.pairs import Pairs, by_label, pairs_of_labels, pairs_of_preferences
from rankwright.pairwise.tasks import SCRATCH_LINES
from rankwright.runtime.arrays import Integers
from rankwright.runtime.barrier import meet, new_barrier
from rankwright.runtime.errors import InputError
from rankwright.runtime.kernels import kernel
from rankwright.runtime.threads import thread_count, together
from rankwright.scorers import LinearScorer, NetworkScorer, Scorer, Standardising, Sum, Transform
from rankwright.scorers.transform import UNCHANGED

STARTS = ("scaled", "small")
TOO_FAR = np.float32(1e6)
"""Scores of one query that lie so far apart, in units of 1/σ, are those of a net that has run away."""
ROWS_AT_ONCE = 1 << 14
CHUNKS = 16
"""Parts of a batch, each with a gradient of its own: the most threads that it can keep busy."""


class Buffers(NamedTuple):
    """Room for the longest query: activations, scores, slopes, and lines of scratch."""

    activations: Singles
    scores: Singles
    slopes: Singles
    scratch: Singles


def buffer_types() -> Any:
    """Numba's type of buffers."""
    import numba as nb

    singles = nb.float32[::1]
    return nb.types.NamedTuple((singles, singles, singles, nb.float32[:, ::1]), Buffers)


def _update_types() -> Any:
    import numba as nb

    return nb.boolean(nb.float64[::1], nb.float64, net_types())


@kernel(_update_types)
def update(rates: Floats, share: float, net: Net) -> bool:
    """One update of a net that ranks; whether its weights stay within bounds.

    The slopes of a query sum to 0, so the output's offset has no gradient (2005 equation 12 with a linear
    output), but for rounding, which Adam would blow up to full steps.
    """
    net.gradient[np.uint64(net.gradient.size) - ONE] = np.float32(0)
    return step(rates, share, net.decay, net.gradient, net.moments, net.exact, net.weights)


class Crew(NamedTuple):
    """The threads of an epoch: which of them this is, and what they share.

    A batch is cut into chunks, as many on any number of threads; each chunk has its own gradient and cost.
    ``offset`` says whether the output's offset is trained: a cost of differences of scores has no gradient.
    """

    thread: int
    threads: int
    barrier: Integers
    gradients: Singles
    costs: Floats
    ended: Integers
    offset: bool


def crew_types() -> Any:
    """Numba's type of a crew."""
    import numba as nb

    line = nb.int64[::1]
    return nb.types.NamedTuple(
        (nb.int64, nb.int64, line, nb.float32[:, ::1], nb.float64[::1], line, nb.boolean), Crew
    )


def _close_types() -> Any:
    import numba as nb

    return nb.boolean(crew_types(), nb.float64[::1], nb.float64, net_types())


@kernel(_close_types)
def close_batch(crew: Crew, rates: Floats, share: float, net: Net) -> bool:
    """Wait for all chunks of a batch, add up their gradients in order, and update; whether to go on.

    Training ends where a cost is NaN, which is how chunks tell of scores that have run away.
    """
    meet(crew.barrier, crew.threads)
    if crew.thread == 0:
        for chunk in range(crew.costs.size):
            for k in range(net.gradient.size):
                net.gradient[k] += crew.gradients[chunk, k]
                crew.gradients[chunk, k] = np.float32(0)
        if np.isnan(crew.costs.sum()):
            crew.ended[0] = 1
        elif crew.offset:
            finite = step(rates, share, net.decay, net.gradient, net.moments, net.exact, net.weights)
            crew.ended[0] = 0 if finite else 1
        elif not update(rates, share, net):
            crew.ended[0] = 1
    meet(crew.barrier, crew.threads)
    return bool(crew.ended[0] == 0)


def buffers(panels: Panels, sizes: tuple[int, ...]) -> Buffers:
    """Room for the longest of these queries."""
    longest = int(np.diff(panels.starts.astype(np.int64)).max(initial=0))
    room = lambda *shape: np.zeros(shape, np.float32)  # noqa: E731
    return Buffers(room(longest * sum(sizes[1:])), room(longest), room(longest), room(SCRATCH_LINES, longest))


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class NetParameters:
    """The parameters that all learners of nets share.

    ``hidden`` is 0 (linear), a number of tanh units, or one number a layer. ``init``: "scaled" or "small"
    random weights, layers of weights, or a fitted net (or its ``scorer_``) to go on from. ``standardise``
    puts the features on one scale inside the model. ``batch_size`` counts queries: 1 is an update a query.
    The schedules (``decay``, ``decay_chance``, ``restart_rounds``) are those of
    ``networks.training.Descent``. The net of the best epoch is kept: by ``measure`` on ``valid``, or else by
    how training went. Threads share the queries of a batch.
    """

    hidden: int | tuple[int, ...] = 10
    init: Any = "scaled"
    standardise: bool = True
    epochs: int = 100
    learning_rate: float = 0.001
    optimiser: str = "adam"
    momentum: float = 0.0
    batch_size: int = 1
    decay: float = 1.0
    decay_chance: float = 1.0
    restart_rounds: int | None = None
    early_stopping_rounds: int | None = None
    l2_regularization: float = 0.0
    random_state: Any = 0
    n_jobs: int | None = None


class NetTraining:
    """A net to be trained on queries.

    ``order`` gives, for each query, the rows of it that take part, in the order in which kernels shall see
    them (all of them in their own order, if it is not given). ``offset``: as ``Crew`` has it. ``base`` is a
    ranker whose scores the net's are added to.
    """

    def __init__(
        self,
        learner: Any,
        queries: QuerySet,
        valid: QuerySet | None,
        order: list[NDArray[np.int64]] | None = None,
        offset: bool = False,
        base: Any = None,
    ):
        self.learner, self.queries, self.offset = learner, queries, offset
        self.base = None if base is None else base_scorer(base, queries)
        self.begun = base_scores(self.base, queries)
        self.descent = Descent.of(learner)
        self.random = generator(learner.random_state)
        start = start_of(learner.init)
        self.transform: Transform = UNCHANGED
        if isinstance(start, Scorer):
            self.transform = start.transform
        elif learner.standardise:
            self.transform = Standardising.of(queries.features)
        self.sizes = (queries.n_features, *hidden_layers(learner.hidden), 1)
        self._how = start if isinstance(start, str) else "scaled"
        weights = self._random_weights() if isinstance(start, str) else given_weights(start, self.sizes)
        self.net: Net = net(self.sizes, weights, float(learner.l2_regularization))
        self.panels = panels_of(queries, self.transform, order)
        self.chunks = min(CHUNKS, int(learner.batch_size))
        self.threads = min(thread_count(learner.n_jobs), self.chunks)
        self.buffers = [buffers(self.panels, self.sizes) for _ in range(self.threads)]
        self._judged = None
        if valid is not None and valid.labels is not None:
            measured = judge(learner.selection_measure, valid)
            self._judged = measured, panels_of(valid, self.transform), base_scores(self.base, valid)

    def run(
        self,
        trained: NDArray[np.int64],
        epoch: Callable[[Counts, Floats], Record],
        progress: Callable[[Record], None] | None = None,
    ) -> None:
        """Train on these queries, and leave the learner with its scorer and history."""

        def once(order: NDArray[np.int64], rates: Floats) -> Record:
            record = epoch(trained[order].astype(np.uint64), rates)
            if not record.pop("finite"):
                raise InputError(
                    f"training diverged at step {int(rates[STEPS]):,} with a learning rate of "
                    f"{rates[LEARNING_RATE]:g}: the net's scores have no bound; lower learning_rate"
                )
            if self._judged is not None:
                mean, panels, begun = self._judged
                record["valid"] = mean(begun + self.scores(panels))
                if not np.isnan(record["valid"]):
                    record["value"] = record["valid"]
            return record

        history = self.descent.run(self.net, len(trained), once, self._random_weights, self.random, progress)
        self.learner.history_ = history
        self.learner.scorer_ = self._scorer(len(history))

    def together(self, epoch: Callable[[Crew, Buffers], Any]) -> tuple[float, bool]:
        """Run an epoch's kernel on all threads; its cost, and whether it came to its end."""
        barrier, ended = new_barrier(), np.zeros(1, np.int64)
        gradients = np.zeros((self.chunks, len(self.net.exact)), np.float32)
        costs = np.zeros(self.chunks)
        together(
            lambda thread: epoch(
                Crew(thread, self.threads, barrier, gradients, costs, ended, self.offset),
                self.buffers[thread],
            ),
            self.threads,
        )
        return float(costs.sum()), not ended[0]

    def scores(self, panels: Panels) -> Floats:
        """What the net, as it is now, makes of documents in panels, by stored row."""
        out = np.empty(int(panels.counts.sum()))
        score_groups(self.net.sizes, self.net.weights, *panels, out)
        return out

    def _random_weights(self) -> Floats:
        return random_weights(self.sizes, self._how, self.random)

    def _scorer(self, epochs: int) -> Scorer:
        about = self.learner._about(self.queries, epochs=epochs)
        if self.base is not None:
            return Sum([self.base, self._net_scorer({})], **about)
        return self._net_scorer(about)

    def _net_scorer(self, about: dict[str, Any]) -> Scorer:
        found = layers(self.sizes, self.net.exact)
        if len(found) == 1:
            [(matrix, offsets)] = found
            return LinearScorer(matrix[0], float(offsets[0]), transform=self.transform, **about)
        return NetworkScorer(found, transform=self.transform, **about)


def hidden_layers(hidden: Any) -> tuple[int, ...]:
    """The sizes of the hidden layers: none for 0, one for a number.

    >>> hidden_layers(0), hidden_layers(10), hidden_layers((20, 5))
    ((), (10,), (20, 5))
    """
    given = hidden if isinstance(hidden, tuple | list) else () if hidden == 0 else (hidden,)
    for size in given:
        if not isinstance(size, int | np.integer) or isinstance(size, bool) or size < 1:
            raise InputError(
                f"hidden is {hidden!r}; give 0 for a linear net, a number of units, or one number a layer"
            )
    return tuple(int(size) for size in given)


def start_of(init: Any) -> Any:
    """How to start: by name, from a scorer (a fitted learner's too), or from layers of weights."""
    if isinstance(init, str):
        if init not in STARTS:
            raise InputError(f"init is {init!r}; give {' or '.join(STARTS)}, weights, or a fitted net")
        return init
    if isinstance(init, Ranker):
        init = init._fitted()
    if isinstance(init, LinearScorer):
        return init
    if isinstance(init, Scorer) and not isinstance(init, NetworkScorer):
        raise InputError(f"init is a {type(init).__name__}, which has no weights to go on from; give a net")
    if isinstance(init, NetworkScorer):
        return init
    try:
        given = [(np.array(matrix, float), np.array(offsets, float)) for matrix, offsets in init]
    except (TypeError, ValueError) as error:
        raise InputError(
            f"init is {init!r:.60}; give {' or '.join(STARTS)}, layers of (weights, offsets), or a fitted net"
        ) from error
    return NetworkScorer(given).layers


def given_weights(start: Any, sizes: tuple[int, ...]) -> Floats:
    """All weights in their order, from a scorer or from layers."""
    if isinstance(start, LinearScorer):
        found = [(start.weights[None], np.array([start.bias]))]
    else:
        found = [(np.asarray(m), np.asarray(b)) for m, b in getattr(start, "layers", start)]
    shape = (found[0][0].shape[1], *(len(offsets) for _, offsets in found))
    if shape != sizes:
        raise InputError(f"init holds a net of {shape} units and this one has {sizes}; set hidden to match")
    weights = np.empty(n_weights(sizes))
    for (matrix, offsets), (to_matrix, to_offsets) in zip(found, layers(sizes, weights), strict=True):
        to_matrix[:], to_offsets[:] = matrix, offsets
    return weights


def panels_of(
    queries: QuerySet, transform: Transform, order: list[NDArray[np.int64]] | None = None
) -> Panels:
    """The documents in panels, transformed; ``order`` as ``NetTraining`` has it."""
    counts = queries.sizes if order is None else np.array([len(rows) for rows in order])
    panels = empty_panels(counts, queries.n_features)
    at = 0
    for block in blocks(queries):
        values = transformed(queries, transform, block)
        last = int(np.searchsorted(queries.offsets, block.stop))
        for query in range(at, last):
            begin, end = queries.offsets[query : query + 2] - block.start
            own = values[begin:end]
            fill_group(panels, query, own if order is None else own[order[query]])
        at = last
    return panels


def rows_of(queries: QuerySet, transform: Transform) -> Singles:
    """The documents row by row, transformed."""
    rows = [transformed(queries, transform, block) for block in blocks(queries)]
    return np.concatenate(rows, dtype=np.float32, casting="same_kind")


def weights_of(queries: QuerySet) -> tuple[Floats, Floats]:
    """The weight of each document and of each query; 1 where none is given."""
    documents, own = queries.sample_weight, queries.query_weight
    return (
        np.ones(len(queries)) if documents is None else documents,
        np.ones(queries.n_queries) if own is None else np.array(own),
    )


def told_apart(measure: Measure, queries: QuerySet, lists: Lists) -> NDArray[np.int64]:
    """The queries that λ's of a measure can learn from; refused if there are none."""
    trained = np.flatnonzero(tells_apart(measure, queries, lists))
    if not len(trained):
        raise InputError(
            f"there is nothing to learn from: no query has two documents that {measure!r} tells apart (and "
            "weights above 0); give labels that differ within a query"
        )
    return trained


def label_order(queries: QuerySet) -> list[NDArray[np.int64]]:
    """The judged rows of each query, highest labels first."""
    assert queries.labels is not None
    return [by_label(labels)[0] for labels in np.split(queries.labels, queries.offsets[1:-1])]


def pairs_of(queries: QuerySet, preferences: Any, ties: str) -> Pairs:
    """The pairs one by one: the preferences, or those of the labels."""
    if preferences is not None:
        return pairs_of_preferences(preferences, queries.offsets, queries.rows, queries.sample_weight)
    assert queries.labels is not None
    return pairs_of_labels(
        queries.labels, queries.offsets, ties=ties == "half", weights=queries.sample_weight
    )


def transformed(queries: QuerySet, transform: Transform, rows: slice) -> NDArray[np.floating]:
    """The features of whole queries as the net sees them; refused where one is missing still."""
    first, last = np.searchsorted(queries.offsets, [rows.start, rows.stop])
    values = transform(queries.features[rows], queries.offsets[first : last + 1] - rows.start)
    missing = np.isnan(values)
    if missing.any():
        row, feature = np.argwhere(missing)[0]
        stored = rows.start + int(row)
        given = stored if queries.rows is None else int(queries.rows[stored])
        raise InputError(
            f"row {given}: feature {feature} is missing (NaN), for which there is no place; "
            "fill it in, or have features standardised, which makes a missing value the mean"
        )
    return values


def blocks(queries: QuerySet) -> list[slice]:
    """Whole queries, some thousand rows at a time."""
    bounds = queries.offsets[np.searchsorted(queries.offsets, np.arange(0, len(queries), ROWS_AT_ONCE))]
    return [slice(int(a), int(b)) for a, b in itertools.pairwise(np.unique([*bounds, len(queries)]))]
