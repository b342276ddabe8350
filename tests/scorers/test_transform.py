"""Transforms: values against plain definitions, queries kept together, missing values."""

from __future__ import annotations

from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankwright as rw
from rankwright.data.preparation import scale_within_queries
from rankwright.scorers.base import ROWS_AT_ONCE

matrices = hnp.arrays(
    np.float32, st.tuples(st.integers(1, 8), st.integers(1, 4)), elements=st.floats(-100, 100, width=16)
)


@given(matrices)
@settings(max_examples=60)
def test_standardised_features_have_mean_0_and_deviation_1(features: Any) -> None:
    values = rw.Standardising.of(features)(features, None)
    assert np.abs(values.mean(axis=0)).max() < 1e-9
    varied = features.max(axis=0) > features.min(axis=0)
    assert np.abs(values.std(axis=0)[varied] - 1).max(initial=0) < 1e-9
    assert np.abs(values[:, ~varied]).max(initial=0) < 1e-9


def test_a_missing_value_counts_as_the_mean() -> None:
    nan = np.nan
    features = np.float32([[1, nan], [3, nan], [nan, nan]])
    standardising = rw.Standardising.of(features)
    assert standardising.mean.tolist() == [2, 0]
    assert standardising.scale.tolist() == [1, 1]
    scorer = rw.LinearScorer([1.0, 1.0], transform=standardising)
    assert scorer.predict(features).tolist() == [-1, 1, 0]


@pytest.mark.parametrize(
    ("mean", "scale", "message"),
    [([0], [0], "scales are above 0"), ([0], [-1], "above 0"), ([0, 0], [1], "one of each a feature")],
)
def test_what_cannot_standardise_is_refused(mean: Any, scale: Any, message: str) -> None:
    with pytest.raises(rw.InputError, match=message):
        rw.Standardising(mean, scale)


def scaled_one_by_one(features: Any, qid: list[int]) -> Any:
    out = np.empty(features.shape)
    for row, query in enumerate(qid):
        same = [features[other] for other in range(len(qid)) if qid[other] == query]
        for column, value in enumerate(features[row].tolist()):
            values = [float(each[column]) for each in same]
            span = max(values) - min(values)
            out[row, column] = (value - min(values)) / span if span > 0 else 0.0
    return out


@given(matrices, st.data())
@settings(max_examples=60)
def test_scaling_is_to_0_and_1_within_each_query_wherever_its_rows_stand(features: Any, data: Any) -> None:
    qid = data.draw(st.lists(st.integers(0, 2), min_size=len(features), max_size=len(features)))
    expected = scaled_one_by_one(features, qid)
    for column in range(features.shape[1]):
        scorer = rw.LinearScorer.feature(column, features.shape[1], transform=rw.QueryScaling())
        assert np.array_equal(scorer.predict(features, qid=qid), expected[:, column])
        assert np.array_equal(scorer.predict(rw.QuerySet(features, qid=qid)), expected[:, column])


def test_queries_are_not_cut_at_the_end_of_a_block() -> None:
    rng = np.random.default_rng(1)
    sizes = np.array([ROWS_AT_ONCE - 3, 7, 2 * ROWS_AT_ONCE + 5, 1, 40])
    features = rng.standard_normal((int(sizes.sum()), 3)).astype(np.float32)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    scorer = rw.LinearScorer([1.0, -2.0, 3.0], transform=rw.QueryScaling())
    together = scorer.predict(features, qid=qid)
    alone = [scorer.predict(features[qid == query], qid=query) for query in range(len(sizes))]
    assert np.array_equal(together, np.concatenate(alone))


def test_a_transform_by_query_asks_for_the_queries() -> None:
    scorer = rw.LinearScorer([1.0], transform=rw.QueryScaling())
    with pytest.raises(rw.InputError, match=r"depends on the query; give the query of each row as qid="):
        scorer.predict([[1], [2]])


def test_a_missing_value_stays_missing_when_scaled() -> None:
    scorer = rw.LinearScorer([1.0], transform=rw.QueryScaling())
    with pytest.raises(rw.InputError, match="row 1: a feature that this scorer needs is missing"):
        scorer.predict([[1], [np.nan], [3]], qid=4)


def test_scaling_agrees_with_the_preparation_of_the_same_name() -> None:
    rng = np.random.default_rng(2)
    features = rng.integers(0, 5, (200, 3)).astype(np.float32)
    queries = rw.QuerySet(features, qid=rng.integers(0, 30, 200))
    prepared = scale_within_queries(queries)
    for column in range(3):
        scorer = rw.LinearScorer.feature(column, 3, transform=rw.QueryScaling())
        there = prepared.in_given_order(prepared.features)[:, column]
        assert np.array_equal(scorer.predict(queries).astype(np.float32), there)
