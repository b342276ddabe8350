"""The tables of the page: columns with a name, a kind that says how to show them, and their values."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwright.data import QuerySet
from rankwright.evaluation import Comparison
from rankwright.evaluation.result import jsonable

Table = dict[str, Any]
TEXT, COUNT, VALUE, SIGNED, CHANCE = "text", "count", "value", "signed", "chance"
TESTS = {"t": "t", "wilcoxon": "Wilcoxon", "randomisation": "randomisation", "bootstrap": "bootstrap"}


def table(rows: list[dict[str, Any]], kinds: dict[str, tuple[str, str]]) -> Table:
    """Rows as columns; ``kinds`` has a column's title and kind by its key.

    >>> table([{"k": 1}], {"k": ("rank", COUNT)})
    {'columns': [{'name': 'rank', 'kind': 'count', 'values': [1]}]}
    """
    return {
        "columns": [
            {"name": title, "kind": kind, "values": [jsonable(row[key]) for row in rows]}
            for key, (title, kind) in kinds.items()
        ]
    }


def of_measures(comparison: Comparison) -> Table:
    """A row a measure and system: the mean with its interval, and what was counted."""
    rows = []
    for name, evaluation in comparison.evaluations.items():
        for measure, result in evaluation.items():
            low, high = result.interval
            worst, best = result.range
            rows.append(
                {"measure": str(measure), "system": name, "mean": result.mean, "low": low, "high": high}
                | {"counted": result.counted, "blank": result.blank, "short": result.short}
                | {"tied": result.tied, "worst": worst, "best": best}
            )
    order = {str(measure): place for place, measure in enumerate(next(iter(comparison.evaluations.values())))}
    kinds = {"measure": ("measure", TEXT), "system": ("system", TEXT), "mean": ("mean", VALUE)}
    kinds |= {"low": ("from", VALUE), "high": ("to", VALUE)}
    kinds |= {count: (count, COUNT) for count in ("counted", "blank", "short", "tied")}
    kinds |= {"worst": ("ties worst", VALUE), "best": ("ties best", VALUE)}
    return table(sorted(rows, key=lambda row: order[row["measure"]]), kinds)


def of_contrasts(comparison: Comparison) -> Table:
    """A row a contrast: the difference, who won how often, and the p-values before and after Holm."""
    rows = []
    for contrast in comparison:
        row = contrast.as_dict()
        row["low"], row["high"] = contrast.interval
        row |= {f"p {test}": p for test, p in contrast.p.items()}
        row |= {f"Holm {test}": p for test, p in contrast.corrected.items()}
        row["contrast"] = f"{contrast.a} − {contrast.b}"
        rows.append(row)
    kinds = {
        "measure": ("measure", TEXT),
        "contrast": ("systems", TEXT),
        "difference": ("difference", SIGNED),
    }
    kinds |= {"low": ("from", SIGNED), "high": ("to", SIGNED)}
    kinds |= {f"Holm {test}": (f"{TESTS[test]}, Holm", CHANCE) for test in comparison[0].p}
    kinds |= {"effect_size": ("effect", SIGNED)}
    kinds |= {count: (count, COUNT) for count in ("queries", "wins", "ties", "losses")}
    kinds |= {f"p {test}": (f"{TESTS[test]}, p", CHANCE) for test in comparison[0].p}
    return table(rows, kinds)


def of_curves(rows: list[dict[str, Any]]) -> Table:
    """A row a measure, system and rank."""
    kinds = {"measure": ("measure", TEXT), "system": ("system", TEXT), "k": ("rank k", COUNT)}
    return table(rows, kinds | {"mean": ("mean", VALUE), "low": ("from", VALUE), "high": ("to", VALUE)})


def of_learning(panels: dict[str, list[dict[str, Any]]]) -> Table:
    """A row a curve and step."""
    rows = [{"panel": title, **row} for title, some in panels.items() for row in some]
    kinds = {"panel": ("what", TEXT), "curve": ("curve", TEXT)}
    return table(rows, kinds | {"step": ("step", COUNT), "value": ("value", VALUE)})


def of_importance(by_ranker: dict[str, list[dict[str, Any]]]) -> Table:
    """A row a ranker and feature."""
    rows = [{"ranker": name, **row} for name, some in by_ranker.items() for row in some]
    kinds = {"ranker": ("ranker", TEXT), "feature": ("feature", TEXT), "value": ("lost", SIGNED)}
    return table(rows, kinds | {"low": ("from", SIGNED), "high": ("to", SIGNED)})


def of_data(comparison: Comparison) -> Table:
    """What is in the data, as far as is known: a query set is described, of others the lists are."""
    described = (
        comparison.queries.describe().as_dict()
        if isinstance(comparison.queries, QuerySet)
        else _of_lists(comparison)
    )
    rows = []
    for name, value in described.items():
        told = name.replace("_", " ")
        if isinstance(value, dict):
            told = {"sizes": "documents a query", "labels": "labels: documents"}[name]
            separator = " " if name == "sizes" else ": "
            parts = [f"{part}{separator}{n:,.6g}" for part, n in value.items()]
            rows.append({"what": told, "value": ", ".join(parts)})
        elif isinstance(value, tuple):
            rows.append({"what": told, "value": ", ".join(map(str, value)) or "none"})
        else:
            rows.append({"what": told, "value": f"{value:,}"})
    return table(rows, {"what": ("what", TEXT), "value": ("", TEXT)})


def _of_lists(comparison: Comparison) -> dict[str, Any]:
    """What the first system's lists tell."""
    lists = next(iter(next(iter(comparison.evaluations.values())).values())).ranked.lists
    known = lists.labels[~np.isnan(lists.labels)]
    values, counts = np.unique(known, return_counts=True)
    sizes = {"least": lists.sizes.min(), "median": float(np.median(lists.sizes)), "most": lists.sizes.max()}
    return {
        "queries": len(lists.sizes),
        "documents": len(lists.labels),
        "sizes": {name: float(size) for name, size in sizes.items()},
        "labels": {f"{value:g}": int(count) for value, count in zip(values, counts, strict=True)},
        "unjudged": int(np.isnan(lists.labels).sum()),
    }
