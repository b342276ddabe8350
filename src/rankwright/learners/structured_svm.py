"""Structured learning for measures of whole rankings (2008): the max-margin family.

    minimise  ½|w|² + (C/|Q|) Σ_q ξ_q                                                        (equation 1)
    where     w·δφ_q(y) ≥ Δ(y*, y) − ξ_q   for each query q and each ranking y of its documents,
              δφ_q(y) = φ(x_q, y*) − φ(x_q, y),   ξ ≥ 0

A measure gives the loss Δ, a feature map φ; the oracle of worst orderings belongs to the pair, the solver to
neither. No feature map has w·φ lower for documents sorted by w·x than for the truth, so the average slack
bounds the training loss from above. |Q| counts the queries with good and bad documents; the others are left
out. Query weights are shares of the mean.

Several losses share the slack of a query, so that it bounds the largest of them, or have one each, so that
the slacks' sum bounds the losses' (section 3.7).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from rankwright.data import QuerySet
from rankwright.learners.base import DEFAULT_MEASURE, Ranker, generator
from rankwright.learners.margin import MarginParameters, Path, Space, check_margin, fit_path
from rankwright.measures import NDCG, Measure, ReciprocalRank
from rankwright.measures.lists import Lists
from rankwright.runtime.arrays import Floats, Integers, Singles
from rankwright.runtime.errors import InputError
from rankwright.solvers.problem import Problem, Solution, Watch
from rankwright.solvers.rows import products, sums
from rankwright.solvers.solve import chosen, solve
from rankwright.structured import Decay, FeatureMap, worst_orderings

BELOW = 1e-6
"""How far rounding may leave a worst ordering below the truth, beside the numbers that it is made of."""


class Criterion(NamedTuple):
    """What is trained for: a loss by its measure, a feature map, and what C is multiplied by."""

    measure: str | Measure
    feature_map: str | FeatureMap = "po"
    weight: float = 1.0


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class StructuredParameters(MarginParameters):
    """The parameters that all structured learners share.

    Documents of labels from ``threshold`` on are good, the others bad; None is the measure's own threshold or
    1, but NDCG with φ_dorm then takes graded labels for what they gain (the model file tells which).
    ``solver`` is "n-slack", "1-slack" (cutting planes), "frank-wolfe", or "auto".
    """

    threshold: float | None = None
    solver: str = "auto"


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class StructuredRanker(StructuredParameters, Ranker):
    """The structured SVM for a measure and a feature map, if there is a worst ordering for the two.

    ``feature_map`` is a name ("po", "po-sum", "psi", "mrr", "dorm") or a map of ``rankwright.structured``.

    >>> import rankwright as rw
    >>> data = rw.synthetic.random_polynomial(20, 20, random_state=1)
    >>> ranker = StructuredRanker(measure="map", C=10).fit(data)
    >>> ranker.certificate_["gap"] <= 1e-3
    True
    """

    measure: str | Measure = DEFAULT_MEASURE
    feature_map: str | FeatureMap = "po"

    paper = "2008"
    trains_for_measure = True

    @classmethod
    def accepts(cls, measure: str | Measure) -> bool:
        """Whether there is a worst ordering for it with the default feature map."""
        try:
            worst_orderings(measure, cls().feature_map, Lists(np.array([0.0, 1.0]), np.array([0, 2])))
        except InputError:
            return False
        return True

    def _fit(self, queries: QuerySet, valid: QuerySet | None, progress: Any = None) -> None:
        fit_structured(self, queries, valid, [Criterion(self.selection_measure, self.feature_map)], progress)


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class SVMAUC(StructuredParameters, Ranker):
    """The structured SVM for the AUC (Joachims 2005); ``measure`` selects and scores.

    >>> import rankwright as rw
    >>> data = rw.synthetic.random_polynomial(20, 20, random_state=1)
    >>> SVMAUC(C=10).fit(data).score(data) > 0.5
    True
    """

    measure: str | Measure = "auc"

    paper = "2008"
    always_for = ("auc",)

    def _fit(self, queries: QuerySet, valid: QuerySet | None, progress: Any = None) -> None:
        fit_structured(self, queries, valid, [Criterion("auc")], progress)


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class SVMMAP(StructuredParameters, Ranker):
    """The structured SVM for MAP (Yue and others 2007); ``measure`` selects and scores.

    >>> import rankwright as rw
    >>> data = rw.synthetic.random_polynomial(20, 20, random_state=1)
    >>> SVMMAP(C=10).fit(data).scorer_
    LinearScorer(50 features, standardise)
    """

    measure: str | Measure = "map"

    paper = "2008"
    always_for = ("map",)

    def _fit(self, queries: QuerySet, valid: QuerySet | None, progress: Any = None) -> None:
        fit_structured(self, queries, valid, [Criterion("map")], progress)


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class SVMNDCG(StructuredParameters, Ranker):
    """The structured SVM for NDCG cut at ``k`` (2008 section 3.4); ``measure`` selects and scores.

    >>> import rankwright as rw
    >>> data = rw.synthetic.random_polynomial(20, 20, random_state=1)
    >>> SVMNDCG(C=10).fit(data).scorer_
    LinearScorer(50 features, standardise)
    """

    measure: str | Measure = DEFAULT_MEASURE
    k: int | None = 10

    paper = "2008"
    always_for = ("ndcg",)

    def _fit(self, queries: QuerySet, valid: QuerySet | None, progress: Any = None) -> None:
        fit_structured(self, queries, valid, [Criterion(NDCG(k=self.k))], progress)


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class SVMNDCGNC(StructuredParameters, Ranker):
    """SVMNDCG-NC, the structured SVM for NDCG that is not cut; ``measure`` selects and scores.

    >>> import rankwright as rw
    >>> data = rw.synthetic.random_polynomial(20, 20, random_state=1)
    >>> SVMNDCGNC(C=10).fit(data).scorer_
    LinearScorer(50 features, standardise)
    """

    measure: str | Measure = DEFAULT_MEASURE

    paper = "2008"
    always_for = ("ndcg",)

    def _fit(self, queries: QuerySet, valid: QuerySet | None, progress: Any = None) -> None:
        fit_structured(self, queries, valid, [Criterion("ndcg")], progress)


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class SVMMRR(StructuredParameters, Ranker):
    """The structured SVM for MRR cut at ``k`` (2008 section 3.6); ``measure`` selects and scores.

    >>> import rankwright as rw
    >>> data = rw.synthetic.random_polynomial(20, 20, random_state=1)
    >>> SVMMRR(C=10).fit(data).scorer_
    LinearScorer(50 features, standardise)
    """

    measure: str | Measure = "mrr"
    k: int | None = 10
    feature_map: str | FeatureMap = "mrr"

    paper = "2008"
    always_for = ("mrr",)

    def _fit(self, queries: QuerySet, valid: QuerySet | None, progress: Any = None) -> None:
        trained = Criterion(ReciprocalRank(k=self.k), self.feature_map)
        fit_structured(self, queries, valid, [trained], progress)


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class DORM(StructuredParameters, Ranker):
    """Direct optimisation of NDCG cut at ``k`` with φ_dorm (Le and Smola 2007; 2008 section 3.5).

    The map weighs ranks by 1/√rank; those behind ``until`` by 0. ``measure`` selects and scores.

    >>> import rankwright as rw
    >>> data = rw.synthetic.random_polynomial(20, 20, random_state=1)
    >>> DORM(C=10).fit(data).scorer_
    LinearScorer(50 features, standardise)
    """

    measure: str | Measure = DEFAULT_MEASURE
    k: int | None = 10
    until: int | None = None

    paper = "2008"
    always_for = ("ndcg",)

    def _fit(self, queries: QuerySet, valid: QuerySet | None, progress: Any = None) -> None:
        trained = Criterion(NDCG(k=self.k), Decay(until=self.until))
        fit_structured(self, queries, valid, [trained], progress)


COMBINED = (("map", "po"), ("ndcg@10", "po"), ("ndcg", "po"), ("mrr@10", "mrr"))


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class SVMCombo(StructuredParameters, Ranker):
    """The structured SVM for several losses at once (2008 section 3.7); ``measure`` selects and scores.

    ``criteria`` are rows of (measure, feature map) or (measure, feature map, a factor of C), or the same as
    text, "map po 0.5". ``slacks`` are "separate", one a loss and query, each loss with the mean over its own
    queries, or "shared" by a query's losses, which then have one C.

    >>> import rankwright as rw
    >>> data = rw.synthetic.random_polynomial(20, 20, random_state=1)
    >>> SVMCombo(criteria=[("map", "po"), ("auc", "po", 0.5)]).fit(data).scorer_
    LinearScorer(50 features, standardise)
    """

    measure: str | Measure = DEFAULT_MEASURE
    criteria: Sequence[str | tuple[Any, ...]] = COMBINED
    slacks: Literal["separate", "shared"] = "separate"

    paper = "2008"
    always_for = ("map", "ndcg", "mrr")

    def _fit(self, queries: QuerySet, valid: QuerySet | None, progress: Any = None) -> None:
        if self.slacks not in ("separate", "shared"):
            raise InputError(f"slacks is {self.slacks!r}; it is 'separate' or 'shared'")
        fit_structured(self, queries, valid, read_criteria(self.criteria, self.slacks), progress, self.slacks)


def read_criteria(given: Any, slacks: str) -> list[Criterion]:
    """Rows of measure, feature map and factor, checked.

    >>> read_criteria(["map po"], "shared")
    [Criterion(measure='map', feature_map='po', weight=1.0)]
    """
    if isinstance(given, str):
        given = [given]
    if not isinstance(given, Sequence):
        raise InputError(f"criteria is {given!r}; give rows of (measure, feature map)")
    criteria = []
    for row in given:
        cells = tuple(row.split()) if isinstance(row, str) else row
        if not isinstance(cells, Sequence) or not 2 <= len(cells) <= 3:
            raise InputError(
                f"a criterion is {row!r}; give (measure, feature map) or (measure, feature map, factor), "
                'or the same as text, "map po 0.5"'
            )
        criteria.append(Criterion(cells[0], cells[1], _number(cells[2]) if len(cells) > 2 else 1.0))
        factor = criteria[-1].weight
        if not isinstance(factor, int | float) or not 0 < factor < np.inf:
            raise InputError(f"the factor of C in {row!r} is {factor!r}; it is a number above 0")
        if slacks == "shared" and factor != 1:
            raise InputError(
                f"the factor of C in {row!r} is {factor:g}; losses that share slacks share C: leave it out"
            )
    if not criteria:
        raise InputError("criteria is empty; give at least one (measure, feature map)")
    return criteria


def _number(cell: Any) -> Any:
    """A cell of text as a number, where it is one."""
    try:
        return float(cell) if isinstance(cell, str) else cell
    except ValueError:
        return cell


def fit_structured(
    learner: Any,
    queries: QuerySet,
    valid: QuerySet | None,
    criteria: list[Criterion],
    progress: Any = None,
    slacks: str = "separate",
) -> None:
    """Equation 1 for these criteria, along the learner's path of C."""
    check_margin(learner)
    if queries.sample_weight is not None:
        raise InputError(
            f"{type(learner).__name__} takes no sample_weight: its loss is of a ranking as a whole; "
            "give query_weight, or take RankSVM, which weighs pairs of documents"
        )
    assert queries.labels is not None
    lists = Lists(queries.labels, queries.offsets, rows=queries.rows, n_jobs=learner.n_jobs)
    oracles = [
        worst_orderings(c.measure, c.feature_map, lists, threshold=learner.threshold) for c in criteria
    ]
    shared = query_shares(queries, oracles)
    solver = chosen(learner.solver, int((shared > 0).sum()))
    space = Space(learner, queries)
    rows = space.rows(queries)
    each = [shared if slacks == "shared" else query_shares(queries, [oracle]) for oracle in oracles]
    members = [
        Planes(oracle, rows, queries, shares, learner.n_jobs)
        for oracle, shares in zip(oracles, each, strict=True)
    ]
    problem: Problem = members[0]
    if len(members) > 1 and slacks == "shared":
        problem = SharedSlacks(members)
    elif len(members) > 1 or criteria[0].weight != 1:
        problem = SeparateSlacks(members, [c.weight for c in criteria])

    def solving(C: float, state: Any, watch: Watch) -> Solution:
        solution = solve(
            problem, C, solver=solver, tol=learner.tol, max_iter=learner.max_iter,
            random=generator(learner.random_state), state=state, watch=watch,
        )  # fmt: skip
        return solution

    fit_path(
        learner, queries, space, Path(learner, space, valid, progress), solving,
        depth=2,
        solver=solver,
        left_out=int((shared == 0).sum()),
        **trained_for(oracles),
    )  # fmt: skip


def trained_for(oracles: list[Any]) -> dict[str, Any]:
    """What the model file tells of the losses and of what they made of the labels."""
    return {
        "losses": ", ".join(f"{oracle.measure!r} with {oracle.feature_map!r}" for oracle in oracles),
        "labels": ", ".join(dict.fromkeys(map(labels_of, oracles))),
    }


def labels_of(oracle: Any) -> str:
    """What an oracle makes of the labels."""
    return "graded gains" if oracle.graded else f"good from {oracle.threshold:g} on"


def query_shares(queries: QuerySet, oracles: Sequence[Any]) -> Floats:
    """1/|Q| of each query that trains for any of these, or its weight's part of theirs; 0 of the others."""
    weights = np.ones(queries.n_queries) if queries.query_weight is None else np.array(queries.query_weight)
    trains = np.any([oracle.trains for oracle in oracles], axis=0)
    shares = np.where(trains, weights, 0.0)
    if not trains.any():
        raise InputError(
            f"no query has both good documents (labels from {oracles[0].threshold:g} on) and bad ones, so "
            "there is nothing to learn; give another threshold, or other data"
        )
    if not shares.sum() > 0:
        raise InputError(
            "all queries with good and bad documents have query_weight 0, so there is nothing to learn; "
            "give weights above 0"
        )
    return shares / shares.sum()


class Planes:
    """The planes of one criterion, a block a query: the worst orderings as losses and δφ."""

    def __init__(self, oracle: Any, rows: Singles, queries: QuerySet, shares: Floats, n_jobs: int | None):
        self._oracle, self._rows, self._n_jobs = oracle, rows, n_jobs
        self._offsets = np.array(queries.offsets)
        self._scores = np.zeros(len(rows))
        self._ids = queries.query_ids
        self.shares = shares
        self.n_features = rows.shape[1]

    def worst(self, weights: Floats, blocks: Integers | None = None) -> tuple[Floats, Floats]:
        """Δ and δφ of the worst ordering of each query, or of these."""
        if blocks is None:
            losses, coefficients = self._oracle.at(products(self._rows, weights, self._n_jobs))
            vectors = sums(self._rows, coefficients, self._offsets, self._n_jobs)
            self._check(weights, losses, vectors, np.arange(len(losses)))
            return losses, vectors
        parts = [slice(self._offsets[block], self._offsets[block + 1]) for block in blocks]
        for part in parts:
            self._scores[part] = products(self._rows[part], weights, 1)
        losses, coefficients = self._oracle.at(self._scores, queries=blocks)
        vectors, begin = np.empty((len(parts), self.n_features)), 0
        for number, part in enumerate(parts):
            size = part.stop - part.start
            own = np.array([0, size])
            vectors[number] = sums(self._rows[part], coefficients[begin : begin + size], own, 1)[0]
            begin += size
        self._check(weights, losses, vectors, blocks)
        return losses, vectors

    def _check(self, weights: Floats, losses: Floats, vectors: Floats, blocks: Integers) -> None:
        """The truth itself is worth 0: an oracle that finds something lower has not found the worst."""
        margins = vectors @ weights
        low = losses - margins < -BELOW * (1.0 + np.abs(losses) + np.abs(margins))
        if low.any():
            place = int(np.flatnonzero(low)[0])
            raise InputError(
                f"query {self._ids[blocks[place]]!r}: the worst ordering that was found for "
                f"{self._oracle.measure!r} is worth {losses[place] - margins[place]:.3g}, less than the true "
                "one, which is worth 0; the oracle of this loss does not maximise it"
            )


class SharedSlacks:
    """Several losses with one slack a query: its worst ordering by any of them."""

    def __init__(self, members: list[Planes]):
        self._members = members
        self.shares, self.n_features = members[0].shares, members[0].n_features

    def worst(self, weights: Floats, blocks: Integers | None = None) -> tuple[Floats, Floats]:
        """The highest plane of each query among all losses'."""
        losses, vectors = self._members[0].worst(weights, blocks)
        for member in self._members[1:]:
            own_losses, own_vectors = member.worst(weights, blocks)
            higher = own_losses - own_vectors @ weights > losses - vectors @ weights
            losses = np.where(higher, own_losses, losses)
            vectors = np.where(higher[:, None], own_vectors, vectors)
        return losses, vectors


class SeparateSlacks:
    """Several losses with a slack each: as many blocks as queries for the first, then for the second, …"""

    def __init__(self, members: list[Planes], factors: list[float]):
        self._members = members
        self.n_features = members[0].n_features
        self.shares: Floats = np.concatenate(
            [factor * member.shares for factor, member in zip(factors, members, strict=True)]
        )

    def worst(self, weights: Floats, blocks: Integers | None = None) -> tuple[Floats, Floats]:
        """Each loss's planes of each query, or of these."""
        if blocks is None:
            found = [member.worst(weights) for member in self._members]
            return np.concatenate([one[0] for one in found]), np.concatenate([one[1] for one in found])
        n = len(self.shares) // len(self._members)
        losses, vectors = np.empty(len(blocks)), np.empty((len(blocks), self.n_features))
        for place, block in enumerate(blocks):
            [losses[place]], [vectors[place]] = self._members[block // n].worst(
                weights, np.array([block % n])
            )
        return losses, vectors
