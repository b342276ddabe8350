"""What all figures are drawn with: rows as Altair charts, told apart by colour and by dash or shape.

The colours are Okabe and Ito's, which colour-blind readers tell apart too, without their yellow and black:
each shows on a light ground and on a dark one. Names never become parts of an expression or a field: rows are
renamed to plain fields, and names stand in the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C8C8C")
DASHES = ([1, 0], [6, 3], [2, 2], [9, 3, 2, 3], [12, 4])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
GAIN, LOSS, NEITHER = COLOURS[0], COLOURS[1], COLOURS[6]

Row = Mapping[str, Any]


def lines(
    rows: Iterable[Row],
    x: str,
    y: str,
    series: str,
    *,
    names: Sequence[str] | None = None,
    x_scale: Any = None,
    y_scale: Any = None,
    points: bool = True,
) -> Any:
    """Lines, a series each; where rows have ``low`` and ``high``, with a band between them.

    ``names`` are the series in their order, so that one has the same colour in every figure.

    >>> chart = lines([{"k": 1, "ndcg": 0.4, "system": "a"}], "k", "ndcg", "system")
    >>> chart.to_dict()["layer"][0]["mark"]["type"]
    'line'
    """
    import altair as alt

    given = [dict(row) for row in rows]
    plain = [
        {"x": row[x], "y": row[y], "series": str(row[series])}
        | {bound: row[bound] for bound in ("low", "high") if bound in row}
        for row in given
    ]
    ordered = list(names or dict.fromkeys(row["series"] for row in plain))
    colour, dash, shape = (_by_name(alt, kind, ordered) for kind in (alt.Color, alt.StrokeDash, alt.Shape))
    base = alt.Chart(alt.Data(values=plain)).encode(
        x=alt.X("x:Q", title=x, scale=x_scale or alt.Scale(zero=False, nice=False), axis=_ticks(alt, plain)),
        y=alt.Y("y:Q", title=y, scale=y_scale or alt.Scale(zero=False)),
        color=colour,
    )
    told = (("series:N", series), ("x:Q", x), ("y:Q", y))
    tip = [alt.Tooltip(field, title=title) for field, title in told]
    layers = [base.mark_line(strokeWidth=2).encode(strokeDash=dash)]
    if points:
        layers.append(base.mark_point(filled=True, size=45, opacity=1).encode(shape=shape, tooltip=tip))
    if plain and "low" in plain[0]:
        layers.insert(0, base.mark_area(opacity=0.13).encode(y=alt.Y("low:Q", title=y), y2="high:Q"))
    return alt.layer(*layers)


def intervals(rows: Sequence[Row], name: str, title: str, *, names: Sequence[str], zero: bool) -> Any:
    """A point and its interval (``low`` to ``high``) a row, on lines of their own; ``zero`` marks 0.

    >>> row = {"feature": "bm25", "value": 0.2, "low": 0.1, "high": 0.3}
    >>> chart = intervals([row], "feature", "what it is worth", names=["bm25"], zero=True)
    >>> [layer["mark"]["type"] for layer in chart.to_dict()["layer"]]
    ['rule', 'rule', 'point']
    """
    import altair as alt

    plain = [
        {"name": str(row[name]), "value": row["value"], "low": row["low"], "high": row["high"]}
        for row in rows
    ]
    base = alt.Chart(alt.Data(values=plain)).encode(
        y=alt.Y("name:N", sort=list(names), title=None),
        color=_by_name(alt, alt.Color, names, field="name", legend=False) if not zero else alt.value(GAIN),
    )
    across = alt.X("value:Q", title=title, scale=alt.Scale(zero=zero))
    tip = [
        alt.Tooltip("name:N"),
        *(alt.Tooltip(f"{part}:Q", format=".4f") for part in ("value", "low", "high")),
    ]
    shape = alt.value("circle") if zero else _by_name(alt, alt.Shape, names, field="name", legend=False)
    layers = [
        base.mark_rule(strokeWidth=3, opacity=0.55).encode(
            x=alt.X("low:Q", title=title, scale=alt.Scale(zero=zero)), x2="high:Q"
        ),
        base.mark_point(filled=True, size=110, opacity=1).encode(x=across, shape=shape, tooltip=tip),
    ]
    if zero:
        line = alt.Chart(alt.Data(values=[{"value": 0}])).mark_rule(color=NEITHER, strokeDash=[4, 3])
        layers.insert(0, line.encode(x=across))
    return alt.layer(*layers)


def bars(rows: Sequence[Row] | None, y: str) -> Any:
    """What each query gains (``gain``, by ``rank``), one bar each, gains and losses in two colours.

    Without rows, those that a page puts into the data named "rows".
    """
    import altair as alt

    data = alt.Data(name="rows") if rows is None else alt.Data(values=[dict(row) for row in rows])
    kinds = ["gained", "equal", "lost"]
    return (
        alt.Chart(data)
        .mark_bar(binSpacing=0, cursor="pointer")
        .encode(
            x=alt.X("rank:Q", title="queries, sorted", scale=alt.Scale(zero=False, nice=False)),
            x2="next:Q",
            y=alt.Y("gain:Q", title=y),
            y2=alt.Y2Datum(0),
            color=alt.Color(
                "kind:N",
                title=None,
                scale=alt.Scale(domain=kinds, range=[GAIN, NEITHER, LOSS]),
                legend=alt.Legend(orient="top"),
            ),
            tooltip=[alt.Tooltip("query:N"), alt.Tooltip("gain:Q", format="+.4f")],
        )
    )


def slopes(rows: Sequence[Row] | None, names: Sequence[str] | None, depth: int) -> Any:
    """Where documents stand (``rank``) in two systems, a line each; its label is written at both ends.

    ``rows`` hold ``document``, ``system``, ``rank`` (at most ``depth`` + 1, which is "below"), ``label`` and
    ``relevant``. Without rows, those that a page puts into the data named "rows".
    """
    import altair as alt

    data = alt.Data(name="rows") if rows is None else alt.Data(values=[dict(row) for row in rows])
    below = f"datum.value > {depth} ? 'below' : datum.value"
    base = alt.Chart(data).encode(
        x=alt.X(
            "system:N",
            title=None,
            sort=None if names is None else list(names),
            scale=alt.Scale(padding=0.25),
            axis=alt.Axis(orient="top", labelAngle=0, labelLimit=150, labelFontSize=13),
        ),
        y=alt.Y(
            "rank:Q",
            title="rank",
            scale=alt.Scale(reverse=True, domain=[1, depth + 1], nice=False),
            axis=alt.Axis(values=list(range(1, depth + 2)), labelExpr=below, grid=False),
        ),
        detail="document:N",
        color=alt.Color(
            "kind:N",
            title=None,
            scale=alt.Scale(domain=["relevant", "not relevant"], range=[GAIN, NEITHER]),
            legend=alt.Legend(orient="bottom"),
        ),
        tooltip=[alt.Tooltip(f"{field}:N") for field in ("document", "label", "system", "place")],
    )
    wide = alt.condition("datum.kind === 'relevant'", alt.value(3), alt.value(1))
    return alt.layer(
        base.mark_line(opacity=0.8).encode(strokeWidth=wide),
        base.mark_circle(size=280, opacity=1),
        base.mark_text(fontWeight="bold", fontSize=11)
        .transform_filter(f"datum.rank <= {depth}")  # below it they would stand on each other
        .encode(text="label:N", color=alt.value("white")),
    )


def _ticks(alt: Any, rows: Sequence[Row]) -> Any:
    """Whole numbers at the ticks where all x are whole."""
    whole = all(float(row["x"]).is_integer() for row in rows)
    return alt.Axis(format="d", tickMinStep=1) if whole else alt.Axis()


def _by_name(alt: Any, kind: Any, names: Sequence[str], *, field: str = "series", legend: bool = True) -> Any:
    """A channel that gives each name a colour, dash or shape of its own, always the same."""
    values: Sequence[Any] = {alt.Color: COLOURS, alt.StrokeDash: DASHES, alt.Shape: SHAPES}[kind]
    chosen = [values[number % len(values)] for number in range(len(names))]
    shown = alt.Legend(orient="top", columns=3) if legend else None
    return kind(f"{field}:N", title=None, scale=alt.Scale(domain=list(names), range=chosen), legend=shown)
