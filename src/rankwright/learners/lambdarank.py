"""LambdaRank: a net that follows the λ's of a measure (2006 section 4; 2009; 2010 section 4).

    ∂C/∂sᵢ = −λᵢ,     λᵢⱼ = σ |Δᵢⱼ| / (1 + e^(σ(sᵢ − sⱼ)))     (2010 equation 6)

Δᵢⱼ is what the measure gains where documents i and j swap their ranks. No cost is written down: after each
sort the λ's say how documents should move, and the net follows by backpropagation, as RankNet's does.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwright.data import QuerySet
from rankwright.learners.base import DEFAULT_MEASURE, Ranker, judge
from rankwright.learners.nets import (
    TOO_FAR,
    Buffers,
    Crew,
    NetParameters,
    NetTraining,
    buffer_types,
    close_batch,
    crew_types,
    told_apart,
    update,
    weights_of,
)
from rankwright.measures import Measure
from rankwright.measures.base import PREPARE, ROW
from rankwright.measures.lists import Lists
from rankwright.networks.forward import ONE, ZERO, Counts, Singles
from rankwright.networks.net import Floats, Net, net_types
from rankwright.networks.panels import Panels, backward_group, forward_group, panel_types
from rankwright.networks.training import Record
from rankwright.pairwise.cross_entropy import spread
from rankwright.pairwise.forces import Forces
from rankwright.pairwise.lambdas import Known, Lambdas, known_types, query_lambdas
from rankwright.pairwise.rules import Rule
from rankwright.pairwise.rules import rule as read_rule
from rankwright.runtime.errors import InputError
from rankwright.runtime.kernels import function_type, kernel


class Pushed(NamedTuple):
    """Scores, λ's and their slopes, by row, with what is known of the documents and how they push.

    ``begun`` are the scores of a base, which the net's are added to.
    """

    known: Known
    truncation: int
    sigma: float
    begun: Floats
    scores: Floats
    lambdas: Singles
    hessians: Singles


def _pushed_types() -> Any:
    import numba as nb

    singles = nb.float32[::1]
    return nb.types.NamedTuple(
        (known_types(), nb.int64, nb.float64, nb.float64[::1], nb.float64[::1], singles, singles), Pushed
    )


def _chunk_types() -> Any:
    import numba as nb

    return nb.float64(
        function_type(PREPARE), function_type(ROW), nb.uint64[::1], nb.uint64, nb.uint64, net_types(),
        panel_types(), _pushed_types(), buffer_types(), nb.float32[::1],
    )  # fmt: skip


@kernel(_chunk_types)
def lambda_chunk(
    prepare: Callable[..., None],
    row: Callable[..., None],
    order: Counts,
    begin: Any,
    end: Any,
    net: Net,
    panels: Panels,
    pushed: Pushed,
    buffers: Buffers,
    gradient: Singles,
) -> float:
    """Add what the λ's of some queries do to the weights; NaN where scores run away."""
    activations, scores, slopes, _ = buffers
    for at in range(begin, end):
        q = order[at]
        start, stop, n = panels.starts[q], panels.starts[q + ONE], panels.counts[q]
        first = np.uint64(pushed.known.offsets[q])
        # 1. All documents forward.
        forward_group(net.sizes, net.weights, panels.values, start, stop, activations, scores)
        if not spread(n, scores) * pushed.sigma < TOO_FAR:
            return np.nan
        # 2. The λ of each.
        for i in range(n):
            pushed.scores[first + i] = pushed.begun[first + i] + scores[i]
        query_lambdas(
            prepare, row, pushed.truncation, pushed.sigma, False, False, pushed.scores, pushed.scores,
            pushed.known, np.int64(q), np.int64(q + ONE), pushed.lambdas, pushed.hessians,
        )  # fmt: skip
        # 3. All documents backward.
        slopes[n : stop - start] = np.float32(0)
        for i in range(n):
            slopes[i] = -pushed.lambdas[first + i]
        backward_group(net.sizes, net.weights, panels.values, start, stop, slopes, activations, gradient)
    return 0.0


def _epoch_types() -> Any:
    import numba as nb

    return nb.void(
        function_type(PREPARE), function_type(ROW), nb.uint64[::1], nb.uint64, nb.float64[::1], net_types(),
        panel_types(), _pushed_types(), crew_types(), buffer_types(),
    )  # fmt: skip


@kernel(_epoch_types)
def lambda_epoch(
    prepare: Callable[..., None],
    row: Callable[..., None],
    order: Counts,
    batch: Any,
    rates: Floats,
    net: Net,
    panels: Panels,
    pushed: Pushed,
    crew: Crew,
    buffers: Buffers,
) -> None:
    """One pass over the queries in this order, with an update a batch; each thread does some chunks of it."""
    queries, chunks = np.uint64(order.size), np.uint64(crew.costs.size)
    for begin in range(ZERO, queries, batch):
        size = min(batch, queries - begin)
        for chunk in range(np.uint64(crew.thread), chunks, np.uint64(crew.threads)):
            crew.costs[chunk] += lambda_chunk(
                prepare, row, order, begin + size * chunk // chunks, begin + size * (chunk + ONE) // chunks,
                net, panels, pushed, buffers, crew.gradients[chunk],
            )  # fmt: skip
        if not close_batch(crew, rates, np.float64(size) / np.float64(queries), net):
            return


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class LambdaRank(NetParameters, Ranker):
    """A linear, two-layer or deeper net on the λ's of any measure that has swap gains.

    ``rule`` is another construction of λ's: a name, what ``rankwright.rule`` makes of one with parameters, or
    of a function of your own. It has its own σ. The rest is ``NetParameters``;
    its schedules look at the measure on the training data.

    With ``hidden=0``, fitted on the scores of other rankers as features, it combines them (2010 section 7.1).
    ``fit`` takes ``base=``, a ranker trained elsewhere: the net learns what to add to its scores, and leaves
    their sum (``init="small"`` begins close to the base). A net goes on from another by ``init``.

    >>> X = np.random.default_rng(0).standard_normal((100, 3))
    >>> y, qid = np.round(X[:, 0]).clip(0, 2), np.repeat(np.arange(10), 10)
    >>> ranker = LambdaRank(hidden=0, measure="map", epochs=20, learning_rate=0.01).fit(X, y, qid=qid)
    >>> ranker.score(X, y, qid=qid) > 0.95
    True
    """

    measure: str | Measure = DEFAULT_MEASURE
    rule: Any = None
    sigma: float = 1.0

    paper = "2006"
    needs_swap_gains = True

    def _fit(
        self,
        queries: QuerySet,
        valid: QuerySet | None,
        progress: Callable[[Record], None] | None = None,
        base: Any = None,
    ) -> None:
        measure = self.selection_measure
        assert queries.labels is not None
        lists = Lists(queries.labels, queries.offsets, rows=queries.rows)
        # 1. What pushes the documents, and the queries in which anything does.
        epoch = self._by_lambdas(lists, queries) if self.rule is None else self._by_rule(lists, queries)
        trained = told_apart(measure, queries, lists)
        # 2. The net.
        training = NetTraining(self, queries, valid, base=base)
        mean = judge(measure, queries)

        def once(order: Counts, rates: Floats) -> Record:
            finite = epoch(training, order, rates)
            value = mean(training.begun + training.scores(training.panels)) if finite else np.nan
            return {"train": value, "value": value, "loss": -value, "finite": finite}

        # 3. Follow.
        training.run(trained, once, progress)

    def _by_lambdas(self, lists: Lists, queries: QuerySet) -> Callable[[NetTraining, Counts, Floats], bool]:
        measure = self.selection_measure
        documents, own = weights_of(queries)
        lambdas = Lambdas(lists, measure, weights=documents, query_weight=own, sigma=self.sigma)
        assert measure.prepare_kernel is not None and measure.row_kernel is not None
        forms = measure.prepare_kernel.compiled, measure.row_kernel.compiled
        n, batch = len(queries), np.uint64(self.batch_size)
        acting = np.zeros(n, np.float32), np.zeros(n, np.float32)

        def epoch(training: NetTraining, order: Counts, rates: Floats) -> bool:
            run = lambda_epoch.compiled
            how = lambdas.known, lambdas.truncation, lambdas.sigma
            pushed = Pushed(*how, training.begun, np.zeros(n), *acting)
            _, finite = training.together(
                lambda crew, buffers: run(
                    *forms, order, batch, rates, training.net, training.panels, pushed, crew, buffers
                )
            )
            return finite

        return epoch

    def _by_rule(self, lists: Lists, queries: QuerySet) -> Callable[[NetTraining, Counts, Floats], bool]:
        if self.sigma != 1.0:
            raise InputError(f"sigma is {self.sigma!r}, but a rule has its own; give it to the rule")
        rule = self.rule if isinstance(self.rule, Rule) else read_rule(self.rule)
        measure = self.selection_measure
        documents, own = weights_of(queries)
        forces = [
            Forces(
                rule, Lists(lists.labels[rows], np.array([0, rows.stop - rows.start])), measure,
                weights=documents[rows], query_weight=own[query : query + 1],
            )
            for query, rows in enumerate(queries.slices())
        ]  # fmt: skip

        def epoch(training: NetTraining, order: Counts, rates: Floats) -> bool:
            batches = np.split(order, range(self.batch_size, len(order), self.batch_size))
            return all(follow(training, forces, batch, len(batch) / len(order), rates) for batch in batches)

        return epoch


def follow(
    training: NetTraining, forces: list[Forces], batch: NDArray[np.uint64], share: float, rates: Floats
) -> bool:
    """One update by the forces of a batch of queries; whether all is finite."""
    net, panels = training.net, training.panels
    activations, scores, slopes, _ = training.buffers[0]
    for q in batch:
        start, stop, n = panels.starts[q], panels.starts[q + ONE], panels.counts[q]
        forward_group(net.sizes, net.weights, panels.values, start, stop, activations, scores)
        if not spread(n, scores) < TOO_FAR:
            return False
        slopes[:] = 0
        begun = training.begun[training.queries.offsets[q] :][: int(n)]
        slopes[: int(n)] = -forces[int(q)].at(begun + scores[: int(n)]).lambdas
        backward_group(net.sizes, net.weights, panels.values, start, stop, slopes, activations, net.gradient)
    return bool(update(rates, share, net))
