"""The ranker that training begins from: its scores, which what is learned is added to (2010 section 7)."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwright.data import QuerySet
from rankwright.runtime.arrays import Floats
from rankwright.runtime.errors import InputError
from rankwright.scorers import Scorer


def base_scorer(base: Any, queries: QuerySet) -> Scorer:
    """The scorer of ``base=`` as it was given, refused where it does not fit the data."""
    scorer = getattr(base, "scorer_", base)
    if not isinstance(scorer, Scorer):
        raise InputError(f"base is {base!r:.60}; give a fitted learner or a scorer")
    if scorer.n_features != queries.n_features:
        raise InputError(
            f"base has {scorer.n_features} features and the data {queries.n_features}; give both the same"
        )
    return scorer


def base_scores(base: Scorer | None, queries: QuerySet) -> Floats:
    """What the base makes of some queries, by stored row; 0 where there is none."""
    return np.zeros(len(queries)) if base is None else queries.in_stored_order(base.predict(queries))
