"""``rankwright demo``: a first look, on artificial data."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

import rankwright as rw
from rankwright.cli import options
from rankwright.cli.screen import show_json, step
from rankwright.cli.train import training
from rankwright.runtime.errors import InputError

if TYPE_CHECKING:
    from rankwright.diagnostics import LocalOptimality
    from rankwright.evaluation import Comparison
    from rankwright.learners.base import Ranker

FOLDER = "rankwright-demo"
REPORT = "report.html"
MEASURE = "ndcg@10"
MEASURES = (MEASURE, "map", "err@10", "p@10")
QUERIES = 450
STEPS = (0.01, 0.1)
TOLERANCE = 0.05

NEXT = """\
With data of your own (LETOR text or Parquet; TREC runs: evaluate --help):
  rankwright data info train.txt
  rankwright train lambdamart train.txt --valid vali.txt -m ndcg@10 -o trees.rw
  rankwright evaluate trees.rw test.txt -m ndcg@10 -m map
  rankwright compare trees.rw net.rw test.txt --report report.html"""


@click.command("demo")
@click.option(
    "--output", "-o", metavar="FOLDER", help=f"Where to write models and report.  [default: {FOLDER}]"
)
@options.as_json
@options.shared
def command(output: str | None, as_json: bool, quiet: bool) -> None:
    """A first look: three rankers learn from artificial data, two are combined, and all are compared.

    It takes under a minute the first time, when kernels are compiled, and less after.

    \b
    rankwright demo
    rankwright demo -o somewhere
    """
    folder = prepared(output)
    train, valid, test = data(quiet)
    rankers = learners()
    seconds = {name: fitted(ranker, train, valid, quiet) for name, ranker in rankers.items()}
    with step("checking the net's optimality", quiet) as report:
        optimality = rw.local_optimality(
            rankers["net"], train, MEASURE, steps=STEPS, every_weight=False, progress=report
        )
    with step("combining trees and net", quiet):
        both = rw.combine(rankers["trees"], rankers["net"], MEASURE, valid)
    with step("comparing", quiet):
        comparison = rw.compare({"both": both, **rankers}, test, MEASURES)
    with step("writing the report", quiet):
        for name, ranker in rankers.items():
            ranker.save(folder / f"{name}.rw")
        comparison.to_html(folder / REPORT)
    if as_json:
        show_json(
            comparison.as_dict() | {"optimality": optimality.as_dict(), "alpha": both.training["alpha"]}
        )
        return
    click.echo(described({"train": train, "valid": valid, "test": test}))
    click.echo(learned(rankers, seconds, both))
    click.echo(checked(optimality))
    click.echo(figures(comparison))
    files = ", ".join(f"{name}.rw" for name in rankers)
    click.echo(f"Written: {files} and, to be opened in a browser,\n  {folder / REPORT}\n")
    click.echo(NEXT)


def prepared(output: str | None) -> Path:
    """The folder to write to: the demo's own, or another in which nothing would be overwritten."""
    folder = Path(FOLDER if output is None else output)
    names = [REPORT, *(f"{name}.rw" for name in learners())]
    there = [name for name in names if (folder / name).exists()]
    if output is not None and there:
        raise InputError(f"{folder / there[0]} exists already; give another folder, or move it away")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def learners() -> dict[str, Ranker]:
    """Three ways to learn, by short names."""
    return {
        "trees": rw.LambdaMART(measure=MEASURE, n_estimators=60, max_leaf_nodes=15),
        "net": rw.LambdaRank(measure=MEASURE, hidden=5, epochs=30),
        "svm": rw.SVMNDCG(measure=MEASURE, tol=TOLERANCE),
    }


def data(quiet: bool) -> list[rw.QuerySet]:
    """Queries to learn from, to select and combine on, and to test on."""
    with step("making data", quiet):
        learning, test = rw.synthetic.web_search(QUERIES).split(2 / 3)
        return [*learning.split(3 / 4), test]


def fitted(ranker: Ranker, train: rw.QuerySet, valid: rw.QuerySet, quiet: bool) -> float:
    """Train a ranker; the seconds that it took."""
    start = time.perf_counter()
    with training(ranker, quiet) as told:
        ranker.fit(train, valid=valid, progress=told)
    return time.perf_counter() - start


def described(parts: dict[str, rw.QuerySet]) -> str:
    """How large each part of the data is."""
    lines = ["Artificial data of a web search's shape       queries   documents    features"]
    for name, queries in parts.items():
        counts = (queries.n_queries, len(queries), queries.n_features)
        lines.append(f"  {name:40}" + "".join(f"{count:12,}" for count in counts).rstrip())
    return "\n".join(lines) + "\n"


def learned(rankers: dict[str, Ranker], seconds: dict[str, float], both: rw.Sum) -> str:
    """What was trained, and what the combination is."""
    told = {
        "trees": f"LambdaMART, {len(rankers['trees'].history_)} trees of 15 leaves",
        "net": f"LambdaRank, 5 hidden units, {len(rankers['net'].history_)} epochs",
        "svm": "SVMNDCG, max-margin, a linear model",
    }
    lines = [f"Trained for {MEASURE}"]
    lines += [f"  {name:6}{what:58}{seconds[name]:6.1f} s" for name, what in told.items()]
    alpha = float(both.training["alpha"])
    lines.append(f"  both  {1 - alpha:.3f} · trees + {alpha:.3f} · net, exactly the best of all on valid")
    return "\n".join(lines) + "\n"


def checked(optimality: LocalOptimality) -> str:
    """Whether the net is at a local optimum."""
    rising, directions = int(optimality.ascents.any(axis=1).sum()), len(optimality.along)
    head = f"Is the net at a local optimum of {MEASURE} on train, {optimality.start:.4f}?"
    if rising:
        return (
            f"{head} No:\n  {rising} of {directions} random directions raise it, "
            f"to {optimality.best[0]:.4f} at most.\n"
        )
    return (
        f"{head} Yes:\n  none of {directions} random directions raises it; "
        "with 99 % confidence fewer than 1 % do.\n"
    )


def figures(comparison: Comparison) -> str:
    """A line a system: its means, and whether what the best gains on it could be chance."""
    means = {name: each[MEASURE].mean for name, each in comparison.evaluations.items()}
    best, *others = sorted(means, key=lambda name: -means[name])
    of_best = {
        (each.b if each.a == best else each.a): each
        for each in comparison
        if str(each.measure) == MEASURE and best in (each.a, each.b)
    }
    head = "".join(f"{measure:>8}" for measure in MEASURES)
    lines = [f"On test {head} {best + ' gains':>11}   95 % interval       p"]
    for name in (best, *others):
        row = "".join(f"{comparison.evaluations[name][measure].mean:8.4f}" for measure in MEASURES)
        if name == best:
            lines.append(f"  {name:6}{row}")
            continue
        contrast = of_best[name]
        sign = 1 if contrast.a == best else -1
        low, high = sorted(sign * end for end in contrast.interval)
        lines.append(
            f"  {name:6}{row} {sign * contrast.difference:+11.4f}   {low:+.3f} to {high:+.3f}"
            f"  {contrast.corrected['randomisation']:.4f}"
        )
    return "\n".join([*lines, "  p: Fisher's randomisation test, after Holm for all that the report shows\n"])
