"""The figures: tables that name their x, y and series, drawn as lines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rankwright.report.charts import lines
from rankwright.reproductions.experiments import Table
from rankwright.reproductions.runner import Run

WIDTH, HEIGHT = 520, 300
DECADES = 1000.0
"""Numbers above 0 that reach so many times their least are drawn on a logarithmic axis."""


def figures_of(run: Run) -> list[Table]:
    """The tables of an experiment that are to be drawn."""
    if run.failure:
        return []
    return [table for table in run.experiment.tables(run.results) if table.chart is not None]


def draw_all(runs: Sequence[Run], folder: Path) -> dict[tuple[str, str], Path]:
    """Draw them as SVG, one file each; the files by experiment and title."""
    drawn: dict[tuple[str, str], Path] = {}
    for run in runs:
        for number, table in enumerate(figures_of(run), 1):
            path = folder / f"{run.experiment.name}-{number}.svg"
            path.parent.mkdir(parents=True, exist_ok=True)
            chart(table).save(str(path))
            drawn[run.experiment.name, table.title] = path
    return drawn


def chart(table: Table) -> Any:
    """Lines with points, by colour, dash and shape, as a report draws them."""
    import altair as alt

    assert table.chart is not None
    x, y, series = table.chart
    axes = {name: [float(row[name]) for row in table.rows] for name in (x, y)}
    scales = {name: alt.Scale(type=_scale(values), zero=False) for name, values in axes.items()}
    drawn = lines(table.rows, x, y, series, x_scale=scales[x], y_scale=scales[y])
    return drawn.properties(title=table.title, width=WIDTH, height=HEIGHT)


def _scale(values: Sequence[float]) -> Any:
    return "log" if min(values) > 0 and max(values) >= DECADES * min(values) else "linear"
