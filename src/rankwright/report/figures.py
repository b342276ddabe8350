"""The figures of a comparison as Altair charts: what ``Comparison.plot`` gives, and what the page shows."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from rankwright.evaluation import Comparison
from rankwright.evaluation.compare import ROUNDING
from rankwright.measures import Measure
from rankwright.measures import measure as read_measure
from rankwright.measures.base import Floats
from rankwright.report import charts
from rankwright.report.curves import curve, curve_measures
from rankwright.report.importance import can_be_asked, importance
from rankwright.report.learning import learning_curves
from rankwright.report.moves import DEPTH, moves
from rankwright.runtime.errors import InputError

WIDTH, HEIGHT, A_ROW = 520, 300, 34
MOST_FEATURES = 15
MANY_POINTS = 30
MOST_BARS = 1000
"""Of more queries, every so many'th has a bar, as wide as those that it stands for."""

Panel = tuple[str, Any, int]
"""A title, a chart and its height."""


def plot(
    comparison: Comparison,
    figure: str = "measures",
    *,
    measure: str | Measure | None = None,
    between: tuple[str, str] | None = None,
    query: Hashable = None,
) -> Any:
    """A figure as an Altair chart; see ``Comparison.plot``.

    >>> import rankwright as rw
    >>> found = rw.compare({"a": [2, 1, 3], "b": [1, 2, 3]}, [1, 0, 2], "ndcg@2", qid=[1, 1, 1])
    >>> chart = plot(found, "curves")
    >>> chart.title
    'ndcg@1 to ndcg@2'
    """
    import altair as alt

    by = read_measure(measure) if isinstance(measure, str) else measure or comparison[0].measure
    pair = between or (comparison[0].a, comparison[0].b)
    known = list(comparison.evaluations)
    if by not in {contrast.measure for contrast in comparison}:
        raise InputError(f"{by} was not compared; there is {', '.join(map(str, _measures(comparison)))}")
    for name in pair:
        if name not in known:
            raise InputError(f"{name!r} is none of the systems; they are {', '.join(known)}")
    drawn: dict[str, Callable[[], list[Panel]]] = {
        "measures": lambda: [of_measures(comparison, by)],
        "differences": lambda: [of_differences(comparison, by)],
        "curves": lambda: of_curves(comparison, by),
        "gains": lambda: [of_gains(comparison, by, pair[0], pair[1])],
        "moves": lambda: [of_moves(comparison, by, pair[0], pair[1], query)],
        "learning": lambda: of_learning(comparison),
        "importance": lambda: of_importance(comparison, by),
    }
    if figure not in drawn:
        raise InputError(f"there is no figure {figure!r}; there are {', '.join(drawn)}")
    panels = [
        chart.properties(title=title, width=WIDTH, height=height) for title, chart, height in drawn[figure]()
    ]
    if not panels:
        raise InputError(f"there is nothing to draw for {figure!r} in this comparison")
    return panels[0] if len(panels) == 1 else alt.vconcat(*panels).resolve_scale(color="independent")


def _measures(comparison: Comparison) -> list[Measure]:
    return list(dict.fromkeys(contrast.measure for contrast in comparison))


def of_measures(comparison: Comparison, measure: Measure) -> Panel:
    """Each system's mean and its interval."""
    rows = []
    for name, evaluation in comparison.evaluations.items():
        low, high = evaluation[measure].interval
        rows.append({"system": name, "value": evaluation[measure].mean, "low": low, "high": high})
    names = list(comparison.evaluations)
    chart = charts.intervals(finite(rows), "system", f"mean {measure}", names=names, zero=False)
    return f"{measure}: means, 95 % intervals", chart, 40 + A_ROW * len(names)


def of_differences(comparison: Comparison, measure: Measure) -> Panel:
    """Each contrast's difference and its interval."""
    rows = [
        {
            "contrast": f"{each.a} − {each.b}",
            "value": each.difference,
            "low": each.interval[0],
            "high": each.interval[1],
        }
        for each in comparison
        if each.measure == measure
    ]
    names = [str(row["contrast"]) for row in rows]
    chart = charts.intervals(finite(rows), "contrast", f"difference in {measure}", names=names, zero=True)
    return f"{measure}: paired differences, 95 % intervals", chart, 40 + A_ROW * len(names)


def of_curves(comparison: Comparison, measure: Measure) -> list[Panel]:
    """The measure from rank 1 to its cut-off, and NDCG."""
    return curve_panels(comparison, curves(comparison, [measure]))


def curves(comparison: Comparison, measures: list[Measure]) -> dict[Measure, list[dict[str, Any]]]:
    """The rows of each curve that goes with some measures, each made once."""
    asked = dict.fromkeys(each for measure in measures for each in curve_measures(measure))
    return {each: curve(comparison, each) for each in asked}


def curve_panels(comparison: Comparison, found: dict[Measure, list[dict[str, Any]]]) -> list[Panel]:
    """A panel a curve that there is."""
    panels = []
    for each, of_each in found.items():
        rows = finite(of_each, "mean")
        if rows:
            shown = [{**row, "rank k": row["k"]} for row in rows]
            few = len({row["k"] for row in rows}) <= MANY_POINTS
            chart = charts.lines(
                shown, "rank k", "mean", "system", names=list(comparison.evaluations), points=few
            )
            name, _, k = str(each).partition("@")
            panels.append((f"{name}@1 to {name}@{k}", chart, HEIGHT))
    return panels


def of_gains(comparison: Comparison, measure: Measure, a: str, b: str) -> Panel:
    """What each query gains by ``a`` in the place of ``b``, sorted."""
    order, gains = sorted_gains(comparison, measure, a, b)
    ids = comparison.evaluations[a][measure].query_ids
    kinds = {1: "gained", 0: "equal", -1: "lost"}
    each = math.ceil(len(order) / MOST_BARS)
    rows = []
    for at in range(0, len(order), max(each, 1)):
        gain = float(gains[order[at]])
        about = {"query": str(ids[order[at]]), "kind": kinds[int(np.sign(gain))]}
        rows.append({"rank": at, "next": min(at + each, len(order)), "gain": gain, **about})
    return f"What queries gain: {a} − {b}", charts.bars(rows, f"gain in {measure}"), HEIGHT


def of_moves(comparison: Comparison, measure: Measure, a: str, b: str, query: Hashable = None) -> Panel:
    """Where the documents of a query stand in ``b``, and where in ``a``."""
    order, _ = sorted_gains(comparison, measure, a, b)
    names = list(comparison.evaluations)
    ids = comparison.evaluations[names[0]][measure].query_ids
    if query is None:
        if not len(order):
            raise InputError(f"no query counts for {measure}; give query=")
        query = comparison.evaluations[a][measure].query_ids[order[0]]
    if query not in ids:
        raise InputError(f"there is no query {query!r}; ids here are like {ids[0]!r}")
    found = moves(comparison, np.array([ids.index(query)]))
    if found is None:
        raise InputError("nothing tells which documents are the same; give rankings documents")
    rows = found.rows(0, (names.index(b), names.index(a)), names, DEPTH)
    return f"Query {query}: documents from {b} to {a}", charts.slopes(rows, (b, a), DEPTH), HEIGHT + 40


def of_learning(comparison: Comparison) -> list[Panel]:
    """The measure, or the learner's own aim, step by step."""
    panels = []
    for title, rows in learning_curves(comparison.systems).items():
        most = max(row["step"] for row in rows)
        named = [{**row, title: row["value"]} for row in rows]
        chart = charts.lines(named, "step", title, "curve", points=most <= MANY_POINTS)
        panels.append((title, chart, HEIGHT - 60))
    return panels


def of_importance(comparison: Comparison, measure: Measure) -> list[Panel]:
    """The features that matter most to each ranker."""
    return [importance_panel(name, rows, measure) for name, rows in importances(comparison, measure).items()]


def importances(comparison: Comparison, measure: Measure) -> dict[str, list[dict[str, Any]]]:
    """What each feature is worth to each ranker among the systems."""
    return {
        name: importance(system, comparison.queries, measure)
        for name, system in comparison.systems.items()
        if can_be_asked(system, comparison.queries)
    }


def importance_panel(name: str, rows: list[dict[str, Any]], measure: Measure) -> Panel:
    """One ranker's features, those that matter most."""
    shown = finite(rows)[:MOST_FEATURES]
    names = [row["feature"] for row in shown]
    chart = charts.intervals(shown, "feature", f"{measure} lost", names=names, zero=True)
    return name, chart, 40 + 22 * len(shown)


def sorted_gains(
    comparison: Comparison, measure: Measure, a: str, b: str
) -> tuple[np.ndarray[Any, np.dtype[np.int64]], Floats]:
    """The queries that count for both, the greatest gain first; and what each of ``a``'s queries gains."""
    first, second = comparison.evaluations[a][measure], comparison.evaluations[b][measure]
    place = {query: number for number, query in enumerate(second.query_ids)}
    others = second.per_query[[place[query] for query in first.query_ids]]
    gains = first.per_query - others
    gains[abs(gains) <= ROUNDING * np.maximum(abs(first.per_query), abs(others))] = 0.0
    counted = np.flatnonzero(~np.isnan(gains))
    return counted[np.argsort(-gains[counted], kind="stable")], gains


def finite(rows: list[dict[str, Any]], value: str = "value") -> list[dict[str, Any]]:
    """The rows that have a value; an interval that there is not is the value itself."""
    kept = [row for row in rows if np.isfinite(row[value])]
    return [
        {**row, **{end: row[end] if np.isfinite(row[end]) else row[value] for end in ("low", "high")}}
        for row in kept
    ]
