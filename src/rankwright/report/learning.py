"""Learning curves: what the histories of rankers tell of their steps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

BY_MEASURE = ("train", "valid")
"""What a record has of the measure that a ranker was trained for, or selected by."""
OTHERS = (("loss",), ("primal", "dual"), ("cost",), ("error",))
"""What a record has of the learner's own aim; the first that is there is shown."""


def learning_curves(systems: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Rows (``ranker``, ``curve``, ``step``, ``value``) of each panel, by the panel's title.

    >>> import rankwright as rw
    >>> net = rw.RankNet(hidden=0, epochs=2).fit([[0.0], [1.0]], [0, 1], qid=[1, 1])
    >>> [(title, len(rows)) for title, rows in learning_curves({"net": net}).items()]
    [('cost of net', 2)]
    """
    panels: dict[str, list[dict[str, Any]]] = {}
    for name, system in systems.items():
        history = getattr(system, "history_", None) or []
        keys = [key for key in BY_MEASURE if _has(history, key)]
        title = str(getattr(system, "selection_measure", "measure"))
        if not keys:
            keys = list(next((some for some in OTHERS if _has(history, some[0])), ()))
            title = f"{' and '.join(keys)} of {name}"
        for key in keys:
            rows = [
                {"ranker": name, "curve": f"{name}, {key}", "step": step, "value": float(record[key])}
                for step, record in enumerate(history, 1)
                if _is_number(record.get(key))
            ]
            panels.setdefault(title, []).extend(rows)
    return panels


def _has(history: list[dict[str, Any]], key: str) -> bool:
    return any(_is_number(record.get(key)) for record in history)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
