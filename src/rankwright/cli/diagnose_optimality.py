"""``rankwright diagnose optimality``: whether a model's weights are at a local optimum of a measure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import rankwright as rw
from rankwright.cli import diagnose, options
from rankwright.cli.screen import show_json, step
from rankwright.cli.sources import predicted, read_data
from rankwright.runtime.files import written_whole

if TYPE_CHECKING:
    from rankwright.diagnostics import LocalOptimality


@click.command("optimality", short_help="Whether a model is at a local optimum of a measure.")
@click.argument("model")
@click.argument("data")
@diagnose.measure
@click.option("--directions", type=int, metavar="N", help="How many; as p0 and delta ask, if not given.")
@click.option(
    "--step",
    "steps",
    type=float,
    multiple=True,
    metavar="SIZE",
    help="How far to go; several times for several.  [default: 0.1, 0.2, …, 1]",
)
@click.option("--absolute", is_flag=True, help="Steps are lengths, as in the paper, not parts of |w|.")
@click.option("--no-single", is_flag=True, help="Do not move each weight alone besides.")
@click.option("--p0", default=0.01, show_default=True, help="The share of ascents to rule out.")
@click.option("--delta", default=0.01, show_default=True, help="1 − the confidence wanted.")
@click.option("--random-state", default=0, show_default=True, help="Which random directions.")
@click.option("--curves", metavar="FILE", help="Write the measure along each direction, as TSV.")
@click.option("--best", metavar="FILE", help="Write the best model that was met on the way.")
@options.as_json
@options.scattered
@options.shared
def command(
    model: str,
    data: str,
    measure: str | None,
    directions: int | None,
    steps: tuple[float, ...],
    absolute: bool,
    no_single: bool,
    p0: float,
    delta: float,
    random_state: int,
    curves: str | None,
    best: str | None,
    as_json: bool,
    scattered: bool,
    quiet: bool,
) -> None:
    """Whether a linear model or a net is at a local optimum of a measure on DATA.

    Its weights are moved in random directions and one by one. With p0 and delta 0.01 these are 459
    directions: if none raises the measure, fewer than 1 % do, with 99 % confidence.

    \b
    rankwright diagnose optimality model.rw train.txt -m ndcg@10
    rankwright diagnose optimality model.rw train.txt --step 0.01 --absolute
    """
    scorer = rw.load(model)
    queries = read_data(data, quiet, scorer.n_features, scattered)
    predicted(scorer, model, queries, data)
    settings: dict[str, Any] = {"steps": steps} if steps else {}
    with step("moving weights", quiet) as report:
        found = rw.local_optimality(
            scorer,
            queries,
            measure,
            n_directions=directions,
            relative=not absolute,
            every_weight=not no_single,
            p0=p0,
            delta=delta,
            random_state=random_state,
            progress=report,
            **settings,
        )
    if curves is not None:
        write_curves(found, curves)
    if best is not None:
        found.best_scorer().save(best)
    if as_json:
        show_json(found.as_dict())
    else:
        click.echo(str(found))


def write_curves(found: LocalOptimality, path: str) -> None:
    """A line a direction, a column a step; the first column is the model as it is."""
    header = ["0", *(f"{size:g}" for size in found.steps)]
    rows = [[repr(found.start), *(repr(value) for value in curve)] for curve in found.along.tolist()]
    with written_whole(path) as draft:
        draft.write_text("".join("\t".join(row) + "\n" for row in [header, *rows]), encoding="utf-8")
