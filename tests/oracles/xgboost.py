"""XGBoost's metrics on given scores: a booster without trees, whose margins are given (as float32).

What it reports is text, but with 17 decimals, so nothing is lost.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xgboost
from tests.oracles.lists import Ranked, joined, sizes


def mean(metric: str, queries: Sequence[Ranked], weights: Sequence[float] | None = None) -> float:
    """XGBoost's own mean of ``metric`` ("ndcg@10-", "map", "ndcg;ndcg_exp_gain=false") over queries.

    Weights are by query.
    """
    metric, *settings = metric.split(";")
    scores, labels, _ = joined(queries)
    data = xgboost.DMatrix(
        np.zeros((len(scores), 1)), label=labels, base_margin=scores, group=sizes(queries), weight=weights
    )
    parameters = {"objective": "rank:pairwise", "eval_metric": metric, "nthread": 1}
    text = xgboost.Booster(parameters | dict(each.split("=") for each in settings), [data]).eval(data)
    return float(text.rpartition(":")[2])
