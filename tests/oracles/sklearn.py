"""scikit-learn's ranking measures. They want at least two documents a query (AUC: two classes)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.metrics import average_precision_score, dcg_score, ndcg_score, roc_auc_score
from tests.oracles.lists import Ranked

FUNCTIONS = {"ndcg": ndcg_score, "dcg": dcg_score}


def mean(metric: str, queries: Sequence[Ranked]) -> float:
    """The mean of ``metric`` ("ndcg@3", "dcg", "roc_auc", "average_precision") over queries."""
    return float(np.mean([_value(metric, query) for query in queries]))


def _value(metric: str, query: Ranked) -> float:
    labels, scores = np.asarray(query.labels), np.asarray(query.scores)
    if metric == "roc_auc":
        return roc_auc_score(labels >= 1, scores)
    if metric == "average_precision":
        return average_precision_score(labels >= 1, scores)
    name, _, k = metric.partition("@")
    return FUNCTIONS[name]([labels], [scores], k=int(k) if k else None)
