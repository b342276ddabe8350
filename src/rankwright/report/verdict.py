"""The verdict: which system is best by a measure, and which leads could be chance."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rankwright.evaluation import Comparison, Contrast
from rankwright.evaluation.tables import chance, number
from rankwright.measures import Measure

TEST = "randomisation"
LEVEL = 0.05


def verdict(comparison: Comparison, measure: Measure) -> str:
    """One or two sentences on a measure.

    >>> import rankwright as rw
    >>> scores = {"up": [3, 2, 1] * 8, "down": [1, 2, 3] * 8}
    >>> labels, queries = [1, 0, 0] * 8, [row // 3 for row in range(24)]
    >>> verdict(rw.compare(scores, labels, "mrr", qid=queries), rw.measure("mrr"))
    'up is best by mrr, 1.0000: better than down by 0.6667 (p = 0.0078).'
    """
    means = {name: each[measure].mean for name, each in comparison.evaluations.items()}
    counted = {name: mean for name, mean in means.items() if not math.isnan(mean)}
    if not counted:
        return f"No query counts for {measure}: none of them has anything to find."
    leader = max(counted, key=lambda name: counted[name])
    leads = [_lead(contrast, leader) for contrast in comparison if contrast.measure == measure]
    better = [f"{other} by {told}" for sure, other, told in filter(None, leads) if sure]
    maybe = [f"{other}, {told}," for sure, other, told in filter(None, leads) if not sure]
    head = f"{leader} is best by {measure}, {number(means[leader])}"
    if not better:
        head = f"{leader} is highest by {measure}, {number(means[leader])}"
        return f"{head}, but its lead over {_listed(maybe)} could be chance."
    sentence = f"{head}: better than {_listed(better)}."
    return sentence + (f" Its lead over {_listed(maybe)} could be chance." if maybe else "")


def _lead(contrast: Contrast, leader: str) -> tuple[bool, str, str] | None:
    """Whether the leader's lead in a contrast is more than chance, over whom, and how much it is."""
    if leader not in (contrast.a, contrast.b):
        return None
    sign, other = (1, contrast.b) if contrast.a == leader else (-1, contrast.a)
    p = contrast.corrected[TEST]
    equal = "" if chance(p).startswith("<") else "= "
    return (
        p < LEVEL and sign * contrast.difference > 0,
        other,
        f"{number(sign * contrast.difference)} (p {equal}{chance(p)})",
    )


def _listed(parts: Sequence[str]) -> str:
    """Words as in a sentence.

    >>> _listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
