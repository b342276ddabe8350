"""What several papers' experiments share: nets at their best learning rate, and rankers beside each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rankwright.data import QuerySet
from rankwright.evaluation import compare, evaluate
from rankwright.evaluation.significance import paired_t
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


TRUNCATIONS = tuple(f"ndcg@{k}" for k in range(1, 11))
TESTED = ("ndcg@1", "ndcg@10")


def one_net(kind: str, rate: float, parts: Sequence[QuerySet], **settings: Any) -> dict[str, Any]:
    """A net at one learning rate: its best on validation data, and its NDCG on test data."""
    train, valid, test = parts
    try:
        net = NETS[kind](learning_rate=rate, **{**SCHEDULE, **settings}).fit(train, valid=valid)
    except InputError as error:
        return {"valid": -1.0, "failure": str(error)}
    found = evaluate(net, test, TRUNCATIONS)
    return {
        "valid": max(record["valid"] for record in net.history_),
        "means": {measure: found[measure].mean for measure in TRUNCATIONS},
        "intervals": {measure: list(found[measure].interval) for measure in TRUNCATIONS},
        "per query": {measure: found[measure].per_query.round(6).tolist() for measure in TESTED},
    }


def panel_pieces(
    nets: Mapping[int, str], parts: Callable[[], Sequence[QuerySet]], **settings: Any
) -> dict[str, Any]:
    """RankNet and LambdaRank with these hidden units, a learning rate a piece."""
    return {
        f"{name} {kind} {rate:g}": lambda hidden=hidden, kind=kind, rate=rate: one_net(
            kind, rate, parts(), hidden=hidden, **settings
        )
        for hidden, name in nets.items()
        for kind in ("LambdaRank", "RankNet")
        for rate in RATES[kind]
    }


def panels(results: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """By net and kind, what was found at the rate that is best on validation data."""
    best: dict[str, dict[str, Any]] = {}
    for piece, found in results.items():
        name, kind, _ = piece.rsplit(" ", 2)
        own = best.setdefault(name, {})
        if found["valid"] > own.get(kind, {"valid": -0.5})["valid"]:
            own[kind] = found
    return best


def panel_figures(results: Mapping[str, Any]) -> dict[str, Any]:
    """By net: the means at each truncation, how many LambdaRank wins, p-values, and the gaps at 1 and 10."""
    figures: dict[str, Any] = {}
    for name, by in panels(results).items():
        ahead, behind = by["LambdaRank"], by["RankNet"]
        gap = {each: ahead["means"][each] - behind["means"][each] for each in TRUNCATIONS}
        figures[f"{name}, wins"] = sum(each > 0 for each in gap.values())
        figures[f"{name}, gaps"] = {each: gap[each] for each in TESTED}
        for measure in TESTED:
            figures[f"{name}, {measure}"] = {kind: found["means"][measure] for kind, found in by.items()}
            values = [np.array(found["per query"][measure], float) for found in (ahead, behind)]
            differences = values[0] - values[1]
            figures[f"{name}, {measure}, p"] = paired_t(differences[~np.isnan(differences)])
    return figures


def panel_tables(results: Mapping[str, Any]) -> list[Table]:
    """A table a net: a line a truncation and kind, with its interval."""
    return [
        Table(
            f"NDCG on test data, {name}",
            [
                {
                    "truncation": int(measure.partition("@")[2]),
                    "ranker": kind,
                    "mean": found["means"][measure],
                    "95 % interval": "{:.4f} to {:.4f}".format(*found["intervals"][measure]),
                }
                for measure in TRUNCATIONS
                for kind, found in by.items()
            ],
            ("truncation", "mean", "ranker"),
        )
        for name, by in panels(results).items()
    ]
