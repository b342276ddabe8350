"""Experiments: what measures the rows' figures, in pieces; and the setting they run in."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rankwright.data import QuerySet, read_letor
from rankwright.reproductions.rows import Row
from rankwright.runtime.errors import InputError

Piece = Callable[[], Any]
"""Takes nothing, gives plain data."""
Results = Mapping[str, Any]
"""What the pieces gave, by their names."""

FOLDS = 5


class MissingData(InputError):
    """Data that cannot ship with the package and was not given."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Setting:
    """The form of a run, the folder of data sets that cannot ship, and how many threads to use.

    >>> Setting().folder("mq2008")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    rankwright.reproductions.experiments.MissingData: mq2008 is needed; give --data, the folder that ...
    """

    full: bool = False
    data: Path | None = None
    n_jobs: int | None = None

    def folder(self, name: str) -> Path:
        """A data set's folder."""
        if self.data is None:
            raise MissingData(f"{name} is needed; give --data, the folder that holds {name}/")
        if not (self.data / name).is_dir():
            raise MissingData(f"{self.data} holds no {name}/; give --data, the folder that does")
        return self.data / name

    def parts(self, name: str) -> list[QuerySet]:
        """The five parts S1 to S5 of a LETOR data set."""
        folder = self.folder(name)
        return [read_letor(folder / f"S{k + 1}.txt") for k in range(FOLDS)]

    def fold(self, name: str, k: int) -> tuple[QuerySet, QuerySet, QuerySet]:
        """Fold k, counted from 1: to train, to validate and to test on (three parts, one and one)."""
        parts = self.parts(name)
        turned = [parts[(k - 1 + step) % FOLDS] for step in range(FOLDS)]
        return together(turned[:3]), turned[3], turned[4]


def together(parts: Sequence[QuerySet]) -> QuerySet:
    """Query sets one after the other, as one."""
    import numpy as np

    return QuerySet(
        np.concatenate([part.features for part in parts]),
        np.concatenate([part.labels for part in parts if part.labels is not None]),
        qid=np.concatenate(
            [np.repeat(np.asarray(part.query_ids, dtype=object), part.sizes) for part in parts]
        ),
    )


@dataclasses.dataclass(frozen=True)
class Table:
    """Numbers for the page; ``chart`` names the columns of x, y and the series if it is to be drawn."""

    title: str
    rows: Sequence[Mapping[str, Any]]
    chart: tuple[str, str, str] | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Experiment:
    """A table or figure of a paper.

    ``pieces`` gives what is run, by name; ``figures`` makes of their results the figures that the rows name.
    ``data`` tells what it runs on. A higher ``revision`` says that pieces run before count no more.
    """

    name: str
    title: str
    paper: str
    data: str
    pieces: Callable[[Setting], Mapping[str, Piece]]
    figures: Callable[[Results], Mapping[str, Any]]
    rows: tuple[Row, ...]
    tables: Callable[[Results], Sequence[Table]] = lambda results: ()
    revision: int = 1

    def in_form(self, full: bool) -> tuple[Row, ...]:
        """The rows of this form."""
        return tuple(row for row in self.rows if full or not row.full_only)

    def command(self, full: bool = True) -> str:
        """What a reader types to run it."""
        return f"rankwright reproduce {self.name}" + " --full" * full


def all_experiments() -> tuple[Experiment, ...]:
    """Those of all papers, in their order.

    >>> all_experiments()[-1].paper
    '2010'
    """
    import rankwright.reproductions as package

    names = sorted(found.name for found in pkgutil.iter_modules(package.__path__))
    modules = [
        importlib.import_module(f"{package.__name__}.{name}") for name in names if name.startswith("paper_")
    ]
    return tuple(experiment for module in modules for experiment in module.EXPERIMENTS)


def chosen(name: str, experiments: Sequence[Experiment]) -> tuple[Experiment, ...]:
    """The experiments of this name, whose names begin with it (a paper's year), or "all".

    >>> [each.name for each in chosen("2010-figure-1", all_experiments())]
    ['2010-figure-1']
    """
    found = [each for each in experiments if name in ("all", each.name)] or [
        each for each in experiments if each.name.startswith(name)
    ]
    if not found:
        names = ", ".join(each.name for each in experiments)
        raise InputError(f"there is no reproduction {name!r}; there are {names}")
    return tuple(found)
