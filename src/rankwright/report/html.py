"""The page: one file that opens in any browser, offline.

What the page needs stands in it as JSON, long columns as base64 of their bytes, exact. Nothing that a user
named becomes markup: names are text in JSON (whose ``<`` is escaped), and the page's script writes them as
text. Its content security policy lets only the page's own two scripts run, and nothing be fetched.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import string
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.evaluation import Comparison
from rankwright.evaluation.result import jsonable
from rankwright.measures import Measure
from rankwright.report import charts, figures, tables
from rankwright.report.curves import curve_measures
from rankwright.report.learning import learning_curves
from rankwright.report.moves import DEPTH, moves
from rankwright.report.verdict import verdict
from rankwright.runtime.files import written_whole

MOST_QUERIES = 20_000
"""The documents of so many queries, those that gain or lose most, are in the page."""
BLANK, SHORT, TIED = 1, 2, 4


def page(comparison: Comparison, path: str | os.PathLike[str] | None = None) -> str:
    """The comparison as HTML, written to ``path`` if one is given.

    >>> import rankwright as rw
    >>> text = page(rw.compare({"a": [2, 1, 3], "b": [1, 2, 3]}, [1, 0, 2], "ndcg@2", qid=[1, 1, 1]))
    >>> text[:15], "http-equiv" in text
    ('<!DOCTYPE html>', True)
    """
    import vl_convert

    measures = list(dict.fromkeys(contrast.measure for contrast in comparison))
    bundle: Any = vl_convert.javascript_bundle  # its types ask for an argument that it can do without
    script, library = part("page.js"), bundle()
    told = [verdict(comparison, measure) for measure in measures]
    text = string.Template(part("page.html")).substitute(
        policy=html.escape(policy(library, script)),
        style=part("page.css"),
        verdict=html.escape(told[0]),
        data=as_json(payload(comparison, measures, told)),
        documents=as_json(documents(comparison, measures[0])),
        library=library,
        script=script,
    )
    if path is not None:
        with written_whole(path) as draft:
            draft.write_text(text, encoding="utf-8")
    return text


def part(name: str) -> str:
    """A file of this folder."""
    return resources.files("rankwright.report").joinpath(name).read_text(encoding="utf-8")


def policy(*scripts: str) -> str:
    """The content security policy under which these scripts run and no other, and nothing is fetched.

    >>> policy("")[:45]
    "default-src 'none'; style-src 'unsafe-inline'"
    """
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; script-src {allowed}"


def as_json(value: Any) -> str:
    r"""JSON that can stand in HTML: no markup begins or ends in it.

    >>> as_json("</script>")
    '"\\u003c/script\\u003e"'
    """
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def packed(values: NDArray[Any], kind: str) -> str:
    """A column as base64 of its bytes, little end first; ``kind`` as NumPy names it.

    >>> packed(np.array([1.0]), "f8")
    'AAAAAAAA8D8='
    """
    return base64.b64encode(np.ascontiguousarray(values, f"<{kind}").tobytes()).decode("ascii")


def payload(comparison: Comparison, measures: list[Measure], told: list[str]) -> dict[str, Any]:
    """All that the page shows at first."""
    names = list(comparison.evaluations)
    pairs = list(dict.fromkeys((each.a, each.b) for each in comparison))
    learned = learning_curves(comparison.systems)
    worth = figures.importances(comparison, measures[0])
    curves = figures.curves(comparison, measures)
    panels = [{each: curves[each] for each in curve_measures(measure)} for measure in measures]
    return {
        "systems": names,
        "measures": [str(measure) for measure in measures],
        "pairs": [[names.index(a), names.index(b)] for a, b in pairs],
        "verdicts": told,
        "bars": figures.MOST_BARS,
        "queries": queries(comparison, measures),
        "figures": {
            "measures": [[shown(figures.of_measures(comparison, measure))] for measure in measures],
            "differences": [[shown(figures.of_differences(comparison, measure))] for measure in measures],
            "curves": [list(map(shown, figures.curve_panels(comparison, some))) for some in panels],
            "learning": list(map(shown, figures.of_learning(comparison))),
            "importance": [
                shown(figures.importance_panel(name, rows, measures[0])) for name, rows in worth.items()
            ],
            "gains": [shown(("", charts.bars(None, f"gain in {measure}"), 260)) for measure in measures],
        },
        "tables": {
            "measures": tables.of_measures(comparison),
            "significance": tables.of_contrasts(comparison),
            "curves": tables.of_curves(
                [{"measure": str(each), **row} for each, rows in curves.items() for row in rows]
            ),
            "learning": tables.of_learning(learned),
            "importance": tables.of_importance(worth),
            "data": tables.of_data(comparison),
        },
    }


def shown(panel: figures.Panel) -> dict[str, Any]:
    """A panel with its chart as a specification that fills the width it finds."""
    title, chart, height = panel
    spec = chart.properties(width="container", height=height).to_dict()
    return {"title": title, "spec": jsonable({key: spec[key] for key in spec if key != "config"})}


def queries(comparison: Comparison, measures: list[Measure]) -> dict[str, Any]:
    """Columns with an entry a query: ids, sizes, what is special, and values by measure and system."""
    evaluations = list(comparison.evaluations.values())
    first = evaluations[0][measures[0]]
    places = []
    for evaluation in evaluations:
        known = {query: number for number, query in enumerate(evaluation[measures[0]].query_ids)}
        places.append(np.array([known[query] for query in first.query_ids]))
    tied = np.zeros(len(first.query_ids), np.uint8)
    for evaluation, place in zip(evaluations, places, strict=True):
        tied |= evaluation[measures[0]].ranked.tied[place]
    lists = first.ranked.lists
    notes = [
        BLANK * (lists.constants(measure) == 0) + SHORT * (lists.sizes < (measure.cutoff or 0)) + TIED * tied
        for measure in measures
    ]
    return {
        "ids": [str(query) for query in first.query_ids],
        "sizes": packed(lists.sizes, "i4"),
        "notes": [packed(each, "u1") for each in notes],
        "values": [
            [
                packed(evaluation[measure].per_query[place], "f8")
                for evaluation, place in zip(evaluations, places, strict=True)
            ]
            for measure in measures
        ],
    }


def documents(comparison: Comparison, measure: Measure) -> dict[str, Any] | None:
    """Where the documents of each query stand in each system, for the queries that change most."""
    change: Any = 0.0
    for contrast in comparison:
        if contrast.measure == measure:
            gains = figures.sorted_gains(comparison, measure, contrast.a, contrast.b)[1]
            change = np.maximum(change, np.nan_to_num(abs(gains)))
    chosen = np.sort(np.argsort(-change, kind="stable")[:MOST_QUERIES])
    found = moves(comparison, chosen)
    if found is None:
        return None
    names = list(comparison.evaluations)
    chart = charts.slopes(None, None, DEPTH)
    return {
        "spec": shown(("", chart, 380))["spec"],
        "depth": DEPTH,
        "queries": packed(chosen, "i4"),
        "offsets": packed(found.offsets, "i4"),
        "labels": packed(found.labels, "f4"),
        "names": found.documents,
        "ranks": [packed(found.ranks[system], "i4") for system in range(len(names))],
    }
