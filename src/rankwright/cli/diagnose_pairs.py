"""``rankwright diagnose pairs``: how many pairs train."""

from __future__ import annotations

import click

import rankwright as rw
from rankwright.cli import diagnose, options
from rankwright.cli.screen import show_json
from rankwright.cli.sources import predicted, read_data


@click.command("pairs", short_help="How many pairs a measure and a λ rule train on.")
@click.argument("model")
@click.argument("data")
@options.measures
@diagnose.rule
@click.option("--rising", is_flag=True, help="Only swaps that would raise the measure (2009's own for mrr).")
@options.as_json
@options.scattered
@options.shared
def command(
    model: str,
    data: str,
    measures: tuple[str, ...],
    rule: str,
    settings: tuple[str, ...],
    rising: bool,
    as_json: bool,
    scattered: bool,
    quiet: bool,
) -> None:
    """How many pairs of documents a measure and a λ rule train on, with DATA as MODEL ranks it.

    \b
    rankwright diagnose pairs model.rw train.txt -m ndcg -m ndcg@10 -m map -m mrr
    """
    made, scorer = diagnose.read_rule(rule, settings), rw.load(model)
    queries = read_data(data, quiet, scorer.n_features, scattered)
    scores = predicted(scorer, model, queries, data)
    found = [
        rw.effective_pairs(scores, queries, each, rule=made, counting="rising" if rising else "forces")
        for each in measures
    ]
    if as_json:
        show_json([each.as_dict() for each in found])
    else:
        click.echo("\n".join(str(each) for each in found))
