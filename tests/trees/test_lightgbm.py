"""LightGBM's trees, where they can be expected to be the same.

Regression on data with few distinct values, so that both have a bin for each; no penalty, the same minimum of
rows. Thresholds then lie between the same values; leaf values agree to LightGBM's single-precision gradients.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rankwright.learners.mart import MART

lightgbm = pytest.importorskip(
    "lightgbm", reason="LightGBM is the oracle here; it comes with the bench extra"
)

SETTINGS = {
    "objective": "regression",
    "boost_from_average": True,
    "min_sum_hessian_in_leaf": 0.0,
    "lambda_l2": 0.0,
    "max_bin": 255,
    "min_data_in_bin": 1,
    "feature_pre_filter": False,
    "enable_bundle": False,
    "verbose": -1,
    "num_threads": 1,
    "deterministic": True,
}


def data(seed: int, missing: bool = False) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    X = random.integers(0, 8, (250, 3)).astype(float) / 4
    y = X[:, 0] ** 2 - X[:, 1] * X[:, 2] + random.normal(size=250)
    if missing:
        X[random.random(X.shape) < 0.15] = np.nan
    return X, y


def theirs(X: Any, y: Any, trees: int, leaves: int, rate: float, least: int) -> Any:
    settings = SETTINGS | {"num_leaves": leaves, "learning_rate": rate, "min_data_in_leaf": least}
    return lightgbm.train(settings, lightgbm.Dataset(X, y), trees)


def ours(X: Any, y: Any, trees: int, leaves: int, rate: float, least: int) -> Any:
    ranker = MART(
        n_estimators=trees, max_leaf_nodes=leaves, learning_rate=rate, min_samples_leaf=least, n_jobs=1
    )
    return ranker.fit(X, y, qid=1)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_stumps(seed: int, missing: bool) -> None:
    X, y = data(seed, missing)
    root = theirs(X, y, 1, 2, 1.0, 20).dump_model()["tree_info"][0]["tree_structure"]
    ranker = ours(X, y, 1, 2, 1.0, 20)
    trees = ranker.scorer_.trees
    assert trees.feature.tolist() == [root["split_feature"]]
    values = np.unique(X[~np.isnan(X)])
    assert (values <= trees.threshold[0]).tolist() == (values <= root["threshold"]).tolist()
    if missing:
        assert trees.missing_left.tolist() == [root["default_left"]]
    found = ranker.scorer_.start[0] + trees.values[:, 0]
    expected = [root[side]["leaf_value"] for side in ("left_child", "right_child")]
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(
    ("trees", "leaves", "rate", "least"), [(1, 8, 1.0, 20), (3, 6, 0.5, 15), (5, 4, 0.3, 30)]
)
def test_whole_models_predict_alike(missing: bool, trees: int, leaves: int, rate: float, least: int) -> None:
    for seed in range(4):
        X, y = data(seed, missing)
        expected = theirs(X, y, trees, leaves, rate, least).predict(X)
        np.testing.assert_allclose(
            ours(X, y, trees, leaves, rate, least).predict(X), expected, rtol=2e-5, atol=2e-5
        )
