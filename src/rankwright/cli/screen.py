"""What a command shows: progress on stderr, results on stdout."""

from __future__ import annotations

import contextlib
import json
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from typing import Any

import click

Report = Callable[[int, int], None]
"""Called with how much is done, and of how much."""

SECONDS_BETWEEN_LINES = 10.0
WIDTH = 80


@contextlib.contextmanager
def step(what: str, quiet: bool) -> Iterator[Report]:
    """Show that a piece of work goes on: a bar on a terminal, else a line now and then; nothing if quiet."""
    if quiet or sys.stderr is None:
        yield lambda done, total: None
    elif sys.stderr.isatty():
        with _bar(what) as report:
            yield report
    else:
        yield _lines(what)


@contextlib.contextmanager
def _bar(what: str) -> Iterator[Report]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    shown = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*shown, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def _lines(what: str) -> Report:
    last = time.monotonic()

    def report(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= SECONDS_BETWEEN_LINES and done < total:
            last = time.monotonic()
            click.echo(f"{what}: {100 * done // total} %", err=True)

    return report


def show_json(value: Any) -> None:
    """Print a value as JSON, as it stands in the standard (None where there is no number)."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def lines_of(header: list[str], rows: list[list[str]]) -> str:
    """A table as text, two blanks between columns; the last column is broken at the screen's width.

    >>> print(lines_of(["name", "value"], [["gain", "exp"], ["k", "10"]]))
    name  value
    gain  exp
    k     10
    """
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)][:-1]
    margin = sum(widths) + 2 * len(widths)
    lines = []
    for *cells, last in [header, *rows]:
        start = "".join(f"{cell:{width}}  " for cell, width in zip(cells, widths, strict=True))
        wrapped = textwrap.wrap(last, WIDTH - margin) or [""]
        lines += [f"{start}{wrapped[0]}".rstrip(), *(" " * margin + more for more in wrapped[1:])]
    return "\n".join(lines)
