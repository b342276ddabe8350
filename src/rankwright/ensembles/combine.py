"""The best linear combination of rankers (2010 section 7.1), exactly: every change of order is looked at.

    two:      s = (1 − α) a + α b, for the α whose mean measure is best
    several:  coordinate sweeps, each ranker's weight at its best in turn; or a learner over their scores

Equal scores stand as their rows do. Between two changes of order all α are as good as another, so the middle
of the widest best stretch is taken; a single point, where documents are tied, only if it beats all stretches.
What is reported is measured with the combination's own scores, not added up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from rankwright.data import QuerySet
from rankwright.learners.base import Ranker, as_queries, judge
from rankwright.learners.sweep import profile
from rankwright.measures import Measure
from rankwright.measures import measure as read_measure
from rankwright.measures.base import Floats
from rankwright.runtime.errors import InputError
from rankwright.scorers import Scorer, Stack, Sum

TRIED = 20
"""How many of the best points are measured: the first that keeps what the sweep promised is taken."""
ROUNDS = 10


def combine(
    a: Any,
    b: Any,
    measure: str | Measure,
    X: ArrayLike | QuerySet,
    y: ArrayLike | None = None,
    *,
    qid: Any = None,
    whole_line: bool = False,
    n_jobs: int | None = None,
) -> Sum:
    """The combination (1 − α)·a + α·b of two rankers (fitted learners or scorers) with the best mean measure.

    α is in [0, 1], or any number with ``whole_line``. The scorer's ``training`` tells ``alpha``, the mean
    measures of the combination (``best``) and of each ranker alone, and how often the mean changes.

    >>> import rankwright as rw
    >>> one, two = rw.LinearScorer([1.0, 0.0]), rw.LinearScorer([0.0, 1.0])
    >>> best = combine(one, two, "mrr", [[3, 0], [2, 2], [0, 3]], [0, 1, 0], qid=[1, 1, 1])
    >>> best.training["alpha"], best.training["best"], best.training["first"]
    (0.5, 1.0, 0.5)
    """
    queries, by = as_queries(X, y, qid), _measure(measure)
    scorers = as_scorers([a, b])
    first, second = (queries.in_stored_order(scorer.predict(queries)) for scorer in scorers)
    alpha, best, changes = best_alpha(first, second, by, queries, whole_line=whole_line, n_jobs=n_jobs)
    mean = judge(by, queries)
    training = {
        "alpha": alpha, "best": best, "first": mean(first), "second": mean(second), "changes": changes,
        "queries": queries.n_queries,
    }  # fmt: skip
    return Sum(scorers, [1.0 - alpha, alpha], measure=by, training=training)


def best_alpha(
    first: Floats,
    second: Floats,
    measure: Measure,
    queries: QuerySet,
    *,
    whole_line: bool = False,
    n_jobs: int | None = None,
) -> tuple[float, float, int]:
    """The best α for scores by stored row, the mean measure there, and how often the mean changes."""
    mean, scores = judge(measure, queries), np.array([first, second])
    found = profile(first, second - first, measure, queries, whole_line, n_jobs)
    ends = [(mean(first), 0.0), (mean(second), 1.0)]
    value, alpha = max(ends, key=lambda end: end[0])
    for candidate in found.candidates(TRIED):
        there = mean(weighed(np.array([1.0 - candidate, candidate]), scores))
        if there > value:
            value, alpha = there, candidate
    return alpha, value, len(found.where)


def blend(
    rankers: Sequence[Any],
    measure: str | Measure,
    X: ArrayLike | QuerySet,
    y: ArrayLike | None = None,
    *,
    qid: Any = None,
    learner: Ranker | None = None,
    valid: QuerySet | None = None,
    n_jobs: int | None = None,
) -> Sum | Stack:
    """A combination of several rankers: by coordinate sweeps, or by a learner over their scores.

    Sweeps begin with the best ranker and set each weight where the mean measure is best, until no weight
    gains. ``learner`` (``LambdaRank(hidden=0)``, ``LambdaMART()``, …) is fitted on the scores instead.

    >>> import rankwright as rw
    >>> rankers = [rw.LinearScorer.feature(f, 3) for f in range(3)]
    >>> X, y, qid = [[3, 0, 1], [2, 2, 1], [0, 3, 1]], [0, 1, 0], [1, 1, 1]
    >>> blend(rankers, "mrr", X, y, qid=qid).training["best"]
    1.0
    """
    queries, by, scorers = as_queries(X, y, qid), _measure(measure), as_scorers(rankers)
    if not scorers:
        raise InputError("there are no rankers to combine; give at least one")
    if learner is not None and not isinstance(learner, Ranker):
        raise InputError(f"learner is {learner!r:.60}; give an unfitted ranker, like LambdaRank(hidden=0)")
    scores = np.array([queries.in_stored_order(scorer.predict(queries)) for scorer in scorers])
    if learner is not None:
        return _learned(learner, scorers, scores, queries, valid)
    mean = judge(by, queries)
    singles = [mean(line) for line in scores]
    weights, best = sweep_weights(scores, by, queries, n_jobs=n_jobs)
    training = {"best": best, "singles": singles, "queries": queries.n_queries}
    return Sum(scorers, weights, measure=by, training=training)


def sweep_weights(
    scores: Floats,
    measure: Measure,
    queries: QuerySet,
    n_jobs: int | None = None,
) -> tuple[Floats, float]:
    """Weights for lines of scores by stored row, by coordinate sweeps from the best line on; their mean."""
    mean = judge(measure, queries)
    singles = [mean(line) for line in scores]
    weights = np.zeros(len(scores))
    weights[int(np.argmax(singles))] = 1.0
    best = max(singles)
    for _ in range(ROUNDS):
        before = best
        for k in range(len(scores)):
            rest = weighed(np.where(np.arange(len(scores)) == k, 0.0, weights), scores)
            if not rest.any():
                continue
            found = profile(rest, scores[k], measure, queries, True, n_jobs)
            for candidate in found.candidates(TRIED):
                moved = weights.copy()
                moved[k] = candidate
                there = mean(weighed(moved, scores))
                if there > best:
                    weights, best = moved, there
        if best <= before:
            break
    return weights, best


def as_scorers(rankers: Sequence[Any]) -> list[Scorer]:
    """The scorers of fitted learners; scorers as they are."""
    scorers = [getattr(ranker, "scorer_", ranker) for ranker in rankers]
    for scorer in scorers:
        if not isinstance(scorer, Scorer):
            raise InputError(f"{type(scorer).__name__} is no fitted learner and no scorer; fit it first")
    return scorers


def _learned(
    learner: Ranker, scorers: list[Scorer], scores: Floats, queries: QuerySet, valid: QuerySet | None
) -> Stack:
    held_out = None
    if valid is not None:
        lines = [valid.in_stored_order(scorer.predict(valid)) for scorer in scorers]
        held_out = on_scores(valid, np.array(lines))
    fitted = clone(learner).fit(on_scores(queries, scores), valid=held_out)
    core = fitted.scorer_
    return Stack(scorers, core, measure=core.measure, training={"queries": queries.n_queries})


def on_scores(queries: QuerySet, lines: Floats) -> QuerySet:
    """The same queries with lines of scores (by stored row) as features."""
    return queries.with_features(queries.in_given_order(lines.astype(np.float32).T))


def weighed(weights: Floats, scores: Floats) -> Floats:
    """What ``Sum`` makes of these weights, to the last bit."""
    total = np.zeros(scores.shape[1])
    for weight, line in zip(weights, scores, strict=True):
        if weight != 0:
            total += weight * line
    return total


def _measure(given: str | Measure) -> Measure:
    return given if isinstance(given, Measure) else read_measure(given)
