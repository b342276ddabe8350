"""``rankwright demo``: a first look, on artificial data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

import rankwright as rw
from rankwright.cli import options
from rankwright.cli.screen import show_json, step

if TYPE_CHECKING:
    from rankwright.evaluation import Comparison, Evaluation

MEASURES = ("ndcg@10", "map", "err@10", "p@10")
TOOLS = ("trec_eval", "lightgbm", "catboost", "sklearn")

NEXT = """\
With data of your own (LETOR text, Parquet, TREC runs):
  rankwright data info test.txt
  rankwright evaluate test.txt --feature 25 -m ndcg@10 -m map
  rankwright compare a.rw b.rw test.txt -m ndcg@10
  rankwright measures"""


@click.command("demo")
@options.as_json
@options.shared
def command(as_json: bool, quiet: bool) -> None:
    """A first look, in seconds: two rankings of artificial data, measured and compared.

    \b
    rankwright demo
    """
    from rankwright.data.synthetic import web_search

    with step("making data", quiet):
        train, test = web_search(300).split(2 / 3)
    with step("fitting a line", quiet):
        rankers = {"line": fitted_line(train), "feature": best_feature(train)}
    with step("measuring and comparing", quiet):
        comparison = rw.compare(rankers, test, MEASURES)
        by_tool = rw.evaluate(rankers["line"], test, [f"ndcg@10:{tool}" for tool in TOOLS])
    if as_json:
        show_json(comparison.as_dict())
    else:
        show(train, test, comparison, by_tool)


def show(train: rw.QuerySet, test: rw.QuerySet, comparison: Comparison, by_tool: Evaluation) -> None:
    """The whole on one screen."""
    click.echo("Artificial data of a web search's shape, to learn from and to test on:")
    for name, queries in (("train", train), ("test", test)):
        click.echo(
            f"  {name:6}{queries.n_queries:5,} queries {len(queries):8,} documents "
            f"{queries.n_features:5,} features"
        )
    click.echo(
        "\nTwo rankings of the test queries: a line through all features, fitted to the\n"
        "labels of the training data, and the feature that goes with these labels best.\n"
    )
    click.echo(figures(comparison))
    click.echo("p: Fisher's randomisation test, corrected after Holm for the four measures\n")
    click.echo("The line's ndcg@10 as others count it:")
    click.echo("  " + "   ".join(f"{tool} {by_tool[f'ndcg@10:{tool}'].mean:.4f}" for tool in TOOLS))
    click.echo(f"\n{NEXT}")


def fitted_line(train: rw.QuerySet) -> rw.LinearScorer:
    """The line of least squares through the labels, over standardised features."""
    import numpy as np

    first = rw.Standardising.of(train.features)
    values = first(train.features, None).astype(np.float64)
    weights, *_ = np.linalg.lstsq(values, np.asarray(train.labels), rcond=None)
    return rw.LinearScorer(weights, transform=first)


def best_feature(train: rw.QuerySet) -> rw.LinearScorer:
    """The feature whose correlation with the labels is strongest, upside down if that is negative."""
    import numpy as np

    standardised = rw.Standardising.of(train.features)(train.features, None)
    correlations = np.asarray(train.labels) @ standardised
    best = int(abs(correlations).argmax())
    return rw.LinearScorer(np.eye(train.n_features)[best] * np.sign(correlations[best]))


def figures(comparison: Comparison) -> str:
    """A line a measure: both means, and whether their difference could be chance."""
    lines = [f"{'':10}{'line':>8}{'feature':>9}{'difference':>12}  {'95 % interval':20}{'p':>8}"]
    for contrast in comparison:
        low, high = contrast.interval
        p = contrast.corrected["randomisation"]
        lines.append(
            f"{contrast.measure!s:10}{contrast.mean_a:8.4f}{contrast.mean_b:9.4f}{contrast.difference:+12.4f}"
            f"  {low:+.4f} to {high:+.4f}  {p:8.4f}"
        )
    return "\n".join(lines)
