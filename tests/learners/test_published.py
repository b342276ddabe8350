"""MQ2008's published baselines: the mean over folds within their spread, computed as LETOR computes it.

The quick ones; ``python -m benchmarks.all_learners`` has all of them.
"""

import functools

import numpy as np
import pytest
from tests.shared import shared_data

import rankwright as rw
from rankwright.reproductions.experiments import FOLDS, Setting, together


@functools.cache
def folds():
    parts = Setting(data=shared_data("mq2008").parent).parts("mq2008")
    turned = [[parts[(k + at) % FOLDS] for at in range(FOLDS)] for k in range(FOLDS)]
    return [(together(five[:3]), *five[3:]) for five in turned]


@pytest.mark.parametrize(
    ("ranker", "published"),
    [
        (rw.RankBoost(measure="map", n_estimators=150), {"map": 0.4752, "ndcg@1": 0.3644, "ndcg@5": 0.4693}),
        (rw.AdaRank(measure="map"), {"map": 0.4766, "ndcg@1": 0.3745, "ndcg@5": 0.4718}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_mean_over_folds_is_the_published_one_within_their_spread(ranker, published):
    found = {measure: [] for measure in published}
    for train, valid, test in folds():
        result = rw.evaluate(ranker.fit(train, valid=valid), test, [f"{name}:letor" for name in published])
        for name in published:
            found[name].append(result[f"{name}:letor"].mean)
    for name, value in published.items():
        assert np.mean(found[name]) == pytest.approx(value, abs=np.std(found[name], ddof=1)), name
