"""The tools' conventions by name: what "ndcg@10" means to each of them.

``ndcg@10:lightgbm`` is NDCG as LightGBM computes it; ``ndcg@10(blank=0):lightgbm`` differs in one point. Each
entry was seen by running the tool or read in its source: docs/conventions.md says which, and what a tool does
that no parameter expresses. A ``k`` here is the cut-off of a tool that cuts where none is asked for.
"""

from __future__ import annotations

import math
from typing import Any

from rankwright.runtime.errors import InputError

Parameters = dict[str, Any]

ABOVE_ZERO = math.nextafter(0.0, 1.0)
ABOVE_HALF = math.nextafter(0.5, 1.0)

THREE_LEVELS = (0.0, 1.0, 3.0)
FIVE_LEVELS = (0.0, 1.0, 3.0, 7.0, 15.0)

# A tool may have a measure of the whole list but not its cut form, or the other way round.
WHOLE = {"ap": "map", "rr": "mrr"}
CUT = {"map": "ap", "mrr": "rr"}


def _tool(shared: Parameters, **measures: Parameters) -> dict[str, Parameters]:
    """A tool's measures: what they share, and what each adds or does otherwise."""
    return {name: shared | own for name, own in measures.items()}


CONVENTIONS: dict[str, dict[str, Parameters]] = {
    "trec_eval": _tool(
        {"blank": 0, "ties": "docid", "short": "as-is"},
        ndcg={"gain": "linear", "discount": "log2"},
        map={"threshold": 1, "denominator": "R"},
        ap={"threshold": 1, "denominator": "R"},
        mrr={"threshold": 1},
        p={"threshold": 1, "denominator": "k"},
        recall={"threshold": 1},
        bpref={"threshold": 1},
    ),
    "gdeval": _tool(
        {"blank": "skip", "ties": "docid", "short": "as-is", "k": 20},
        ndcg={"gain": FIVE_LEVELS, "discount": "log2"},
        err={"max_label": 4, "stop": "exp"},
    ),
    "letor": _tool(
        {"blank": 0, "ties": "input"},
        ndcg={"gain": THREE_LEVELS, "discount": "letor", "short": "zero"},
        map={"threshold": 1, "denominator": "R", "short": "as-is"},
        p={"threshold": 1, "denominator": "k", "short": "as-is"},
    ),
    "mslr": _tool(
        {"blank": 0, "ties": "input"},
        ndcg={"gain": FIVE_LEVELS, "discount": "letor", "short": "zero"},
        map={"threshold": 2, "denominator": "R", "short": "as-is"},
        p={"threshold": 2, "denominator": "k", "short": "as-is"},
    ),
    "lightgbm": _tool(
        {"blank": 1, "ties": "input", "short": "as-is"},
        ndcg={"gain": "exp", "discount": "log2"},
        map={"threshold": ABOVE_HALF, "denominator": "min(R,k)"},
        ap={"threshold": ABOVE_HALF, "denominator": "min(R,k)"},
    ),
    "xgboost": _tool(
        {"blank": 1, "ties": "input", "short": "as-is", "k": 32},
        ndcg={"gain": "exp", "discount": "log2"},
        map={"threshold": 1, "denominator": "min(R,k)"},
        ap={"threshold": 1, "denominator": "min(R,k)"},
        p={"threshold": 1, "denominator": "n", "blank": 0},
    ),
    "catboost": _tool(
        {"blank": 0, "ties": "worst", "short": "as-is"},
        ndcg={"gain": "linear", "discount": "log2", "blank": 1},
        dcg={"gain": "linear", "discount": "log2"},
        map={"threshold": ABOVE_HALF, "denominator": "min(R,k)"},
        ap={"threshold": ABOVE_HALF, "denominator": "min(R,k)"},
        mrr={"threshold": ABOVE_HALF},
        rr={"threshold": ABOVE_HALF},
        err={"max_label": 1, "stop": "label"},
        p={"threshold": ABOVE_HALF, "denominator": "n"},
        recall={"threshold": ABOVE_HALF, "blank": 1},
        auc={"threshold": ABOVE_HALF, "ties": "average"},
        pairs={"ties": "average"},
    ),
    "ranklib": _tool(
        {"blank": 0, "ties": "input", "short": "as-is"},
        ndcg={"gain": "exp", "discount": "log2", "k": 10},
        dcg={"gain": "exp", "discount": "log2", "k": 10},
        map={"threshold": ABOVE_ZERO, "denominator": "R"},
        rr={"threshold": ABOVE_ZERO},
        err={"max_label": 4, "stop": "exp", "k": 10},
        p={"threshold": ABOVE_ZERO, "denominator": "n", "k": 10},
    ),
    "sklearn": _tool(
        {"blank": 0, "ties": "average", "short": "as-is"},
        ndcg={"gain": "linear", "discount": "log2"},
        dcg={"gain": "linear", "discount": "log2"},
        auc={"threshold": 1, "blank": "skip"},
    ),
}


def settings(name: str, k: int | None, convention: str) -> Parameters:
    """The parameters that a tool's convention gives to the measure of this name, cut at k or whole.

    >>> settings("ndcg", None, "trec_eval")
    {'blank': 0, 'ties': 'docid', 'short': 'as-is', 'gain': 'linear', 'discount': 'log2'}
    >>> settings("dcg", None, "ranklib")["k"]
    10
    """
    if convention not in CONVENTIONS:
        raise InputError(f"there is no convention {convention!r}; there are {', '.join(sorted(CONVENTIONS))}")
    table = CONVENTIONS[convention]
    name = (WHOLE if k is None else CUT).get(name, name)
    if name not in table:
        there = ", ".join(_shown(known) for known in sorted(table))
        raise InputError(f"{convention} has no {_shown(name)}; it has {there}")
    return table[name] if k is None else table[name] | {"k": k}


def _shown(name: str) -> str:
    return f"{name}@k" if name in WHOLE else name
