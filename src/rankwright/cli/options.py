"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

import rankwright as rw

if TYPE_CHECKING:
    from rankwright.measures import Measure

F = TypeVar("F", bound=Callable[..., Any])


def shared(function: F) -> F:
    """``--quiet`` and ``--debug``, which every command has."""
    quiet = click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
    debug = click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
    return quiet(debug(function))


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON, for machines.")

measures = click.option(
    "--measure",
    "-m",
    "measures",
    multiple=True,
    default=("ndcg@10",),
    show_default=True,
    metavar="MEASURE",
    help="A measure, as `rankwright measures` lists them; may be given several times.",
)

scores = click.option(
    "--scores", multiple=True, metavar="FILE", help="Scores as a ranking: one number a line, a line a row."
)

feature = click.option(
    "--feature",
    "features",
    multiple=True,
    metavar="FEATURE",
    help="A feature as a ranking: its name, or its number in the LETOR file.",
)

scattered = click.option(
    "--scattered", is_flag=True, help="Allow the rows of a query to stand apart in the LETOR file."
)

qrels = click.option("--qrels", metavar="FILE", help="TREC judgements, to evaluate TREC runs.")

complete = click.option(
    "--complete", is_flag=True, help="Judged queries that a run lacks count 0 (trec_eval's -c)."
)


def read_measure(text: str) -> Measure:
    """A measure from its syntax; what is none is a wrong use of the command."""
    try:
        return rw.measure(text)
    except rw.InputError as error:
        raise click.UsageError(str(error)) from error


def need_qrels(runs: Sequence[str], complete: bool) -> None:
    """Refuse what makes sense only beside ``--qrels``."""
    if runs or complete:
        raise click.UsageError(f"{'--run' if runs else '--complete'} needs --qrels, the judgements")


def no_data(**given: Any) -> None:
    """Refuse what ranks the documents of a data file, where ``--qrels`` asks for TREC runs."""
    for name, value in given.items():
        if value:
            raise click.UsageError(f"--{name} goes with a data file, not with --qrels and TREC runs")


def last(files: Sequence[str], example: str) -> str:
    """The data file, which stands behind the models."""
    if not files:
        raise click.UsageError(f"no data is given; as in: {example}")
    return files[-1]
