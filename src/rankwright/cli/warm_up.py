"""``rankwright warm-up``: every kernel compiled now, so that no later command waits for a compiler."""

from __future__ import annotations

import contextlib
import functools
import importlib
import pkgutil
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

import rankwright as rw
from rankwright.cli import options
from rankwright.cli.learners import find
from rankwright.cli.screen import show_json, step

if TYPE_CHECKING:
    from rankwright.learners.base import Ranker
    from rankwright.runtime.kernels import Kernel

SHARED = ("data", "measures", "evaluation", "scorers")
"""The packages whose kernels are compiled whichever learners are named."""
SMALL = {
    "n_estimators": 2, "epochs": 1, "max_iter": 2, "hidden": 2, "min_samples_leaf": 2, "n_perceptrons": 2,
    "n_components": 4, "n_starts": 1,
}  # fmt: skip
"""What makes a learner quick, where it has such a parameter."""
LONG_READ = 20_000_000
"""Bytes of a file whose reading leaves a compiler time."""


@click.command("warm-up", short_help="Compile every kernel now, so that nothing waits later.")
@click.argument("learners", nargs=-1)
@options.as_json
@options.shared
def command(learners: tuple[str, ...], as_json: bool, quiet: bool) -> None:
    """Compile every kernel now, into Numba's cache on disk; or only what some LEARNERS need.

    \b
    rankwright warm-up
    rankwright warm-up lambdamart lambdarank
    """
    from rankwright.learners import known

    kinds = [find(name) for name in learners] or list(known().values())
    work: list[Callable[[], object]] = [
        functools.partial(getattr, each, "compiled") for each in typed_kernels(SHARED)
    ]
    work += [functools.partial(train_a_little, kind) for kind in kinds]
    begin = time.perf_counter()
    with step("compiling", quiet) as report, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # (two steps converge to nothing)
        for done, compile_one in enumerate(work):
            report(done, len(work))
            compile_one()
    seconds = time.perf_counter() - begin
    if as_json:
        show_json({"learners": [kind.__name__ for kind in kinds], "seconds": seconds})
    elif not quiet:
        click.echo(f"ready: {', '.join(kind.__name__ for kind in kinds)} ({seconds:.0f} s)")


def typed_kernels(packages: tuple[str, ...]) -> Iterator[Kernel]:
    """The kernels of some packages that say what types they take, so can be compiled as they are."""
    from rankwright.runtime.kernels import Kernel

    for package in packages:
        found = importlib.import_module(f"rankwright.{package}")
        for module in pkgutil.iter_modules(found.__path__, f"{found.__name__}."):
            if module.name.endswith(".torch"):
                continue
            for value in vars(importlib.import_module(module.name)).values():
                if isinstance(value, Kernel) and value.is_typed and value.__module__ == module.name:
                    yield value


def train_a_little(kind: type[Ranker]) -> None:
    """Train on a few documents, and score one and many: kernels are compiled by being used."""
    known = kind().get_params()
    if "module" in known:
        return  # (a module of PyTorch's is not ours to compile)
    data = rw.synthetic.web_search(4)
    ranker = kind(**{name: value for name, value in SMALL.items() if name in known})
    ranker.fit(data, valid=data)
    ranker.predict(data)
    ranker.predict(data.features[:1], qid=0)


def compile_ahead(kind: type[Ranker], path: str) -> None:
    """While a large file is read, compile what a learner of trees needs, on a thread of its own.

    (What is wrong with it, training will tell in its own words. Trees give no warnings, which one thread
    could not keep to itself.)
    """

    def work() -> None:
        with contextlib.suppress(Exception):
            train_a_little(kind)

    with contextlib.suppress(OSError):
        if "max_leaf_nodes" in kind().get_params() and Path(path).stat().st_size > LONG_READ:
            threading.Thread(target=work, daemon=True).start()
