"""Evaluations and comparisons as plain text of at most 80 columns."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankwright.evaluation.compare import Comparison, Contrast
    from rankwright.evaluation.result import Evaluation, MeasureResult

NAME = 18


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
    widths = [NAME, 7, 17, 8, 6, 6, 6]
    lines = columns([["measure", "mean", "95 % interval", "counted", "blank", "short", "tied"]], widths)
    for result in evaluation.values():
        low, high = result.interval
        interval = "–" if math.isnan(low) else f"{low:.4f} – {high:.4f}"
        counts = [f"{n:,}" for n in (result.counted, result.blank, result.short, result.tied)]
        lines += columns([[str(result.measure), number(result.mean), interval, *counts]], widths)
        lines += _remarks(result)
    return "\n".join(lines)


def number(value: float) -> str:
    """Four decimals, and a dash for what is not there."""
    return "–" if math.isnan(value) else f"{value:.4f}"


def _remarks(result: MeasureResult) -> list[str]:
    if not result.counted:
        return ["  no query counts: none of them has anything to find"]
    worst, best = result.range
    if number(worst) == number(best):
        return []
    return [f"  over the orders of tied documents: {worst:.4f} (worst) to {best:.4f} (best)"]


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
    tests = list(contrast.p)
    rows = [["", *tests], ["    p", *map(_chance, contrast.p.values())]]
    if several:
        rows.append(["    p after Holm", *map(_chance, contrast.corrected.values())])
    return [
        f"  {contrast.a} − {contrast.b}",
        f"    difference {contrast.difference:+.4f}   95 % interval {low:+.4f} to {high:+.4f}   "
        f"effect {contrast.effect_size:+.2f}",
        f"    {contrast.queries:,} queries: {contrast.wins:,} won, {contrast.ties:,} tied, "
        f"{contrast.losses:,} lost",
        *columns(rows, [16, *(13 for _ in tests)]),
    ]


def _chance(p: float) -> str:
    if math.isnan(p):
        return "–"
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def _footing(comparison: Comparison) -> str:
    n = len(comparison)
    if n == 1:
        return "Two-sided p-values of paired tests over queries."
    return f"Two-sided p-values of paired tests over queries; Holm's correction is for {n} contrasts."
