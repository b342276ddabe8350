"""``rankwright diagnose conservative``: whether a λ rule is the gradient of a cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

import rankwright as rw
from rankwright.cli import diagnose, options
from rankwright.cli.screen import show_json, step
from rankwright.cli.sources import is_model, predicted, read_data
from rankwright.runtime.errors import InputError

MOST_DOCUMENTS = 12  # work grows with the fourth power of their number


@click.command("conservative", short_help="Whether the λ's of a rule are a cost's gradient.")
@click.argument("files", nargs=-1, metavar="[[MODEL] DATA]")
@diagnose.rule
@diagnose.measure
@click.option("--points", default=20, show_default=True, help="At how many scores to take derivatives.")
@click.option("--loops", default=50, show_default=True, help="Round how many loops to integrate.")
@click.option("--random-state", default=0, show_default=True, help="Which random scores.")
@options.as_json
@options.scattered
@options.shared
def command(
    files: tuple[str, ...],
    rule: str,
    settings: tuple[str, ...],
    measure: str | None,
    points: int,
    loops: int,
    random_state: int,
    as_json: bool,
    scattered: bool,
    quiet: bool,
) -> None:
    """Whether there is a cost whose gradient the λ's of a rule are, and whether it is convex.

    The rule acts on one query: on labels 3 2 1 0 0 1, or on the first twelve documents of a query of DATA (of
    the first that the measure finds anything in). A MODEL before DATA ranks them, and lends its measure and
    how far apart its scores lie. Without a measure all pairs weigh the same.

    \b
    rankwright diagnose conservative --rule spring
    rankwright diagnose conservative -m ndcg@10
    rankwright diagnose conservative --rule SpringSmooth --set unit=0.5
    rankwright diagnose conservative model.rw train.txt -m map
    """
    made = diagnose.read_rule(rule, settings)
    about: dict[str, Any] = {}
    if files:
        about, own = query_of(files, measure, scattered, quiet)
        measure = measure or own
    with step("going round loops", quiet):
        found = rw.conservative(
            made, measure, n_points=points, n_loops=loops, random_state=random_state, **about
        )
    if as_json:
        show_json(found.as_dict())
    else:
        click.echo(str(found))


def query_of(
    files: Sequence[str], measure: str | None, scattered: bool, quiet: bool
) -> tuple[dict[str, Any], str | None]:
    """The labels of a query and how far apart its scores lie; and the model's measure."""
    import numpy as np

    if len(files) > 2 or (len(files) == 2 and not is_model(files[0])):
        raise click.UsageError("give a model and data, data alone, or nothing")
    scorer = rw.load(files[0]) if len(files) == 2 else None
    queries = read_data(files[-1], quiet, 0 if scorer is None else scorer.n_features, scattered)
    if queries.labels is None:
        raise InputError(f"{files[-1]} has no labels")
    own = None if scorer is None or scorer.measure is None else str(scorer.measure)
    scores = None
    if scorer is not None:
        scores = queries.in_stored_order(predicted(scorer, files[0], queries, files[-1]))
    by = options.read_measure(measure or own or "ndcg")
    for rows in queries.slices():
        order = np.arange(rows.start, rows.stop)
        if scores is not None:
            order = order[np.argsort(-scores[order], kind="stable")]
        labels = queries.labels[order[:MOST_DOCUMENTS]]
        gains = by.gains(labels[~np.isnan(labels)])
        if len(gains) and gains.max() > gains.min():
            about: dict[str, Any] = {"labels": labels}
            spread = 0.0 if scores is None else float(scores[order[:MOST_DOCUMENTS]].std())
            return (about | {"spread": spread} if spread > 0 else about), own
    raise InputError(f"{files[-1]}: {by!r} finds nothing to tell apart in the first documents of any query")
