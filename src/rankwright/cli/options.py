"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

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

feature_help = "as the data numbers or names it"
qrels = click.option("--qrels", type=click.Path(), metavar="FILE", help="TREC judgements, for runs.")
complete = click.option(
    "--complete",
    is_flag=True,
    help="With --qrels: judged queries that the run lacks count 0 (trec_eval's -c).",
)
