"""What several papers' experiments share: nets at their best learning rate, and rankers beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankwright.data import QuerySet
from rankwright.evaluation import compare
from rankwright.learners.base import Ranker
from rankwright.learners.lambdarank import LambdaRank
from rankwright.learners.ranknet import RankNet
from rankwright.reproductions.experiments import Table
from rankwright.runtime.errors import InputError

NETS = {"RankNet": RankNet, "LambdaRank": LambdaRank}
RATES = {"RankNet": (1e-5, 1e-4, 1e-3), "LambdaRank": (1e-4, 1e-3, 1e-2)}
"""2006 tries rates from 1e-7 to 1e-2 and takes the best on validation data; these are where ours lies."""
SCHEDULE: Mapping[str, Any] = {"optimiser": "sgd", "batch_size": 1, "decay": 0.8, "restart_rounds": 50}
"""2006 section 6.3: an update a query, times 0.8 where the cost rose, a new start after 50 epochs of none."""


def best_net(
    kind: str, train: QuerySet, valid: QuerySet, *, rates: Sequence[float] | None = None, **settings: Any
) -> Ranker:
    """The net that is best by its measure on ``valid``, over the learning rates."""
    best, value = None, -1.0
    for rate in rates or RATES[kind]:
        try:
            net = NETS[kind](learning_rate=rate, **{**SCHEDULE, **settings}).fit(train, valid=valid)
        except InputError:  # it diverged, so this rate is not the best
            continue
        reached = max(record["valid"] for record in net.history_)
        if reached > value:
            best, value = net, reached
    if best is None:
        raise InputError(f"{kind} diverged at every learning rate; give lower ones")
    return best


def contest(systems: Mapping[str, Any], test: QuerySet, measures: Sequence[str]) -> dict[str, Any]:
    """Means, 95 % intervals, and the p-values of paired t-tests ("a - b"), each by measure."""
    found = compare(systems, test, measures, n_resamples=100)
    table: dict[str, Any] = {"means": {}, "intervals": {}, "p": {}}
    for contrast in found:
        name = str(contrast.measure)
        table["means"].setdefault(name, {}).update({contrast.a: contrast.mean_a, contrast.b: contrast.mean_b})
        table["p"].setdefault(name, {})[f"{contrast.a} - {contrast.b}"] = contrast.p["t"]
    for system, evaluation in found.evaluations.items():
        for name in table["means"]:
            table["intervals"].setdefault(name, {})[system] = list(evaluation[name].interval)
    return table


def means_table(title: str, found: Mapping[str, Any], measures: Sequence[str]) -> Table:
    """A line a measure and system, with its interval."""
    rows = [
        {
            "measure": measure,
            "ranker": system,
            "mean": mean,
            "95 % interval": "{:.4f} to {:.4f}".format(*found["intervals"][measure][system]),
        }
        for measure in measures
        for system, mean in found["means"][measure].items()
    ]
    return Table(title, rows, ("measure", "mean", "ranker"))
