"""LambdaMART (2010 section 7): boosted trees on the λ's of any measure.

for m = 1 … n_estimators:
    λᵢ, wᵢ        the forces on each document at the scores so far, and their slopes
    a tree        least squares on λ (paper), or second order on λ and w
    leaf values   Σλ / Σw (a Newton step), times the learning rate
"""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankwright.data import QuerySet
from rankwright.learners.base import DEFAULT_MEASURE, Ranker
from rankwright.learners.boosting import Floats, Gradients, Singles, seed_of
from rankwright.learners.checkpoints import EVERY
from rankwright.learners.runs import boost_runs
from rankwright.learners.tree_parameters import TreeParameters
from rankwright.measures import Measure
from rankwright.measures.lists import Lists, contiguous
from rankwright.pairwise.lambdas import Lambdas
from rankwright.pairwise.listwise import Listed, list_gradients
from rankwright.pairwise.orderings import drawn_keys
from rankwright.pairwise.weightings import Weigh, alike, lambda_loss, swap_gains
from rankwright.runtime.errors import InputError
from rankwright.scorers.forest import Link

WEIGHTINGS: dict[str, Weigh] = {"lambda": swap_gains, "lambdaloss": lambda_loss, "ranknet": alike}
LOSSES = (*WEIGHTINGS, "xendcg")


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class LambdaMART(TreeParameters, Ranker):
    """Boosted trees on the λ's of a measure.

    ``mode="paper"`` is the algorithm of the paper: all pairs, trees by least squares, no normalisation. The
    default keeps the pairs with a document among the first ``truncation`` of the list (and cuts a measure
    like ndcg@10 off there, as far as its λ's go), normalises them unless told otherwise by ``normalise``, and
    splits by what a Newton step gains.

    ``loss`` is what a pair weighs: "lambda", the measure's swap gain; "lambdaloss", NDCG-Loss2++ (for
    measures that are weighted sums); "ranknet", all alike. Or it is "xendcg", the listwise cross-entropy,
    which has no pairs. ``orderings`` averages the λ's over so many orderings drawn by chance, by scores plus
    ``noise`` times Gumbel's, at as many times their price; 0 is the one ordering by scores.

    >>> import rankwright as rw
    >>> data = rw.synthetic.random_net(20, 20, random_state=1)
    >>> ranker = LambdaMART(n_estimators=5, min_samples_leaf=5).fit(data)
    >>> ranker.scorer_.n_trees
    5
    """

    measure: str | Measure = DEFAULT_MEASURE
    mode: Literal["default", "paper"] = "default"
    loss: Literal["lambda", "lambdaloss", "ranknet", "xendcg"] = "lambda"
    truncation: int | None = 30
    sigma: float = 1.0
    normalise: bool = True
    orderings: int = 0
    noise: float = 1.0

    paper = "2010"
    needs_swap_gains = True

    def _fit(
        self,
        queries: QuerySet,
        valid: QuerySet | None,
        progress: Any = None,
        base: Any = None,
        checkpoint: Any = None,
        checkpoint_every: int = EVERY,
        measure_train: bool = False,
    ) -> None:
        self._check()
        objective = CrossEntropy if self.loss == "xendcg" else MeasureLambdas
        boost_runs(
            self, queries, valid, lambda run: objective(run, queries), progress,
            base=base, checkpoint=checkpoint, checkpoint_every=checkpoint_every, measure_train=measure_train,
        )  # fmt: skip

    def _check(self) -> None:
        if self.mode not in ("default", "paper"):
            raise InputError(f"mode is {self.mode!r}; it is 'default' or 'paper'")
        if self.loss not in LOSSES:
            raise InputError(f"loss is {self.loss!r}; it is one of {', '.join(LOSSES)}")
        if not isinstance(self.orderings, int | np.integer) or self.orderings < 0:
            raise InputError(f"orderings is {self.orderings!r}; it is a whole number of at least 0")
        if not 0 <= self.noise < np.inf:
            raise InputError(f"noise is {self.noise!r}; it is a number of at least 0")


class MeasureLambdas:
    """The objective: λ's pushed the other way are the gradients of the implicit cost."""

    link: Link = "identity"

    def __init__(self, learner: LambdaMART, queries: QuerySet):
        assert queries.labels is not None
        self.start: Floats = np.zeros(1)
        paper = learner.mode == "paper"
        measure = learner.selection_measure
        measure.check_labels(queries.labels)
        self._lists = Lists(queries.labels, queries.offsets, rows=queries.rows, n_jobs=learner.n_jobs)
        self._lambdas = Lambdas(
            self._lists,
            measure if paper else deepened(measure, learner.truncation),
            weights=queries.sample_weight,
            query_weight=queries.query_weight,
            sigma=learner.sigma,
            truncation=None if paper else learner.truncation,
            by_distance=learner.normalise and not paper,
            by_total=learner.normalise and not paper,
            weigh=WEIGHTINGS[learner.loss],
        )
        self._orderings, self._noise = learner.orderings, learner.noise
        self.draws = self._orderings > 0
        self._random_state = learner.random_state
        n = len(queries)
        self._out = np.empty(n, np.float32), np.empty(n, np.float32)
        self._ones: Singles | None = np.ones(n, np.float32) if paper else None

    def gradients(self, scores: NDArray[np.float64], step: int) -> list[Gradients]:
        """−λ; least squares takes every hessian for 1."""
        lambdas, hessians = self._mean(scores[0], step) if self._orderings else self._at(scores[0])
        np.negative(lambdas, out=lambdas)
        return [(lambdas, hessians if self._ones is None else self._ones, hessians)]

    def _at(self, scores: Floats, keys: Floats | None = None) -> tuple[Singles, Singles]:
        return self._lambdas.at(scores, self._out, keys)

    def _mean(self, scores: Floats, step: int) -> tuple[Singles, Singles]:
        """The mean over drawn orderings."""
        sums = np.zeros(len(scores), np.float32), np.zeros(len(scores), np.float32)
        keys = np.empty(len(scores))
        for number in range(self._orderings):
            self._draw(seed_of(self._random_state, step, 1 + number), scores, keys)
            for total, drawn in zip(sums, self._at(scores, keys), strict=True):
                total += drawn
        for total in sums:
            total /= np.float32(self._orderings)
        return sums

    def _draw(self, seed: int, scores: Floats, keys: Floats) -> None:
        offsets, numbers = self._lists.offsets, np.uint64(seed)
        self._lists.in_chunks(
            lambda begin, end: drawn_keys(numbers, self._noise, scores, offsets[begin], offsets[end], keys)
        )


def deepened(measure: Measure, truncation: int | None) -> Measure:
    """The measure cut off no higher than the λ's are, where its ranks are worth less the lower they are.

    >>> from rankwright.measures import measure
    >>> deepened(measure("ndcg@10"), 30), deepened(measure("ndcg@10"), 5), deepened(measure("p@5"), 30)
    (ndcg@30, ndcg@10, p@5)
    """
    k = measure.cutoff
    if k is None or (truncation is not None and truncation <= k) or measure.short == "zero":
        return measure
    if "k" not in {field.name for field in dataclasses.fields(measure)}:
        return measure
    first, _, third = measure.replace(k=None).ranks(3)  # (2008's discount has the first two ranks alike)
    return measure.replace(k=truncation) if first > third > 0 else measure


class CrossEntropy:
    """The objective of the listwise cross-entropy."""

    link: Link = "identity"
    draws = True

    def __init__(self, learner: LambdaMART, queries: QuerySet):
        assert queries.labels is not None
        self.start: Floats = np.zeros(1)
        measure = learner.selection_measure
        measure.check_labels(queries.labels)
        self._lists = Lists(queries.labels, queries.offsets, rows=queries.rows, n_jobs=learner.n_jobs)
        given = np.ones(len(queries)) if queries.sample_weight is None else queries.sample_weight
        of_query = np.ones(queries.n_queries) if queries.query_weight is None else queries.query_weight
        self._listed = Listed(
            offsets=np.require(queries.offsets, np.int64, ["C", "W"]),
            codes=np.require(self._lists.codes, np.int32, ["C", "W"]),
            gains=self._lists.gains(measure),
            weights=contiguous(np.where(np.isnan(queries.labels), 0.0, given)),
            query_weights=contiguous(of_query),
        )
        self._random_state = learner.random_state
        self._out = np.empty(len(queries), np.float32), np.empty(len(queries), np.float32)

    def gradients(self, scores: NDArray[np.float64], step: int) -> list[Gradients]:
        """Those of the softmax, corrected for each other."""
        seed = np.uint64(seed_of(self._random_state, step))
        self._lists.in_chunks(
            lambda begin, end: list_gradients(seed, scores[0], self._listed, begin, end, *self._out)
        )
        return [(*self._out, self._out[1])]
