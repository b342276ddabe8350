"""A training's checkpoint: a model file of the trees so far, which says what they were trained on, and how.

Sum(base?, forest of run 1, forest of run 2, …)     all trees of each run, those after its best step too
header: parameters, digests of the data, and a record of each step, without seconds
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rankwright.data import QuerySet
from rankwright.learners.adaptation import base_scores
from rankwright.learners.boosting import Record, Run
from rankwright.runtime.errors import InputError
from rankwright.scorers import Scorer, Sum, load
from rankwright.scorers.forest import ForestScorer

EVERY = 10
ENTRY = "checkpoint"
NO_FIT = "its trees are not those of its history; remove it to begin anew"
MAY_CHANGE = ("n_estimators", "warm_start")
"""Parameters that change no tree that there is already."""
OTHER = {"version": "another version of rankwright", "data": "other data", "valid": "other data to stop by"}
COLUMNS = ("features", "offsets", "labels", "sample_weight", "query_weight", "rows")


class Checkpoint:
    """The checkpoint file of one training, every so many steps; ``base`` is its scorer."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        every: int,
        learner: Any,
        queries: QuerySet,
        valid: QuerySet | None,
        base: Scorer | None,
    ):
        if not isinstance(every, int | np.integer) or isinstance(every, bool) or every < 1:
            raise InputError(f"checkpoint_every is {every!r}; it is a whole number of steps")
        from rankwright import __version__

        self.path, self.every = path, every
        self._learner, self._queries, self._base = learner, queries, base
        self._made_from = {
            "version": __version__,
            "data": digest(queries, base),
            "valid": None if valid is None else digest(valid, base),
        }

    def write(self, runs: Sequence[Run]) -> None:
        """Put the runs so far in the file's place, whole or not at all."""
        about = self._learner._about(self._queries)
        about["training"][ENTRY] = {
            **self._made_from,
            "history": [[stored(record) for record in run.history] for run in runs],
        }
        forests = [run.forest for run in runs]
        before = [] if self._base is None else [self._base]
        weights = [1.0] * len(before) + [1.0 / len(forests)] * len(forests)
        Sum([*before, *forests], weights, **about).save(self.path)

    def read(self) -> list[Run]:
        """The runs of the file, none where there is no file; refused if it is that of another training."""
        if not Path(self.path).exists():
            return []
        scorer = load(self.path)
        found = scorer.training.get(ENTRY)
        forests = scorer.members[self._base is not None :]
        if not isinstance(found, dict) or not isinstance(found.get("history"), list):
            raise InputError(f"{self.path} is no checkpoint; give the name of another file")
        self._refuse_other(found, scorer.parameters)
        if len(forests) != len(found["history"]):
            raise InputError(f"{self.path}: {NO_FIT}")
        return [whole(self.path, *each) for each in zip(forests, found["history"], strict=True)]

    def _refuse_other(self, found: dict[str, Any], parameters: Any) -> None:
        cure = "give the name of another file, or remove it to begin anew"
        for name, value in self._learner._about(self._queries)["parameters"].items():
            if name not in MAY_CHANGE and parameters.get(name) != value:
                raise InputError(
                    f"{self.path} is a checkpoint with {name} = {parameters.get(name)!r}, and here it is "
                    f"{value!r}; {cure}"
                )
        for name, made in self._made_from.items():
            if found.get(name) != made:
                raise InputError(f"{self.path} is a checkpoint of {OTHER[name]}; {cure}")


def digest(queries: QuerySet, base: Scorer | None) -> str:
    """A digest of all that training sees of some queries.

    >>> digest(QuerySet([[1]], [0], qid=1), None) == digest(QuerySet([[1]], [1], qid=1), None)
    False
    """
    arrays = {name: getattr(queries, name) for name in COLUMNS}
    arrays["base"] = None if base is None else base_scores(base, queries)
    made = hashlib.blake2b(digest_size=16)
    for name, array in arrays.items():
        if array is not None:
            made.update(f"{name} {array.dtype} {array.shape} ".encode())
            made.update(np.ascontiguousarray(array).data)
    made.update("\n".join(queries.documents or ()).encode())
    return made.hexdigest()


def stored(record: Record) -> Record:
    """A record as the file has it: no seconds, and None for what is not a number.

    >>> stored({"step": 1, "valid": math.nan, "seconds": 0.1})
    {'step': 1, 'valid': None}
    """
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in record.items()
        if name != "seconds"
    }


def is_record(record: Any) -> bool:
    """Whether a record has what training looks at.

    >>> is_record({"step": 1, "leaves": 4, "valid": None}), is_record({"step": 1, "leaves": "4"})
    (True, False)
    """
    if not isinstance(record, dict):
        return False
    return isinstance(record.get("leaves"), int) and isinstance(record.get("valid"), int | float | None)


def whole(path: str | os.PathLike[str], forest: Scorer, history: Any) -> Run:
    """A run from the file; every step has its trees."""
    known = isinstance(history, list) and all(map(is_record, history))
    if (
        not known
        or not isinstance(forest, ForestScorer)
        or len(history) * len(forest.start) != forest.n_trees
    ):
        raise InputError(f"{path}: {NO_FIT}")
    return Run(
        forest,
        [
            {name: math.nan if value is None else value for name, value in record.items()}
            for record in history
        ],
    )
