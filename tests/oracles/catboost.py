"""CatBoost's metrics on given scores. Labels are float32 inside."""

from __future__ import annotations

from collections.abc import Sequence

from catboost.utils import eval_metric
from tests.oracles.lists import Ranked, joined


def mean(metric: str, queries: Sequence[Ranked]) -> float:
    """CatBoost's own mean of ``metric`` ("NDCG:top=10", "MAP", …) over queries."""
    scores, labels, numbers = joined(queries)
    [value] = eval_metric(labels, scores, metric, group_id=numbers, thread_count=1)
    return float(value)
