"""OAP-BPM (Harrington 2003; a baseline of 2005): online aggregate PRank, which approaches the Bayes point.

for each document x with its level y:
    for each perceptron j = 1 … N:      with probability τ, PRank's correction of (wⱼ, bⱼ) by (x, y)
w̃ = 1/N Σ wⱼ,   b̃ = 1/N Σ bⱼ

Each perceptron sees its own share of the documents, so that they end at different places of the version
space, whose centre of mass is the Bayes point. Thresholds stay in order, since a mean of ordered ones does.
As in 2005, τ and N are chosen by the measure on the validation queries.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from rankwright.data import QuerySet
from rankwright.learners.base import DEFAULT_MEASURE, Ranker, check_whole, generator
from rankwright.learners.perceptrons import Documents, Selection, corrected, run_epochs
from rankwright.measures import Measure
from rankwright.networks.training import Record
from rankwright.runtime.arrays import Floats, Integers, Singles
from rankwright.runtime.errors import InputError
from rankwright.runtime.kernels import kernel
from rankwright.runtime.threads import in_chunks, thread_count
from rankwright.scorers import LinearScorer
from rankwright.scorers.quadratic import add_row, row_score
from rankwright.trees.splitting import mixed

WORDS = 2**32


def _epoch_types() -> Any:
    import numba as nb

    line, table = nb.float64[::1], nb.float64[:, ::1]
    return nb.void(
        nb.int64[::1], nb.float32[:, ::1], nb.int64[::1], line, nb.uint64, nb.uint64[::1], nb.int64, nb.int64,
        table, table, nb.int64[::1],
    )  # fmt: skip


@kernel(_epoch_types)
def oapbpm_epoch(
    order: Integers,
    rows: Singles,
    levels: Integers,
    weights: Floats,
    below: Any,
    seeds: Any,
    begin: int,
    end: int,
    w: Floats,
    thresholds: Floats,
    losses: Integers,
) -> None:
    """One pass over the documents for the perceptrons from ``begin`` to ``end``.

    A document goes to perceptron j where a number drawn for the two of them, of 32 bits, is under ``below``.
    """
    for i in order:
        for j in range(begin, end):
            if mixed(seeds[j], np.uint64(i)) < below:
                moved, loss = corrected(row_score(rows[i], w[j]), levels[i], weights[i], thresholds[j])
                if loss != 0:
                    add_row(moved, rows[i], w[j])
                losses[j] += loss


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class OAPBPM(Ranker):
    """The mean of many PRank perceptrons, each of which sees its own share of the documents.

    ``tau`` is that share, the mean of the Bernoulli trials, and ``n_perceptrons`` how many there are; of
    several of either the best is chosen, as the best epoch is: by ``measure`` on ``valid`` or else on the
    training data. The rest is as in ``PRank``.

    >>> X = np.random.default_rng(0).standard_normal((100, 3))
    >>> y, qid = np.round(X[:, 0]).clip(0, 2), np.repeat(np.arange(10), 10)
    >>> OAPBPM(tau=0.3, n_perceptrons=10, epochs=20).fit(X, y, qid=qid).score(X, y, qid=qid) > 0.95
    True
    """

    measure: str | Measure = DEFAULT_MEASURE
    tau: float | tuple[float, ...] = (0.3, 0.5, 0.7)
    n_perceptrons: int | tuple[int, ...] = (10, 30, 100)
    standardise: bool = True
    epochs: int = 100
    unchanged_epochs: int | None = 10
    random_state: Any = 0
    n_jobs: int | None = None

    paper = "2005"

    def _fit(
        self, queries: QuerySet, valid: QuerySet | None, progress: Callable[[Record], None] | None = None
    ) -> None:
        check_whole(self, epochs=1)
        check_whole(self, none=True, unchanged_epochs=1)
        taus, counts = self._choices()
        documents = Documents(self, queries)
        selection = Selection(self, queries, valid, documents)
        random = generator(self.random_state)
        self.history_ = []
        for tau in taus:
            once = self._perceptrons(tau, counts, documents, selection, random)
            if not run_epochs(self, once, documents, random, progress, self.history_, tau=tau):
                break
        tau, count, w, thresholds = selection.model
        about = self._about(
            queries, epochs=len(self.history_), tau=tau, n_perceptrons=count,
            labels=documents.labels.tolist(), thresholds=thresholds.tolist(),
        )  # fmt: skip
        self.scorer_ = LinearScorer(w, transform=documents.transform, **about)

    def _perceptrons(
        self,
        tau: float,
        counts: tuple[int, ...],
        documents: Documents,
        selection: Selection,
        random: np.random.Generator,
    ) -> Callable[[Integers], Record]:
        """An epoch of as many perceptrons as any choice needs; the first so many are those of the others."""
        n = max(counts)
        w = np.zeros((n, documents.rows.shape[1]))
        thresholds = np.zeros((n, len(documents.labels) - 1))
        threads = min(n, thread_count(self.n_jobs))
        parts = [n * thread // threads for thread in range(threads + 1)]

        def once(order: Integers) -> Record:
            seeds = random.integers(2**62, size=n, dtype=np.uint64)
            losses, below = np.zeros(n, np.int64), np.uint64(tau * WORDS)
            in_chunks(
                lambda begin, end: oapbpm_epoch(
                    order, documents.rows, documents.levels, documents.weights, below, seeds, begin, end, w,
                    thresholds, losses,
                ),
                parts,
                self.n_jobs,
            )  # fmt: skip
            values = []
            for count in counts:
                mean, bounds = w[:count].mean(axis=0), thresholds[:count].mean(axis=0)
                model = functools.partial(tuple, (tau, count, mean, bounds))
                values.append(selection.offer(selection.linear_scores(mean), model))
            # A document teaches τ of the perceptrons.
            return {"error": losses.sum() / (n * tau * len(order)), selection.name: max(values)}

        return once

    def _choices(self) -> tuple[tuple[float, ...], tuple[int, ...]]:
        taus = self.tau if isinstance(self.tau, tuple | list) else (self.tau,)
        counts = self.n_perceptrons if isinstance(self.n_perceptrons, tuple | list) else (self.n_perceptrons,)
        if not taus or not all(isinstance(tau, int | float) and 0 < tau <= 1 for tau in taus):
            raise InputError(f"tau is {self.tau!r}; give a number above 0 and up to 1, or several of them")
        if not counts or not all(
            isinstance(n, int | np.integer) and not isinstance(n, bool) and n > 0 for n in counts
        ):
            raise InputError(
                f"n_perceptrons is {self.n_perceptrons!r}; give a whole number above 0, or several"
            )
        return tuple(taus), tuple(counts)
