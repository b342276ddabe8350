"""LightGBM's metrics on given scores: a booster without trees, whose predictions are its initial scores."""

from __future__ import annotations

from collections.abc import Sequence

import lightgbm
import numpy as np
from tests.oracles.lists import Ranked, joined, sizes


def mean(metric: str, queries: Sequence[Ranked], weights: Sequence[float] | None = None) -> float:
    """LightGBM's own mean of ``metric`` ("ndcg@10", "map@5") over queries; it always has a k."""
    name, _, k = metric.partition("@")
    scores, labels, numbers = joined(queries)
    data = lightgbm.Dataset(
        np.zeros((len(scores), 1)),
        label=labels,
        group=sizes(queries),
        init_score=scores,
        weight=None if weights is None else np.asarray(weights)[numbers],
        params={"verbose": -1},
    )
    # The objective is any that does not look at the labels; the metrics are those of ranking.
    settings = {
        "objective": "regression",
        "metric": name,
        "eval_at": [int(k)],
        "verbose": -1,
        "num_threads": 1,
    }
    [result] = lightgbm.Booster({**settings, "boost_from_average": False}, data).eval_train()
    return float(result[2])
