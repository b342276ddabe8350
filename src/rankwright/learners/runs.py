"""A training from its first step to its last: runs, checkpoints, going on, and ending before its time.

Runs differ by chance alone and are averaged into one forest.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from rankwright.data import QuerySet
from rankwright.learners.adaptation import base_scorer
from rankwright.learners.boosting import Objective, Record, Run, Training, has_chance
from rankwright.learners.checkpoints import EVERY, Checkpoint
from rankwright.learners.forests import averaged
from rankwright.runtime.errors import InputError
from rankwright.runtime.interrupts import interrupts_deferred
from rankwright.scorers import ForestScorer, Scorer, Sum

Progress = Callable[[Record], None]


def boost_runs(
    learner: Any,
    queries: QuerySet,
    valid: QuerySet | None,
    objective_of: Callable[[Any], Objective],
    progress: Progress | None = None,
    *,
    base: Any = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: int = EVERY,
    measure_train: bool = False,
) -> None:
    """Boost as often as ``n_runs`` says, and leave the learner with its scorer and history.

    Each run has a random state of its own, which no other random state of the learner has. With ``valid``
    each run ends with its own best step. What ``fit`` takes besides stands with ``TreeParameters``.
    """
    goes_on = learner.warm_start and hasattr(learner, "_runs")
    if base is None and goes_on:
        base = learner._base
    began_from = None if base is None else base_scorer(base, queries)
    book = None
    earlier: list[Run] = learner._runs if goes_on else []
    if goes_on and learner._base is not began_from:
        raise InputError("the trees that there are stand on another base; give fit the same base= or none")
    if checkpoint is not None:
        book = Checkpoint(checkpoint, checkpoint_every, learner, queries, valid, began_from)
        earlier = book.read() or earlier
    refuse_fewer(learner, earlier)
    ended: list[Ended] = []
    interrupted = False
    try:
        for own, objective in members(learner, objective_of):
            number = len(ended)
            training = Training(
                own, queries, valid, objective,
                base=began_from,
                earlier=earlier[number] if number < len(earlier) else None,
                measure_train=measure_train,
                marks={"run": number + 1} if learner.n_runs > 1 else None,
            )  # fmt: skip
            if not carry_on(training, ended, progress, book):
                break
            del training  # its memory, before that of the next
    except KeyboardInterrupt:
        interrupted = True
    leave(learner, queries, ended, began_from, book, interrupted)


class Ended(NamedTuple):
    """What a training leaves: all of its trees with their history, and the trees to keep."""

    run: Run
    kept: ForestScorer
    steps: int


def carry_on(
    training: Training, ended: list[Ended], progress: Progress | None, book: Checkpoint | None
) -> bool:
    """Train a run to its end; False where ``progress`` ends it all. What it leaves joins those that ended."""
    try:
        while not training.is_done:
            with interrupts_deferred():  # the threads that grow a tree wait for each other
                record = training.step()
            if book is not None and training.n_steps % book.every == 0:
                book.write([*(each.run for each in ended), training.run()])
            if progress is not None:
                progress(record)
    except StopIteration:
        return False
    finally:
        with interrupts_deferred():
            if training.n_steps:
                ended.append(Ended(training.run(), training.scorer(), training.best + 1))
    return True


def leave(
    learner: Any,
    queries: QuerySet,
    ended: list[Ended],
    base: Scorer | None,
    book: Checkpoint | None,
    interrupted: bool,
) -> None:
    """Leave the learner with the scorer of all runs; and let an interrupt go on."""
    if not ended:
        raise KeyboardInterrupt
    runs = [each.run for each in ended]
    if book is not None:
        book.write(runs)
    about = learner._about(queries, steps=sum(each.steps for each in ended))
    if interrupted:
        about["training"]["interrupted"] = True
    forest = ended[0].kept if learner.n_runs == 1 else averaged([each.kept for each in ended])
    learner.scorer_ = dataclasses.replace(forest, **about) if base is None else Sum([base, forest], **about)
    learner.history_ = [record for run in runs for record in run.history]
    learner._runs, learner._base = runs, base
    if interrupted:
        raise KeyboardInterrupt(f"after {len(learner.history_)} steps, whose trees are kept")


def members(learner: Any, objective_of: Callable[[Any], Objective]) -> Iterator[tuple[Any, Objective]]:
    """The learner of each run, and what it boosts."""
    if not isinstance(learner.n_runs, int | np.integer) or learner.n_runs < 1:
        raise InputError(f"n_runs is {learner.n_runs!r}; it is a whole number of at least 1")
    if learner.n_runs == 1:
        yield learner, objective_of(learner)
        return
    for run in range(learner.n_runs):
        own = clone(learner).set_params(random_state=learner.random_state * learner.n_runs + run)
        objective = objective_of(own)
        if not has_chance(own, objective):
            raise InputError(
                f"n_runs is {learner.n_runs}, and nothing is left to chance, so that all runs would be "
                "alike; set query_subsample, features_per_node or another parameter that draws, or n_runs=1"
            )
        yield own, objective


def refuse_fewer(learner: Any, earlier: list[Run]) -> None:
    """Refuse to go on where there is more than is asked for."""
    steps = max((len(run.history) for run in earlier), default=0)
    if len(earlier) > learner.n_runs or steps > learner.n_estimators:
        raise InputError(
            f"there are {steps} steps and {len(earlier)} runs already, more than n_estimators="
            f"{learner.n_estimators} and n_runs={learner.n_runs} ask for; raise these, or begin anew"
        )
