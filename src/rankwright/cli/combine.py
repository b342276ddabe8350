"""``rankwright combine``: the best linear combination of rankers, as one model."""

from __future__ import annotations

from typing import Any

import click

import rankwright as rw
from rankwright.cli import options
from rankwright.cli.screen import show_json, step
from rankwright.cli.sources import read_data

EXAMPLE = "rankwright combine a.rw b.rw vali.txt -o both.rw"


@click.command("combine", short_help="The best linear combination of models, found exactly.")
@click.argument("files", nargs=-1, metavar="MODEL... DATA")
@click.option(
    "--measure", "-m", default="ndcg@10", show_default=True, metavar="MEASURE", help="What to gain."
)
@click.option("--whole-line", is_flag=True, help="Of two models, one may count negative or above 1.")
@click.option("--output", "-o", required=True, metavar="FILE", help="Where to write the model.")
@options.scattered
@options.as_json
@options.shared
def command(
    files: tuple[str, ...],
    measure: str,
    whole_line: bool,
    output: str,
    scattered: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """The linear combination of MODELs that ranks DATA best, found exactly, as one model.

    Two models share 1 between them; of more, each one's weight is set at its best in turn. Give labelled
    queries that none of them was trained on.

    \b
    rankwright combine a.rw b.rw vali.txt -m ndcg@10 -o both.rw
    rankwright combine a.rw b.rw c.rw vali.txt -m map -o all.rw
    """
    data, paths = options.last(files, EXAMPLE), files[:-1]
    if len(paths) < 2:
        raise click.UsageError(f"{len(paths)} models given, and at least two wanted, as in: {EXAMPLE}")
    if whole_line and len(paths) > 2:
        raise click.UsageError("--whole-line is for two models; the weights of more have no bounds")
    by = options.read_measure(measure)
    scorers = [rw.load(path) for path in paths]
    queries = read_data(data, quiet, scorers[0].n_features, scattered)
    with step("combining", quiet):
        if len(paths) == 2:
            found: Any = rw.combine(scorers[0], scorers[1], by, queries, whole_line=whole_line)
            alone = [found.training["first"], found.training["second"]]
        else:
            found = rw.blend(scorers, by, queries)
            alone = found.training["singles"]
    found.save(output)
    weights = [float(weight) for weight in found.weights]
    told = [
        {"model": path, "weight": weight, "alone": value}
        for path, weight, value in zip(paths, weights, alone, strict=True)
    ]
    if as_json:
        show_json({"measure": str(by), "best": found.training["best"], "models": told, "output": output})
    else:
        for each in told:
            click.echo(f"{each['weight']:9.4f} · {each['model']}, {by} {each['alone']:.4f} alone")
        click.echo(f"{by} {found.training['best']:.4f} together, written to {output}")
