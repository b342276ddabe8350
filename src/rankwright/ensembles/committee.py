"""A committee: within a budget, a spread of learners, weighed by what they score on queries they never saw.

1. Whole queries are dealt into folds. A candidate (a learner, its seed, its bag of queries) is fitted once
   a fold: the next fold stops it, and it scores the fold itself. Its out-of-fold scores thus come from
   models that saw neither the labels of a query nor stopped by them.
2. Candidates are made until the budget is spent: every learner of the spread first, then all of them again
   with other seeds, on bags of the queries.
3. Out of fold, the best single candidate or the mean of the best few is where the committee begins. The
   candidate whose best share (an exact sweep) gains most joins, while any earns its place.
4. A member is the mean of its models, scores scaled alike; the committee is their weighted sum.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from rankwright import learners as shelf
from rankwright.data import QuerySet
from rankwright.ensembles.combine import TRIED, on_scores, weighed
from rankwright.learners.base import DEFAULT_MEASURE, Ranker, judge
from rankwright.learners.lambdarank import LambdaRank
from rankwright.learners.sweep import profile
from rankwright.measures import Measure
from rankwright.measures.base import Floats
from rankwright.measures.lists import Lists
from rankwright.runtime.errors import InputError
from rankwright.scorers import Scorer, Stack, Sum

BAG = 0.8
"""The share of the training queries in a bag; the first round sees them all."""
EARNED = 0.25
"""A member's gain, in standard errors of the paired differences, from which it earns its place."""
TREES = {
    "n_estimators": 600, "early_stopping_rounds": 60, "learning_rate": 0.05, "max_leaf_nodes": 8,
    "query_subsample": 0.7, "feature_fraction": 0.5,
}  # fmt: skip
NETS = {"epochs": 60, "early_stopping_rounds": 12, "learning_rate": 0.003}
SPREAD: tuple[tuple[str, dict[str, Any]], ...] = (
    ("LambdaMART", TREES),
    ("LambdaMART", {**TREES, "loss": "xendcg"}),
    ("MART", TREES),
    ("LambdaRank", {**NETS, "hidden": 10}),
    ("LambdaMART", {**TREES, "max_leaf_nodes": 4, "learning_rate": 0.1}),
    ("SVMMAP", {}),
    ("RankNet", {**NETS, "hidden": 0}),
    ("McRank", TREES),
    ("SVMNDCG", {}),
    ("MART", {**TREES, "max_leaf_nodes": 16}),
    ("LambdaMART", {**TREES, "max_leaf_nodes": 16, "loss": "xendcg"}),
    ("RankSVM", {}),
)
"""Learners by name with settings; those that are not on the shelf or lack a setting are passed over."""


class Candidate(NamedTuple):
    """A learner that was tried: its models, a scale for each, and its out-of-fold scores by stored row."""

    learner: Ranker
    models: list[Scorer]
    scales: list[float]
    scores: Floats
    alone: float

    def scorer(self) -> Sum:
        """The mean of its models."""
        return Sum(self.models, [1.0 / (scale * len(self.models)) for scale in self.scales])


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class Committee(Ranker):
    """Several learners within a budget, weighed out of fold, as one scorer.

    ``budget``: seconds, or text: "90 seconds", "40 fits". A budget in fits gives the same committee on any
    machine and any number of threads. ``learners``: unfitted rankers to try in the place of the built-in
    spread. ``folds``: how many parts the queries are dealt into, and fits each candidate takes. ``weigh``:
    "sweep" (exact sweeps) or "lambda" (a linear LambdaRank net over the scores).

    After ``fit``, ``history_`` tells what was tried, ``members_`` who sits in the committee: the learner, its
    ``weight``, what it scores ``alone`` and what it ``adds`` (the mean out of fold less that without it), and
    ``out_of_fold_`` the committee's mean out of fold, which is never below that of its best member.

    >>> import rankwright as rw
    >>> data = rw.synthetic.random_net(20, 10, 5, random_state=1)
    >>> quick = [rw.LambdaRank(hidden=0, epochs=5), rw.MART(n_estimators=5, min_samples_leaf=5)]
    >>> committee = Committee(budget="12 fits", folds=3, learners=quick).fit(data)
    >>> len(committee.history_), committee.out_of_fold_ >= max(m["alone"] for m in committee.members_)
    (4, True)
    """

    measure: str | Measure = DEFAULT_MEASURE
    budget: float | str = 600.0
    learners: Sequence[Ranker] | None = None
    folds: int = 5
    weigh: Literal["sweep", "lambda"] = "sweep"
    random_state: int = 0
    n_jobs: int | None = None

    def _fit(
        self,
        queries: QuerySet,
        valid: QuerySet | None,
        progress: Callable[[dict[str, Any]], None] | None = None,
    ) -> None:
        if valid is not None:
            raise InputError("a committee holds queries out by itself; give all of them as training data")
        if self.weigh not in ("sweep", "lambda"):
            raise InputError(f"weigh is {self.weigh!r}; it is 'sweep' or 'lambda'")
        budget, parts = Budget.of(self.budget), dealt(queries, self.folds, self.random_state)
        # 1. and 2.
        candidates: list[Candidate] = []
        self.history_ = []
        for learner, bagged in self._spread():
            candidate = tried(learner, bagged, queries, parts, self.selection_measure, budget)
            if candidate is None:
                break
            candidates.append(candidate)
            self.history_.append(
                {"step": len(candidates), "learner": named(learner), "valid": candidate.alone,
                 "fits": budget.fits, "seconds": budget.seconds}
            )  # fmt: skip
            if progress is not None:
                progress(self.history_[-1])
        if not candidates:
            raise InputError(
                f"the budget of {self.budget} ended within the first learner's {self.folds} fits; give more"
            )
        # 3. and 4.
        weights, best = chosen(candidates, self.selection_measure, queries, self.n_jobs)
        self._leave(queries, candidates, weights, best)

    def _spread(self) -> Iterator[tuple[Ranker, bool]]:
        """Learners to try, without end: each once, then again with other seeds on bags of queries (True)."""
        first = spread(self.selection_measure) if self.learners is None else list(self.learners)
        if not first:
            raise InputError("learners is empty; give some unfitted rankers, or None")
        number = 0
        while True:
            for learner in first:
                known = learner.get_params(deep=False)
                settings: dict[str, Any] = {"random_state": self.random_state + number, "n_jobs": self.n_jobs}
                if self.learners is None:
                    settings["measure"] = self.measure
                own = clone(learner).set_params(**{k: v for k, v in settings.items() if k in known})
                yield own, number >= len(first)
                number += 1

    def _leave(self, queries: QuerySet, candidates: list[Candidate], weights: Floats, best: float) -> None:
        """Set the scorer and what is told of it."""
        mean = judge(self.selection_measure, queries)
        scores = np.array([candidate.scores for candidate in candidates])
        kept = np.flatnonzero(weights)
        scorer: Scorer = Sum([candidates[k].scorer() for k in kept], weights[kept])
        self.members_: list[dict[str, Any]] = []
        for k in kept:
            without = np.where(np.arange(len(weights)) == k, 0.0, weights)
            less = mean(weighed(without, scores)) if len(kept) > 1 else 0.0
            self.members_.append(
                {"learner": named(candidates[k].learner), "weight": float(weights[k]),
                 "alone": candidates[k].alone, "adds": best - less}
            )  # fmt: skip
        if self.weigh == "lambda":
            lines = on_scores(queries, scores[kept])
            net = LambdaRank(
                measure=self.measure, hidden=0, epochs=60, learning_rate=0.01,
                random_state=self.random_state, n_jobs=self.n_jobs,
            ).fit(lines)  # fmt: skip
            over = net.score(lines)
            if over >= max(member["alone"] for member in self.members_):
                scorer, best = Stack([candidates[k].scorer() for k in kept], net.scorer_), over
        self.out_of_fold_: float = best
        told = [{key: value for key, value in m.items() if key != "adds"} for m in self.members_]
        self.scorer_ = dataclasses.replace(
            scorer, **self._about(queries, out_of_fold=best, tried=len(candidates), members=told)
        )


class Budget:
    """Seconds or fits, and what is spent of them."""

    def __init__(self, most: float, in_fits: bool):
        self.most, self.in_fits = most, in_fits
        self.fits = 0
        self._begin = time.monotonic()

    @classmethod
    def of(cls, given: float | str) -> Budget:
        """A number of seconds, or text.

        >>> budget = Budget.of("40 fits")
        >>> budget.most, budget.in_fits
        (40.0, True)
        """
        number, _, unit = str(given).strip().partition(" ")
        units = {"": False, "s": False, "second": False, "seconds": False, "fit": True, "fits": True}
        try:
            most = float(number)
        except ValueError:
            most = np.nan
        if unit.strip() not in units or not 0 < most < np.inf:
            raise InputError(f"budget is {given!r}; give seconds (600) or text ('600 seconds', '40 fits')")
        return cls(most, units[unit.strip()])

    @property
    def seconds(self) -> float:
        """How long it is since the beginning."""
        return time.monotonic() - self._begin

    def allows(self, fits: int) -> bool:
        """Whether there is room for so many fits more."""
        if self.in_fits:
            return self.fits + fits <= self.most
        return self.seconds < self.most


def spread(measure: Measure) -> list[Ranker]:
    """The built-in spread: those learners of it that there are and that accept the measure.

    >>> import rankwright as rw
    >>> len(spread(rw.measure("ndcg@10"))) >= 5
    True
    """
    found = []
    known = shelf.known()
    for name, settings in SPREAD:
        if name not in known or (known[name].needs_swap_gains and not measure.has_swap_gains):
            continue
        parameters = known[name]().get_params(deep=False)
        if set(settings) <= set(parameters):
            found.append(known[name](**settings))
    return found


def named(learner: Ranker) -> str:
    """A learner with its settings, in a line; the number of threads is none of them.

    >>> import rankwright as rw
    >>> named(rw.LambdaRank(hidden=0, n_jobs=2))
    'LambdaRank(hidden=0)'
    """
    own = clone(learner)
    if "n_jobs" in own.get_params(deep=False):
        own.set_params(n_jobs=None)
    return " ".join(repr(own).split())


def dealt(queries: QuerySet, folds: int, random_state: int) -> NDArray[np.int64]:
    """The fold of each query, by chance."""
    if not 3 <= folds <= queries.n_queries:
        raise InputError(
            f"folds is {folds} for {queries.n_queries} queries; give 3 or more, and no more than queries"
        )
    return np.random.default_rng([random_state, 1]).permutation(queries.n_queries) % folds


def tried(
    learner: Ranker,
    bagged: bool,
    queries: QuerySet,
    parts: NDArray[np.int64],
    measure: Measure,
    budget: Budget,
) -> Candidate | None:
    """A learner fitted once a fold, without it and the next one; None where the budget ends before."""
    folds = int(parts.max()) + 1
    models, scales = [], []
    scores = np.zeros(len(queries))
    row_part = np.repeat(parts, queries.sizes)
    if not budget.allows(folds):
        return None
    for fold in range(folds):
        stopping = (fold + 1) % folds
        seen = np.flatnonzero((parts != fold) & (parts != stopping))
        if bagged:
            random = np.random.default_rng([learner.get_params().get("random_state") or 0, fold, 2])
            seen = np.sort(random.choice(seen, max(1, round(BAG * len(seen))), replace=False))
        own = clone(learner)
        own.fit(queries.select(seen), valid=queries.select(parts == stopping))
        budget.fits += 1
        unseen = queries.select(parts == fold)
        made = own.scorer_.stored_scores(unseen.features, unseen.offsets)
        scale = float(np.std(made)) or 1.0
        scores[row_part == fold] = made / scale
        models.append(own.scorer_)
        scales.append(scale)
        if not budget.in_fits and not budget.allows(1) and fold + 1 < folds:
            return None
    return Candidate(learner, models, scales, scores, judge(measure, queries)(scores))


def chosen(
    candidates: list[Candidate], measure: Measure, queries: QuerySet, n_jobs: int | None = None
) -> tuple[Floats, float]:
    """The weight of each candidate (0: it does not sit), and the mean out of fold."""
    assert queries.labels is not None
    scores = np.array([candidate.scores for candidate in candidates])
    lists = Lists(queries.labels, queries.offsets, rows=queries.rows, n_jobs=n_jobs)
    mean = judge(measure, queries)
    order = np.argsort([-candidate.alone for candidate in candidates], kind="stable")
    weights, best = np.zeros(len(scores)), -np.inf
    for count in range(1, len(order) + 1):
        even = np.zeros(len(scores))
        even[order[:count]] = 1.0 / count
        value = mean(weighed(even, scores))
        if value > best:
            weights, best = even, value
    while True:
        found = _best_share(weights, best, scores, measure, queries, n_jobs)
        if found is None or not _earned(weighed(weights, scores), weighed(found, scores), lists, measure):
            return _pruned(weights, best, scores, mean)
        weights, best = found, mean(weighed(found, scores))


def _pruned(
    weights: Floats, best: float, scores: Floats, mean: Callable[[Floats], float]
) -> tuple[Floats, float]:
    """The weights without members whose absence costs nothing, the lightest first; the mean then."""
    for k in np.argsort(weights, kind="stable"):
        without = np.where(np.arange(len(weights)) == k, 0.0, weights)
        if weights[k] != 0 and without.any() and (value := mean(weighed(without, scores))) >= best:
            weights, best = without, value
    return weights, best


def _best_share(
    weights: Floats, best: float, scores: Floats, measure: Measure, queries: QuerySet, n_jobs: int | None
) -> Floats | None:
    """The weights with the candidate in whose favour the best share of the others gains most."""
    mean, winner = judge(measure, queries), None
    now = weighed(weights, scores)
    for k in range(len(scores)):
        found = profile(now, scores[k] - now, measure, queries, n_jobs=n_jobs)
        for alpha in found.candidates(TRIED)[:1]:
            moved = weights * (1.0 - alpha)
            moved[k] += alpha
            value = mean(weighed(moved, scores))
            if value > best:
                winner, best = moved, value
    return winner


def _earned(before: Floats, after: Floats, lists: Lists, measure: Measure) -> bool:
    """Whether the gain is more than a share of what chance would make of it."""
    gains = lists.ranked(after).values(measure) - lists.ranked(before).values(measure)
    gains = gains[~np.isnan(gains)]
    return bool(gains.mean() > EARNED * gains.std() / np.sqrt(len(gains)))
