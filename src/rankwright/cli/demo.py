"""``rankwright demo``: a first look, on artificial data."""

from __future__ import annotations

import dataclasses
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
RANKERS = ("trees", "net", "svm")
MEASURES = (MEASURE, "map", "err@10", "p@10")
STEPS = (0.1, 1.0)
P = """\
  Intervals are of one difference each; p is of Fisher's randomisation test,
  after Holm's correction for all the differences that the report shows
"""
FIRST = "The first time, kernels are compiled, and this takes about a minute."

NEXT = """\
With data of your own (LETOR text or Parquet; TREC runs: evaluate --help):
  rankwright data info train.txt
  rankwright train lambdamart train.txt --valid vali.txt -m ndcg@10 -o trees.rw
  rankwright evaluate trees.rw test.txt -m ndcg@10 -m map
  rankwright compare trees.rw net.rw test.txt --report report.html"""


@click.command("demo", short_help="A first look, on artificial data, in about a minute.")
@click.option(
    "--output", "-o", metavar="FOLDER", help=f"Where to write models and report.  [default: {FOLDER}]"
)
@options.as_json
@options.shared
def command(output: str | None, as_json: bool, quiet: bool) -> None:
    """A first look: three rankers learn from artificial data, two are combined, and all are compared.

    It takes about a minute the first time, when kernels are compiled, and less after.

    \b
    rankwright demo
    rankwright demo -o somewhere
    """
    folder = prepared(output)
    if not quiet:
        click.echo(FIRST, err=True)
    found = tour(folder, quiet)
    if as_json:
        show_json(found.as_dict())
    else:
        click.echo(told(found, folder))


@dataclasses.dataclass(frozen=True)
class Tour:
    """What was learned and measured: ``converged`` is the net on test, after it was trained on to the end."""

    parts: dict[str, rw.QuerySet]
    rankers: dict[str, Ranker]
    seconds: dict[str, float]
    both: rw.Sum
    optimality: LocalOptimality
    converged: float
    comparison: Comparison

    def as_dict(self) -> dict[str, object]:
        """The comparison, the optimality of the net and the share of the combination, as plain data."""
        optimality = self.optimality.as_dict() | {"test": self.converged}
        alpha = float(self.both.training["alpha"])
        return self.comparison.as_dict() | {"optimality": optimality, "alpha": alpha}


def tour(
    folder: Path,
    quiet: bool,
    *,
    queries: int = 450,
    n_estimators: int = 60,
    epochs: int = 30,
    further: int = 150,
    tolerance: float = 0.05,
    directions: int | None = None,
) -> Tour:
    """Train, combine, check and compare, and write models and report."""
    parts = data(queries, quiet)
    train, valid, test = parts.values()
    rankers = learners(n_estimators, epochs, tolerance)
    seconds = {name: fitted(ranker, train, valid, quiet) for name, ranker in rankers.items()}
    further_net = going_on(rankers["net"], further)
    fitted(further_net, train, None, quiet)
    with step("checking the net's optimality", quiet) as report:
        optimality = rw.local_optimality(
            further_net, train, n_directions=directions, steps=STEPS, every_weight=False, progress=report
        )
    with step("combining trees and net", quiet):
        both = rw.combine(rankers["trees"], rankers["net"], MEASURE, valid)
    with step("comparing", quiet):
        converged = rw.evaluate(further_net, test, MEASURE)[MEASURE].mean
        comparison = rw.compare({"both": both, **rankers}, test, MEASURES)
    with step("writing the report", quiet):
        for name, ranker in rankers.items():
            ranker.save(folder / f"{name}.rw")
        comparison.to_html(folder / REPORT)
    return Tour(parts, rankers, seconds, both, optimality, converged, comparison)


def prepared(output: str | None) -> Path:
    """The folder to write to: the demo's own, or another in which nothing would be overwritten."""
    folder = Path(FOLDER if output is None else output)
    names = [REPORT, *(f"{name}.rw" for name in RANKERS)]
    there = [name for name in names if (folder / name).exists()]
    if output is not None and there:
        raise InputError(f"{folder / there[0]} exists already; give another folder, or move it away")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def data(queries: int, quiet: bool) -> dict[str, rw.QuerySet]:
    """Queries to learn from, to select and combine on, and to test on."""
    with step("making data", quiet):
        learning, test = rw.synthetic.web_search(queries).split(2 / 3)
        train, valid = learning.split(3 / 4)
    return {"train": train, "valid": valid, "test": test}


def learners(n_estimators: int, epochs: int, tolerance: float) -> dict[str, Ranker]:
    """Three ways to learn, by their short names."""
    trees = rw.LambdaMART(measure=MEASURE, n_estimators=n_estimators, max_leaf_nodes=15)
    net = rw.LambdaRank(measure=MEASURE, hidden=5, epochs=epochs)
    svm = rw.SVMNDCG(measure=MEASURE, tol=tolerance)
    return dict(zip(RANKERS, (trees, net, svm), strict=True))


def going_on(net: Ranker, epochs: int) -> Ranker:
    """A learner that goes on from this net, by smaller and smaller steps."""
    return rw.LambdaRank(measure=MEASURE, hidden=5, init=net, epochs=epochs, learning_rate=0.005, decay=0.95)


def fitted(ranker: Ranker, train: rw.QuerySet, valid: rw.QuerySet | None, quiet: bool) -> float:
    """Train a ranker; the seconds that it took."""
    start = time.perf_counter()
    with training(ranker, quiet) as report:
        ranker.fit(train, valid=valid, progress=report)
    return time.perf_counter() - start


def told(found: Tour, folder: Path) -> str:
    """All of it, on one screen."""
    files = ", ".join(f"{name}.rw" for name in found.rankers)
    return "\n".join(
        [
            described(found.parts),
            learned(found.rankers, found.seconds, found.both),
            checked(found.optimality, found.converged),
            figures(found.comparison),
            f"Written: {files} and, to be opened in a browser,\n  {folder / REPORT}\n",
            NEXT,
        ]
    )


def described(parts: dict[str, rw.QuerySet]) -> str:
    """How large each part of the data is."""
    lines = ["Artificial data of a web search's shape       queries   documents    features"]
    for name, queries in parts.items():
        counts = (queries.n_queries, len(queries), queries.n_features)
        lines.append(f"  {name:40}" + "".join(f"{count:12,}" for count in counts).rstrip())
    return "\n".join(lines) + "\n"


def learned(rankers: dict[str, Ranker], seconds: dict[str, float], both: rw.Sum) -> str:
    """What was trained, and what the combination is."""
    methods = {
        "trees": f"LambdaMART, {len(rankers['trees'].history_)} trees of 15 leaves",
        "net": f"LambdaRank, 5 hidden units, {len(rankers['net'].history_)} epochs",
        "svm": "SVMNDCG, max-margin, a linear model",
    }
    lines = [f"Trained for {MEASURE}"]
    lines += [f"  {name:6}{what:58}{seconds[name]:6.1f} s" for name, what in methods.items()]
    alpha = float(both.training["alpha"])
    lines.append(f"  both  {1 - alpha:.3f} · trees + {alpha:.3f} · net, exactly the best of all on valid")
    return "\n".join(lines) + "\n"


def checked(optimality: LocalOptimality, converged: float) -> str:
    """Whether the net, trained on to the end, is at a local optimum; and what that is worth on test."""
    rising, directions = int(optimality.ascents.any(axis=1).sum()), len(optimality.along)
    far = " and ".join(f"{step:g}" for step in optimality.steps)
    tried = f"at {optimality.start:.4f}: of {directions} random directions, {far} |w| far,"
    if rising:
        found = f"No, {tried} {rising} rise,\n  to {optimality.best[0]:.4f} at most; it has not converged."
    else:
        sure = f"With {100 * optimality.confidence:.0f} % confidence fewer than 1 % do"
        found = f"Yes, {tried} none rises.\n  {sure} (finer steps find a few small ones)."
    return (
        f"Trained on without valid, is the net at a local optimum of {MEASURE} on train?\n"
        f"  {found}\n"
        f"  On test it has {converged:.4f} then; the net below is of the epoch best on valid.\n"
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
    return "\n".join([*lines, P])
