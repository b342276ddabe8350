"""trec_eval, by way of pytrec_eval. It compares scores as float32 and takes whole labels only."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytrec_eval
from tests.oracles.lists import Ranked


def mean(metric: str, queries: Sequence[Ranked], relevance_level: int = 1) -> float:
    """trec_eval's own mean of ``metric`` ("ndcg_cut_10", "map", …) over queries."""
    judged, run = {}, {}
    for number, query in enumerate(queries):
        judged[str(number)] = dict(zip(query.documents, map(int, query.labels), strict=True))
        run[str(number)] = dict(zip(query.documents, map(float, query.scores), strict=True))
    values = pytrec_eval.RelevanceEvaluator(judged, {metric}, relevance_level=relevance_level).evaluate(run)
    return pytrec_eval.compute_aggregated_measure(
        metric, np.array([value[metric] for value in values.values()])
    )
