"""``rankwright predict``: a model's scores."""

from __future__ import annotations

import click

import rankwright as rw
from rankwright.cli import options
from rankwright.cli.sources import predicted, read_data
from rankwright.runtime.files import written_whole


@click.command("predict", short_help="A model's scores, one number a line, or as a TREC run.")
@click.argument("model")
@click.argument("data")
@click.option("--output", "-o", metavar="FILE", help="Where to write the scores; printed if not given.")
@click.option("--run", metavar="FILE", help="Write a TREC run; the data needs document ids.")
@options.scattered
@options.shared
def command(model: str, data: str, output: str | None, run: str | None, scattered: bool, quiet: bool) -> None:
    """A model's scores: one number a line, a line for each row of DATA.

    \b
    rankwright predict model.rw test.txt -o scores.txt
    rankwright predict model.rw test.txt --run mine.run
    """
    scorer = rw.load(model)
    queries = read_data(data, quiet, scorer.n_features, scattered)
    scores = predicted(scorer, model, queries, data)
    if run is not None:
        rw.write_run(queries, scores, run)
    if output is not None or run is None:
        text = "".join(f"{score!r}\n" for score in scores.tolist())
        if output is None:
            click.echo(text, nl=False)
        else:
            with written_whole(output) as draft:
                draft.write_text(text, encoding="utf-8")
