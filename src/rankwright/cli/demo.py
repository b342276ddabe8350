"""``rankwright demo``: a first look, on artificial data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import rankwright as rw
from rankwright.cli import options
from rankwright.cli.screen import show_json, step

if TYPE_CHECKING:
    from rankwright.evaluation import Comparison, Evaluation

MEASURES = ("ndcg@10", "map", "err@10", "p@10")
NAMES = ("trees", "net", "feature")
TOOLS = ("trec_eval", "lightgbm", "catboost", "sklearn")

NEXT = """\
With data of your own (LETOR text, Parquet, TREC runs):
  rankwright data info test.txt
  rankwright train lambdamart train.txt --valid vali.txt -m ndcg@10 -o trees.rw
  rankwright evaluate trees.rw test.txt -m ndcg@10 -m map
  rankwright compare trees.rw net.rw test.txt -m ndcg@10"""


@click.command("demo")
@options.as_json
@options.shared
def command(as_json: bool, quiet: bool) -> None:
    """A first look, in seconds: two rankers learn from artificial data, and are measured and compared.

    \b
    rankwright demo
    """
    from rankwright.data.synthetic import web_search
    from rankwright.learners.lambdamart import LambdaMART
    from rankwright.learners.lambdarank import LambdaRank

    with step("making data", quiet):
        train, test = web_search(300).split(2 / 3)
    rankers: dict[str, Any] = {"feature": best_feature(train)}
    with step("growing trees: LambdaMART for ndcg@10", quiet):
        rankers["trees"] = LambdaMART(n_estimators=50, max_leaf_nodes=15).fit(train)
    with step("training a net: LambdaRank for ndcg@10", quiet):
        rankers["net"] = LambdaRank(hidden=5, epochs=10).fit(train)
    with step("measuring and comparing", quiet):
        comparison = rw.compare({name: rankers[name] for name in NAMES}, test, MEASURES)
        by_tool = rw.evaluate(rankers["trees"], test, [f"ndcg@10:{tool}" for tool in TOOLS])
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
        "\nThree rankings of the test queries: LambdaMART's trees and LambdaRank's net,\n"
        "both trained for ndcg@10, and the feature that goes with the labels best.\n"
    )
    click.echo(figures(comparison))
    click.echo("p: Fisher's randomisation test, corrected after Holm for all comparisons\n")
    click.echo("The trees' ndcg@10 as others count it:")
    click.echo("  " + "   ".join(f"{tool} {by_tool[f'ndcg@10:{tool}'].mean:.4f}" for tool in TOOLS))
    click.echo(f"\n{NEXT}")


def best_feature(train: rw.QuerySet) -> rw.LinearScorer:
    """The feature whose correlation with the labels is strongest, upside down if that is negative."""
    import numpy as np

    standardised = rw.Standardising.of(train.features)(train.features, None)
    correlations = np.asarray(train.labels) @ standardised
    best = int(abs(correlations).argmax())
    return rw.LinearScorer(np.eye(train.n_features)[best] * np.sign(correlations[best]))


def figures(comparison: Comparison) -> str:
    """A line a measure: all means, and whether what the trees gain on the net could be chance."""
    lines = [
        f"{'':9}"
        + "".join(f"{name:>9}" for name in NAMES)
        + f"{'trees - net':>14}  {'95 % interval':18}{'p':>6}"
    ]
    pairs = {(each.measure, each.a, each.b): each for each in comparison}
    for measure in dict.fromkeys(each.measure for each in comparison):
        on_net, on_feature = pairs[measure, "trees", "net"], pairs[measure, "trees", "feature"]
        low, high = on_net.interval
        means = (on_net.mean_a, on_net.mean_b, on_feature.mean_b)
        lines.append(
            f"{measure!s:9}" + "".join(f"{mean:9.4f}" for mean in means) + f"{on_net.difference:+14.4f}"
            f"  {low:+.3f} to {high:+.3f}  {on_net.corrected['randomisation']:6.4f}"
        )
    return "\n".join(lines)
