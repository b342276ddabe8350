"""A committee: within a budget, a spread of learners, weighed by what they score on queries they never saw.

1. Whole queries are dealt into folds. A candidate (a learner, its seed, its bag of queries) is fitted once
   a fold: the next fold stops it, and it scores the fold itself. Its out-of-fold scores thus come from
   models that saw neither the labels of a query nor stopped by them.
2. Candidates are made until the budget is spent: every learner of the spread first, then some times again
   those that are not clearly worse than the best, with other seeds, on bags of the queries.
3. Who sits, and how much each counts, is chosen by these scores (``choosing.py``).
4. A member is the mean of its models, scores scaled alike; the committee is their weighted sum.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
from sklearn.base import clone

from rankwright import learners as shelf
from rankwright.data import QuerySet
from rankwright.ensembles.choosing import Judge, chosen, clearly_worse
from rankwright.ensembles.combine import on_scores, weighed
from rankwright.ensembles.trying import Budget, Candidate, Folds, Spent, Trial, named, tried
from rankwright.learners.base import DEFAULT_MEASURE, Ranker, check_whole
from rankwright.learners.lambdarank import LambdaRank
from rankwright.measures import Measure
from rankwright.measures.base import Floats
from rankwright.runtime.errors import InputError
from rankwright.scorers import Scorer, Stack, Sum

TREES = {
    "n_estimators": 600, "early_stopping_rounds": 60, "learning_rate": 0.05, "max_leaf_nodes": 8,
    "query_subsample": 0.7, "feature_fraction": 0.5,
}  # fmt: skip
SMALL_TREES = {**TREES, "max_leaf_nodes": 4, "learning_rate": 0.1}
ROUNDS = 8
"""A learner is tried no more often: the mean of more seeds and bags is next to the same."""
NETS = {"epochs": 60, "early_stopping_rounds": 12, "learning_rate": 0.003}
LINEAR = {**NETS, "hidden": 0}
SPREAD: tuple[tuple[str, dict[str, Any], bool], ...] = (
    ("LambdaRank", LINEAR, False),
    ("AdaRank", {}, False),
    ("LambdaMART", SMALL_TREES, False),
    ("LambdaMART", {**TREES, "loss": "xendcg"}, True),
    ("RankSVM", {"C": 1.0}, False),
    ("MART", {**TREES, "max_leaf_nodes": 4}, True),
    ("RankNet", LINEAR, False),
    ("McRank", TREES, False),
    ("SVMMAP", {"C": 1.0}, False),
    ("LambdaMART", TREES, True),
    ("ListNet", LINEAR, False),
    ("McRank", TREES, True),
    ("RankSVM", {"C": 1.0, "scaling": "query"}, False),
    ("RandomForestRanker", {"n_estimators": 100}, True),
    ("LambdaMART", {**TREES, "loss": "xendcg"}, False),
    ("MART", TREES, False),
    ("LambdaRank", {**NETS, "hidden": 10}, False),
    ("LambdaRank", {**LINEAR, "standardise": False}, True),
    ("ListMLE", LINEAR, False),
    ("SVMNDCG", {}, False),
    ("RankBoost", {"early_stopping_rounds": 50}, False),
    ("CoordinateAscent", {"n_starts": 1, "max_iter": 4}, False),
)
"""Learners by name, with settings, and whether on features scaled within each query; the quick ones first."""


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class Committee(Ranker):
    """Several learners within a budget, weighed out of fold, as one scorer.

    ``budget``: seconds, or text: "90 seconds", "2 hours", "40 fits". A budget in fits gives the same
    committee on any machine and any number of threads. ``learners``: unfitted rankers to try in the place of
    the built-in spread, of which some look at features scaled within each query (predicting then needs
    ``qid``). ``folds``: how many parts the queries are dealt into, and fits each candidate takes. ``weigh``:
    "sweep" (exact sweeps) or "lambda" (a linear LambdaRank net over the scores).

    After ``fit``, ``history_`` tells what was tried (and what refused the data), ``members_`` who sits: the
    learner, its ``weight``, what it scores ``alone`` and what it ``adds`` (the mean out of fold less that
    without it). ``out_of_fold_`` is the committee's mean out of fold, never below the best candidate's. An
    interrupt (Ctrl-C) leaves the committee of what was tried until then.

    >>> import rankwright as rw
    >>> data = rw.synthetic.random_net(20, 10, 5, random_state=1)
    >>> quick = [rw.LambdaRank(hidden=0, epochs=5), rw.MART(n_estimators=5, min_samples_leaf=5)]
    >>> committee = Committee(budget="12 fits", folds=3, learners=quick).fit(data)
    >>> len(committee.history_), committee.out_of_fold_ >= max(r["valid"] for r in committee.history_)
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
        self._check(valid)
        budget, judge = Budget.of(self.budget), Judge(self.selection_measure, queries, self.n_jobs)
        folds = Folds(queries, self.folds, self.random_state)
        # 1. and 2.
        self.history_ = []
        candidates: list[Candidate] = []
        interrupted = False
        try:
            self._try(candidates, folds, judge, budget, progress or (lambda record: None))
        except Spent:
            pass
        except KeyboardInterrupt:
            interrupted = True
        if not candidates:
            raise KeyboardInterrupt if interrupted else InputError(self._why_none())
        # 3. and 4.
        scores = np.array([candidate.scores for candidate in candidates])
        weights, best = chosen(scores, judge, lambda: not budget.in_fits and budget.share >= 1)
        self._leave(candidates, weights, best, judge, **{"interrupted": True} if interrupted else {})
        if interrupted:
            raise KeyboardInterrupt

    def _check(self, valid: QuerySet | None) -> None:
        if valid is not None:
            raise InputError("a committee holds queries out by itself; give all of them as training data")
        if self.weigh not in ("sweep", "lambda"):
            raise InputError(f"weigh is {self.weigh!r}; it is 'sweep' or 'lambda'")
        check_whole(self, folds=3, random_state=0)
        if self.selection_measure.ties != "input":
            raise InputError(
                f"{self.selection_measure!r}: members are weighed by sweeps, in which equal scores stand as "
                "their rows do; use ties=input"
            )
        if self.learners is not None and not self.learners:
            raise InputError("learners is empty; give some unfitted rankers, or None")
        for learner in self.learners or ():
            if not isinstance(learner, Ranker):
                raise InputError(
                    f"learners has {learner!r:.60}, which is no ranker; give some like rw.MART()"
                )

    def _try(
        self,
        candidates: list[Candidate],
        folds: Folds,
        judge: Judge,
        budget: Budget,
        told: Callable[[dict[str, Any]], None],
    ) -> None:
        """Add candidates while there is time (else ``Spent``); ``history_`` tells of each."""
        first, number = self._first(folds), 0
        for _ in range(ROUNDS):
            made: list[tuple[Trial, Floats]] = []
            for trial in first:
                own = self._seeded(trial, number)
                record: dict[str, Any] = {"step": number + 1, "learner": named(own)}
                try:
                    candidates.append(tried(own, folds, judge, budget))
                    made.append((trial._replace(bagged=True), judge.values(candidates[-1].scores)))
                    record["valid"] = candidates[-1].alone
                except InputError as refusal:
                    record["refused"] = str(refusal)
                number += 1
                self.history_.append(
                    {**record, "fits": budget.fits, "share": budget.share, "seconds": budget.seconds}
                )
                told(self.history_[-1])
            if made:
                worse = clearly_worse([values for _, values in made], judge)
                made = [each for each, behind in zip(made, worse, strict=True) if not behind]
            first = [trial for trial, _ in made]

    def _why_none(self) -> str:
        refusals = [record["refused"] for record in self.history_ if "refused" in record]
        if refusals:
            return f"no learner could be fitted to the data; the first says: {refusals[0]}"
        return f"the budget of {self.budget} ended within the first learner's {self.folds} fits; give more"

    def _first(self, folds: Folds) -> list[Trial]:
        """What is tried first: the learners given, or the spread."""
        if self.learners is not None:
            return [Trial(learner, False, False) for learner in self.learners]
        trials: list[Trial] = []
        for learner, scaled in spread(self.selection_measure):
            learner.set_params(measure=self.measure)
            if not folds.scaling_matters and learner.get_params().get("scaling") == "query":
                learner.set_params(scaling="standard")
            trial = Trial(learner, scaled and folds.scaling_matters, False)
            if named(trial) not in map(named, trials):
                trials.append(trial)
        return trials

    def _seeded(self, trial: Trial, number: int) -> Trial:
        """The same learner with a seed of its own, and the committee's threads."""
        known = trial.learner.get_params(deep=False)
        settings = {"random_state": self.random_state + number, "n_jobs": self.n_jobs}
        own = clone(trial.learner).set_params(**{k: v for k, v in settings.items() if k in known})
        return trial._replace(learner=own, number=number)

    def _leave(
        self, candidates: list[Candidate], weights: Floats, best: float, judge: Judge, **more: Any
    ) -> None:
        """Set the scorer and what is told of it."""
        scores = np.array([candidate.scores for candidate in candidates])
        kept = np.flatnonzero(weights)
        scorer: Scorer = Sum([candidates[k].scorer() for k in kept], weights[kept])
        self.members_: list[dict[str, Any]] = []
        for k in kept:
            without = np.where(np.arange(len(weights)) == k, 0.0, weights)
            less = judge.mean(weighed(without, scores)) if len(kept) > 1 else 0.0
            self.members_.append(
                {"learner": named(candidates[k].trial), "weight": float(weights[k]),
                 "alone": candidates[k].alone, "adds": best - less}
            )  # fmt: skip
        if self.weigh == "lambda":
            lines = on_scores(judge.queries, scores[kept])
            net = LambdaRank(
                measure=self.measure, hidden=0, epochs=60, learning_rate=0.01,
                random_state=self.random_state, n_jobs=self.n_jobs,
            ).fit(lines)  # fmt: skip
            over = net.score(lines)
            if over >= max(candidate.alone for candidate in candidates):
                scorer, best = Stack([candidates[k].scorer() for k in kept], net.scorer_), over
        self.out_of_fold_: float = best
        told = [{key: value for key, value in m.items() if key != "adds"} for m in self.members_]
        about = self._about(judge.queries, out_of_fold=best, tried=len(candidates), members=told, **more)
        self.scorer_ = dataclasses.replace(scorer, **about)


def spread(measure: Measure) -> Iterator[tuple[Ranker, bool]]:
    """The built-in spread: the learners that accept the measure, and whether on features scaled by query.

    >>> import rankwright as rw
    >>> len(list(spread(rw.measure("ndcg@10")))) >= 10
    True
    """
    known = shelf.known()
    for name, settings, scaled in SPREAD:
        if known[name].accepts(measure):
            yield known[name](**settings), scaled
