"""Several runs of boosting that differ by chance alone, averaged into one forest."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from rankwright.data import QuerySet
from rankwright.learners.boosting import Objective, boost, has_chance
from rankwright.runtime.errors import InputError
from rankwright.scorers.forest import ForestScorer


def boost_runs(
    learner: Any,
    queries: QuerySet,
    valid: QuerySet | None,
    objective_of: Callable[[Any], Objective],
    progress: Callable[[dict[str, Any]], None] | None = None,
) -> tuple[ForestScorer, list[dict[str, Any]]]:
    """Boost as often as ``n_runs`` says: the scorer, and a record of each step of each run.

    Each run has a random state of its own, which no other random state of the learner has. With ``valid``
    each run ends with its own best step.
    """
    if not isinstance(learner.n_runs, int | np.integer) or learner.n_runs < 1:
        raise InputError(f"n_runs is {learner.n_runs!r}; it is a whole number of at least 1")
    if learner.n_runs == 1:
        return boost(learner, queries, valid, objective_of(learner), progress)
    scorers: list[ForestScorer] = []
    records: list[dict[str, Any]] = []

    def told(record: dict[str, Any]) -> None:
        record["run"] = len(scorers) + 1
        if progress is not None:
            progress(record)

    for run in range(learner.n_runs):
        own = clone(learner).set_params(random_state=learner.random_state * learner.n_runs + run)
        objective = objective_of(own)
        if not has_chance(own, objective):
            raise InputError(
                f"n_runs is {learner.n_runs}, and nothing is left to chance, so that all runs would be "
                "alike; set query_subsample, features_per_node or another parameter that draws, or n_runs=1"
            )
        scorer, history = boost(own, queries, valid, objective, told)
        scorers.append(scorer)
        records += history
    about = learner._about(queries, steps=sum(scorer.training["steps"] for scorer in scorers))
    return dataclasses.replace(averaged(scorers), **about), records


def averaged(scorers: Sequence[ForestScorer]) -> ForestScorer:
    """The mean of forests of the same features, categories and outputs, as one forest of all their trees."""
    forests = [scorer.trees for scorer in scorers]
    joined: dict[str, Any] = {}
    for name in forests[0]._fields:
        arrays = [getattr(trees, name) for trees in forests]
        if name in ("first_node", "first_leaf"):
            ends = np.cumsum([0, *(array[-1] for array in arrays)])
            arrays = [array[1:] + end for array, end in zip(arrays, ends[:-1], strict=True)]
            joined[name] = np.concatenate([[0], *arrays])
        elif name == "category_set":
            sets = np.cumsum([0, *(len(trees.sets) for trees in forests)])
            moved = [np.where(array >= 0, array + at, -1) for array, at in zip(arrays, sets, strict=False)]
            joined[name] = np.concatenate(moved).astype(np.int32)
        elif name in ("first_code", "codes"):
            joined[name] = arrays[0].copy()
        else:
            joined[name] = np.concatenate(arrays)
    joined["values"] = joined["values"] / len(scorers)
    start = np.mean([scorer.start for scorer in scorers], axis=0)
    return dataclasses.replace(scorers[0], trees=forests[0]._replace(**joined), start=start)
