"""PRank (Crammer and Singer 2001; a baseline of 2005): a perceptron with a threshold between any two levels.

for each document x with its level y (of 1 … k; b_k = ∞):
    1.  ŷ = min {r : w·x − b_r < 0}
    2.  where ŷ ≠ y:    y_r = −1 if y ≤ r, else 1                for r = 1 … k − 1
    3.                  τ_r = y_r if (w·x − b_r) y_r ≤ 0, else 0
    4.                  w ← w + (Σ τ_r) x,   b_r ← b_r − τ_r

Documents are ranked by w·x, in which thresholds play no part; they tell levels, and w was found with them.
Its forms differ in what x is: the features ("linear"); with them every quadratic combination, as 2005 had it
("quadratic"), made as it is needed; or their image in a reproducing-kernel space, w = Σ αᵢ φ(xᵢ) over the
documents that were corrected. To keep these in bounds the one of the least |αᵢ| |φ(xᵢ)| makes room, the
oldest first.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rankwright.data import QuerySet
from rankwright.learners.base import DEFAULT_MEASURE, Ranker, check_whole, generator
from rankwright.learners.perceptrons import Documents, Selection, corrected, level_at, run_epochs
from rankwright.measures import Measure
from rankwright.networks.training import Record
from rankwright.runtime.arrays import Floats, Integers, Singles
from rankwright.runtime.errors import InputError
from rankwright.runtime.kernels import kernel
from rankwright.scorers import KernelScorer, LinearScorer, QuadraticScorer, Scorer
from rankwright.scorers.kernel import KERNELS, check_kernel
from rankwright.scorers.quadratic import add_row, combinations, row_score

FORMS = ("linear", "quadratic", *KERNELS)


def _epoch_types() -> Any:
    import numba as nb

    line = nb.float64[::1]
    return nb.int64(nb.int64[::1], nb.float32[:, ::1], nb.int64[::1], line, line, line)


@kernel(_epoch_types)
def prank_epoch(
    order: Integers, rows: Singles, levels: Integers, weights: Floats, w: Floats, thresholds: Floats
) -> int:
    """One pass over the documents in this order; the sum of |ŷ − y|."""
    total = 0
    for i in order:
        moved, loss = corrected(row_score(rows[i], w), levels[i], weights[i], thresholds)
        if loss != 0:
            add_row(moved, rows[i], w)
        total += loss
    return total


class Support(NamedTuple):
    """The documents that make up w: ``size[0]`` of them, their rows and coefficients in order of age.

    ``squares`` is |x|² of all documents, ``lengths`` their |φ(x)|; ``rbf`` says which kernel.
    """

    size: Integers
    members: Integers
    alphas: Floats
    squares: Floats
    lengths: Floats
    rbf: bool
    gamma: float
    degree: int


def _support_types() -> Any:
    import numba as nb

    line, rows = nb.float64[::1], nb.int64[::1]
    return nb.types.NamedTuple((rows, rows, line, line, line, nb.boolean, nb.float64, nb.int64), Support)


def _kernel_score_types() -> Any:
    import numba as nb

    return nb.float64(nb.int64, nb.float32[:, ::1], _support_types())


@kernel(_kernel_score_types, fastmath={"reassoc", "contract", "nsz"})
def kernel_score(i: int, rows: Singles, support: Support) -> float:
    """w · φ(xᵢ)."""
    total = 0.0
    for s in range(support.size[0]):
        member = rows[support.members[s]]
        product = 0.0
        for f in range(member.size):
            product += np.float64(member[f]) * rows[i, f]
        if support.rbf:
            square = support.squares[i] + support.squares[support.members[s]] - 2.0 * product
            total += support.alphas[s] * np.exp(-support.gamma * max(square, 0.0))
        else:
            total += support.alphas[s] * (support.gamma * product + 1.0) ** support.degree
    return total


def _add_types() -> Any:
    import numba as nb

    return nb.void(nb.int64, nb.float64, _support_types())


@kernel(_add_types)
def add_support(i: int, amount: float, support: Support) -> None:
    """Add ``amount`` of document i; where there is no room, in the place of the one that weighs least."""
    size, members, alphas = support.size, support.members, support.alphas
    for s in range(size[0]):
        if members[s] == i:
            alphas[s] += amount
            return
    if size[0] == members.size:
        least = 0
        for s in range(1, size[0]):
            here = abs(alphas[s]) * support.lengths[members[s]]
            if here < abs(alphas[least]) * support.lengths[members[least]]:
                least = s
        size[0] -= 1
        for s in range(least, size[0]):
            members[s], alphas[s] = members[s + 1], alphas[s + 1]
    members[size[0]], alphas[size[0]] = i, amount
    size[0] += 1


def _kernel_epoch_types() -> Any:
    import numba as nb

    line = nb.float64[::1]
    return nb.int64(nb.int64[::1], nb.float32[:, ::1], nb.int64[::1], line, _support_types(), line)


@kernel(_kernel_epoch_types)
def kernel_prank_epoch(
    order: Integers, rows: Singles, levels: Integers, weights: Floats, support: Support, thresholds: Floats
) -> int:
    """The same in a reproducing-kernel space."""
    total = 0
    for i in order:
        moved, loss = corrected(kernel_score(i, rows, support), levels[i], weights[i], thresholds)
        if loss != 0:
            add_support(i, moved, support)
        total += loss
    return total


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class PRank(Ranker):
    """A perceptron with thresholds between levels, one document at a time.

    ``form`` is "linear", "quadratic" (with every product of two features), "rbf" or "polynomial"; for the
    last two ``gamma`` (1 / features unless given) and ``degree`` are those of ``KernelRankNet``, and w has
    at most ``n_components`` documents. Training ends after ``epochs``, or once the error has been the same
    for ``unchanged_epochs``; the model of the best epoch is kept, by ``measure`` on ``valid`` or else on the
    training data. ``levels`` predicts labels; ``thresholds_`` lie between ``labels_``.

    >>> X = np.random.default_rng(0).standard_normal((100, 3))
    >>> y, qid = np.round(X[:, 0]).clip(0, 2), np.repeat(np.arange(10), 10)
    >>> ranker = PRank().fit(X, y, qid=qid)
    >>> ranker.score(X, y, qid=qid) > 0.95, ranker.levels(X[:2]).tolist() == y[:2].tolist()
    (True, True)
    """

    measure: str | Measure = DEFAULT_MEASURE
    form: str = "linear"
    gamma: float | None = None
    degree: int = 2
    n_components: int = 1000
    standardise: bool = True
    epochs: int = 100
    unchanged_epochs: int | None = 10
    random_state: Any = 0

    paper = "2005"

    def _fit(
        self, queries: QuerySet, valid: QuerySet | None, progress: Callable[[Record], None] | None = None
    ) -> None:
        if self.form not in FORMS:
            raise InputError(f"form is {self.form!r}; it is one of {', '.join(FORMS)}")
        check_whole(self, epochs=1, n_components=1)
        check_whole(self, none=True, unchanged_epochs=1)
        documents = Documents(self, queries)
        selection = Selection(self, queries, valid, documents)
        thresholds = documents.thresholds()
        model = (self._by_kernel if self.form in KERNELS else self._by_weights)(documents, selection)

        def once(order: Integers) -> Record:
            loss = model.epoch(order, documents.rows, documents.levels, documents.weights, thresholds)
            value = selection.offer(model.scores(), lambda: (thresholds.copy(), model.core()))
            return {"error": loss / len(order), selection.name: value}

        self.history_: list[Record] = []
        run_epochs(self, once, documents, generator(self.random_state), progress, self.history_)
        self.labels_: Floats = documents.labels
        self.thresholds_: Floats
        self.thresholds_, core = selection.model
        about = self._about(
            queries,
            epochs=len(self.history_),
            labels=self.labels_.tolist(),
            thresholds=self.thresholds_.tolist(),
        )
        self.scorer_: Scorer = core(transform=documents.transform, **about)

    def levels(self, X: ArrayLike | QuerySet) -> Floats:
        """The label that each row's score comes to, between the thresholds."""
        scores = self.predict(X)
        return self.labels_[[level_at.plain(score, self.thresholds_) for score in scores]]

    def _by_weights(self, documents: Documents, selection: Selection) -> Weighted:
        d = documents.rows.shape[1]
        return Weighted(np.zeros(combinations(d) if self.form == "quadratic" else d), selection)

    def _by_kernel(self, documents: Documents, selection: Selection) -> Supported:
        rows = documents.rows
        gamma = 1.0 / max(1, rows.shape[1]) if self.gamma is None else self.gamma
        check_kernel(self.form, gamma, self.degree)
        squares = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
        rbf = self.form == "rbf"
        lengths = np.ones(len(rows)) if rbf else (gamma * squares + 1.0) ** (self.degree / 2)
        most = min(self.n_components, len(rows))
        support = Support(
            np.zeros(1, np.int64), np.zeros(most, np.int64), np.zeros(most), squares, lengths, rbf, gamma,
            self.degree,
        )  # fmt: skip
        return Supported(self.form, rows, support, selection)


class Weighted:
    """w by its weights."""

    def __init__(self, w: Floats, selection: Selection):
        self._w, self._selection = w, selection

    def epoch(
        self, order: Integers, rows: Singles, levels: Integers, weights: Floats, thresholds: Floats
    ) -> int:
        """One pass."""
        return int(prank_epoch(order, rows, levels, weights, self._w, thresholds))

    def scores(self) -> Floats:
        """Of the documents that select."""
        return self._selection.linear_scores(self._w)

    def core(self) -> Callable[..., Scorer]:
        """What makes a scorer of w as it is now."""
        w = self._w.copy()
        kind = LinearScorer if len(w) == self._selection.rows.shape[1] else QuadraticScorer
        return lambda **about: kind(w, **about)


class Supported:
    """w by the documents that make it up."""

    def __init__(self, form: str, rows: Singles, support: Support, selection: Selection):
        self._form, self._rows, self._support, self._selection = form, rows, support, selection

    def epoch(
        self, order: Integers, rows: Singles, levels: Integers, weights: Floats, thresholds: Floats
    ) -> int:
        """One pass."""
        return int(kernel_prank_epoch(order, rows, levels, weights, self._support, thresholds))

    def scores(self) -> Floats:
        """Of the documents that select."""
        scorer, blocks = (
            self.core()(),
            np.array_split(self._selection.rows, len(self._selection.rows) // 1024 + 1),
        )
        return np.concatenate([scorer._score(block) for block in blocks])

    def core(self) -> Callable[..., KernelScorer]:
        """What makes a scorer of w as it is now."""
        held = self._support
        count = int(held.size[0])
        centres = self._rows[held.members[:count]].astype(np.float64)
        alphas = held.alphas[:count].copy()
        return lambda **about: KernelScorer(centres, alphas, self._form, held.gamma, held.degree, **about)
