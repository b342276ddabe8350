"""Runs experiments piece by piece, keeps what each piece gave, and judges the rows."""

from __future__ import annotations

import dataclasses
import json
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rankwright import __version__
from rankwright.reproductions.experiments import Experiment, Setting
from rankwright.reproductions.rows import Row, shown
from rankwright.runtime.errors import InputError
from rankwright.runtime.files import written_whole

Progress = Callable[[str, int, int], None]
"""Called with a piece's name, how many pieces are done, and of how many."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """A row beside what was found: ours, or why there is none."""

    experiment: Experiment
    row: Row
    full: bool
    ours: Any = None
    failure: str = ""

    @property
    def ok(self) -> bool:
        """Whether it ran and ours is as the paper has it."""
        return not self.failure and self.row.check(self.full).holds(self.ours)

    @property
    def state(self) -> str:
        """OK or FAIL."""
        return "OK" if self.ok else "FAIL"

    @property
    def shown(self) -> str:
        """Ours as text, or why there is none."""
        return f"did not run: {self.failure}" if self.failure else shown(self.ours)

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "experiment": self.experiment.name,
            "paper": self.experiment.paper,
            "where": self.row.where,
            "what": self.row.what,
            "data": self.experiment.data,
            "command": self.experiment.command(self.full),
            "published": self.row.published,
            "asked": str(self.row.check(self.full)),
            "why": self.row.why,
            "ours": None if self.failure else plain(self.ours),
            "failure": self.failure or None,
            "state": self.state,
            "found": self.row.found or None,
        }


@dataclasses.dataclass(frozen=True)
class Store:
    """Results of pieces as JSON files: one folder a form and experiment, one file a piece."""

    folder: Path

    def path(self, experiment: Experiment, full: bool, piece: str) -> Path:
        """Where the result of a piece is kept."""
        return self.folder / ("full" if full else "short") / experiment.name / f"{piece}.json"

    def read(self, experiment: Experiment, full: bool, piece: str) -> dict[str, Any] | None:
        """What was kept of a piece, if it counts still."""
        path = self.path(experiment, full, piece)
        if not path.exists():
            return None
        try:
            kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            fresh = kept["revision"] == experiment.revision and "result" in kept
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path} is no result of a piece ({error}); remove it") from error
        return kept if fresh else None

    def write(self, experiment: Experiment, full: bool, piece: str, result: Any, seconds: float) -> Any:
        """Keep the result of a piece; gives it back as it will be read."""
        path = self.path(experiment, full, piece)
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = {
            "revision": experiment.revision,
            "version": __version__,
            "seconds": round(seconds, 3),
            "result": plain(result),
        }
        with written_whole(path) as draft:
            draft.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        return kept["result"]


def plain(value: Any) -> Any:
    """A value as JSON will give it back.

    >>> plain({"a": np.float64(0.5), "b": np.arange(2)})
    {'a': 0.5, 'b': [0, 1]}
    """
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(each) for each in value]
    return value.item() if isinstance(value, np.generic) else value


@dataclasses.dataclass(frozen=True)
class Run:
    """What came of one experiment: its rows' outcomes, the pieces' results and the seconds they took."""

    experiment: Experiment
    full: bool
    outcomes: tuple[Outcome, ...]
    results: dict[str, Any]
    seconds: dict[str, float]
    failure: str = ""


def run(
    experiment: Experiment,
    setting: Setting,
    store: Store | None = None,
    *,
    until: float = math.inf,
    progress: Progress | None = None,
) -> Run:
    """Run the pieces of which ``store`` holds no result, and judge the rows.

    What goes wrong in a piece is a failure of the experiment's rows, not an error. No piece is begun
    when the clock (``time.monotonic``) is past ``until``; so 0 runs nothing, and takes what is there.
    """
    results: dict[str, Any] = {}
    seconds: dict[str, float] = {}
    failure, figures = "", {}
    try:
        pieces = experiment.pieces(setting)
        for done, (name, piece) in enumerate(pieces.items()):
            if progress is not None:
                progress(name, done, len(pieces))
            kept = None if store is None else store.read(experiment, setting.full, name)
            if kept is not None:
                results[name], seconds[name] = kept["result"], kept["seconds"]
                continue
            if time.monotonic() > until:
                failure = failure or f"piece {name} was not run"
                continue
            began = time.perf_counter()
            result = piece()
            seconds[name] = time.perf_counter() - began
            results[name] = (
                plain(result)
                if store is None
                else store.write(experiment, setting.full, name, result, seconds[name])
            )
        if not failure:
            figures = dict(experiment.figures(results))
    except Exception as error:
        failure = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
    outcomes = tuple(
        _outcome(experiment, row, setting.full, figures, failure) for row in experiment.in_form(setting.full)
    )
    return Run(experiment, setting.full, outcomes, results, seconds, failure)


def best_kept(experiment: Experiment, setting: Setting, store: Store) -> Run:
    """What is kept of an experiment: the full form if it is whole or asked for, else the short one."""
    forms = (True,) if setting.full else (True, False)
    for full in forms:
        found = run(experiment, dataclasses.replace(setting, full=full), store, until=0.0)
        if not found.failure:
            break
    return found


def _outcome(experiment: Experiment, row: Row, full: bool, figures: dict[str, Any], failure: str) -> Outcome:
    if not failure and figures.get(row.figure) is None:
        failure = f"the experiment gave no {row.figure}"
    return Outcome(experiment, row, full, figures.get(row.figure), failure)


def run_all(
    experiments: Sequence[Experiment], setting: Setting, store: Store | None = None, **how: Any
) -> list[Run]:
    """Run experiments one after the other."""
    return [run(experiment, setting, store, **how) for experiment in experiments]
