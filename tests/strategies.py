"""What Hypothesis draws: measures with all their parameters, and labels in ranked order."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from rankwright.measures import (
    AUC,
    ERR,
    NDCG,
    RBP,
    WTA,
    AveragePrecision,
    Bpref,
    Measure,
    Pairs,
    Precision,
    Recall,
    ReciprocalRank,
)

numbers = st.one_of(
    st.integers(0, 40),
    st.floats(0, 1e300, allow_subnormal=True),
    st.sampled_from([0.1, 1 / 3, 1e-300, 2.0**60]),
)
positive = numbers.filter(lambda value: value > 0)
gain_tables = st.lists(numbers, min_size=1, max_size=5).map(lambda table: tuple(map(float, table)))

SHARED = {
    "blank": st.sampled_from(["skip", 0, 1]),
    "ties": st.sampled_from(["input", "docid", "average", "worst"]),
    "short": st.sampled_from(["as-is", "zero"]),
}
CUTOFF = {"k": st.none() | st.integers(1, 100)}
THRESHOLD = {"threshold": positive}
DISCOUNTED = {
    "gain": st.sampled_from(["exp", "linear"]) | gain_tables,
    "discount": st.sampled_from(["log2", "letor", "zipf"]) | gain_tables,
    "normalised": st.booleans(),
}
PARAMETERS: dict[type[Measure], dict[str, st.SearchStrategy[Any]]] = {
    NDCG: CUTOFF | DISCOUNTED,
    AveragePrecision: CUTOFF | THRESHOLD | {"denominator": st.sampled_from(["R", "min(R,k)"])},
    ReciprocalRank: CUTOFF | THRESHOLD,
    ERR: CUTOFF
    | {"max_label": st.integers(1, 1000) | st.floats(0.5, 1000), "stop": st.sampled_from(["exp", "label"])},
    Precision: CUTOFF | THRESHOLD | {"denominator": st.sampled_from(["k", "n"])},
    Recall: CUTOFF | THRESHOLD,
    WTA: THRESHOLD,
    Pairs: {},
    AUC: THRESHOLD,
    Bpref: THRESHOLD,
    RBP: CUTOFF | THRESHOLD | {"p": st.floats(0.001, 0.999)},
}


def measures(**narrowed: st.SearchStrategy[Any]) -> st.SearchStrategy[Measure]:
    """Any measure; ``narrowed`` parameters are drawn from what is given."""

    def of(kind: type[Measure]) -> st.SearchStrategy[Measure]:
        drawn = SHARED | PARAMETERS[kind]
        return st.builds(kind, **(drawn | {name: narrowed[name] for name in narrowed if name in drawn}))

    return st.sampled_from(list(PARAMETERS)).flatmap(of)


def labels(*values: float, least: int = 1, most: int = 40) -> st.SearchStrategy[np.ndarray]:
    """Labels in ranked order."""
    drawn = st.lists(st.sampled_from(values), min_size=least, max_size=most)
    return drawn.map(lambda given: np.array(given, np.float64))
