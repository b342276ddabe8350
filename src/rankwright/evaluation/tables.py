"""Evaluations and comparisons as plain text of at most 80 columns."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from rankwright.data.description import counted

if TYPE_CHECKING:
    from rankwright.evaluation.compare import Comparison, Contrast
    from rankwright.evaluation.result import Evaluation, MeasureResult

WIDTH = 80


def columns(rows: list[list[str]], widths: list[int]) -> list[str]:
    """Rows as lines: the first column to the left, the others to the right; a long first cell has its line.

    >>> columns([["ndcg", "0.5"], ["a long name", "1"]], [6, 4])
    ['ndcg     0.5', 'a long name', '           1']
    """
    lines = []
    for first, *others in rows:
        if len(first) > widths[0]:
            lines.append(first)
            first = ""
        cells = [f"{cell:>{width}}" for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([f"{first:<{widths[0]}}", *cells]).rstrip())
    return lines


def evaluation_table(evaluation: Evaluation) -> str:
    """One line a measure, and one more where ties leave its mean open."""
    heads = ["measure", "mean", "95 % interval", "counted", "blank", "short", "tied"]
    rows = [[str(result.measure), *_figures(result)] for result in evaluation.values()]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    widths[0] = min(widths[0], WIDTH - sum(widths[1:]) - 2 * len(widths[1:]))
    lines = columns([heads], widths)
    for row, result in zip(rows, evaluation.values(), strict=True):
        lines += [*columns([row], widths), *_remarks(result)]
    return "\n".join(lines)


def _figures(result: MeasureResult) -> list[str]:
    low, high = result.interval
    interval = "–" if math.isnan(low) else f"{number(low)} – {number(high)}"
    counts = [f"{n:,}" for n in (result.counted, result.blank, result.short, result.tied)]
    return [number(result.mean), interval, *counts]


def number(value: float) -> str:
    """Four decimals, or four digits where that is long, and a dash for what is not there."""
    if math.isnan(value):
        return "–"
    return f"{value:.4f}" if abs(value) < 1000 else f"{value:.4g}"


def _remarks(result: MeasureResult) -> list[str]:
    if not result.counted:
        with_weight = " and a weight above 0" * (result.query_weight is not None)
        return [f"  no query counts: none of them has anything to find{with_weight}"]
    worst, best = result.range
    if number(worst) == number(best):
        return []
    return [f"  over the orders of tied documents: {number(worst)} (worst) to {number(best)} (best)"]


def comparison_table(comparison: Comparison) -> str:
    """By measure: each system's mean, then a block a contrast with its p-values."""
    blocks = []
    for measure, contrasts in itertools.groupby(comparison, key=lambda contrast: contrast.measure):
        lines = [str(measure)]
        for name, evaluation in comparison.evaluations.items():
            lines.append(f"  {number(evaluation[measure].mean):>8}  {name}")
        for contrast in contrasts:
            lines += ["", *_contrast_lines(contrast, len(comparison) > 1)]
        blocks.append("\n".join(lines))
    return "\n\n".join([*blocks, _footing(comparison)])


def _contrast_lines(contrast: Contrast, several: bool) -> list[str]:
    low, high = contrast.interval
    interval = "–" if math.isnan(low) else f"{number(low)} to {number(high)}"
    effect = "–" if math.isnan(contrast.effect_size) else f"{contrast.effect_size:+.2f}"
    queries = counted(contrast.queries, "query", "queries")
    tests = list(contrast.p)
    rows = [["", *tests], ["    p", *map(chance, contrast.p.values())]]
    if several:
        rows.append(["    p after Holm", *map(chance, contrast.corrected.values())])
    return [
        f"  {contrast.a} − {contrast.b}",
        f"    difference {number(contrast.difference)}   95 % interval {interval}   effect {effect}",
        f"    {queries}: {contrast.wins:,} won, {contrast.ties:,} tied, {contrast.losses:,} lost",
        *columns(rows, [16, *(13 for _ in tests)]),
    ]


def chance(p: float) -> str:
    """A p-value with four decimals; the smallest as a bound."""
    if math.isnan(p):
        return "–"
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def _footing(comparison: Comparison) -> str:
    n = len(comparison)
    if n == 1:
        return "Paired tests over queries, two-sided."
    return f"Paired tests over queries, two-sided; corrected after Holm for {n} contrasts."
