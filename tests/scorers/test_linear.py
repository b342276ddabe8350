"""The linear scorer: exact order of additions, any batch, any order of rows, missing values named."""

from __future__ import annotations

import concurrent.futures
import math
from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankwright as rw
from rankwright.scorers.base import ROWS_AT_ONCE

finite = st.floats(-1e6, 1e6, width=32)


def one_by_one(weights: Any, bias: float, features: Any) -> list[float]:
    """Scores from plain Python floats, added from left to right."""
    scores = []
    for row in features.tolist():
        score = bias
        for weight, value in zip(weights, row, strict=True):
            if weight != 0:
                score += weight * value
        scores.append(score)
    return scores


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[float], float, Any]:
    width = draw(st.integers(0, 9))
    weights = draw(st.lists(st.floats(-1e6, 1e6), min_size=width, max_size=width))
    features = draw(hnp.arrays(np.float32, (draw(st.integers(0, 6)), width), elements=finite))
    return weights, draw(st.floats(-10, 10)), features


@given(problems())
@settings(max_examples=100)
def test_scores_are_the_bits_of_additions_from_left_to_right(problem: Any) -> None:
    weights, bias, features = problem
    assert rw.LinearScorer(weights, bias).predict(features).tolist() == one_by_one(weights, bias, features)


def test_a_score_does_not_depend_on_the_rows_around_it() -> None:
    rng = np.random.default_rng(0)
    features = rng.standard_normal((2 * ROWS_AT_ONCE + 77, 136)).astype(np.float32)
    scorer = rw.LinearScorer(rng.standard_normal(136), 0.5)
    scores = scorer.predict(features)
    for begin, end in [(0, 1), (5, 12), (1, ROWS_AT_ONCE + 2), (700, len(features))]:
        assert np.array_equal(scorer.predict(features[begin:end]), scores[begin:end])
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert all(np.array_equal(scores, each) for each in pool.map(scorer.predict, [features] * 4))


def test_scores_come_back_in_the_order_in_which_the_rows_were_given() -> None:
    features = np.arange(6, dtype=np.float32)[:, None]
    queries = rw.QuerySet(features, qid=["a", "b", "a", "c", "b", "a"])
    assert rw.LinearScorer([2.0]).predict(queries).tolist() == [0, 2, 4, 6, 8, 10]


def test_a_feature_as_the_score() -> None:
    features = np.float32([[1, 2, 3], [4, np.nan, 6]])
    assert rw.LinearScorer.feature(2, 3).predict(features).tolist() == [3, 6]
    for index in (-1, 3):
        with pytest.raises(rw.InputError, match="counted from 0"):
            rw.LinearScorer.feature(index, 3)


def test_a_missing_value_is_refused_by_the_row_that_the_caller_knows() -> None:
    scorer = rw.LinearScorer([1.0, 1.0])
    features = np.float32([[1, 2], [3, 4], [5, np.nan]])
    with pytest.raises(rw.InputError, match=r"row 2: .*NaN in column 1"):
        scorer.predict(rw.QuerySet(features, qid=["a", "b", "a"]))


def test_scores_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(rw.InputError, match="row 0: the score is not a number"):
        rw.LinearScorer([1e308, 1e308, -1e308, -1e308]).predict([[1e3, 1e3, 1e3, 1e3]])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weights": [1.0, math.nan]}, "number 1 is nan"),
        ({"weights": ["a"]}, "not numbers"),
        ({"weights": [[1.0]]}, "shape"),
        ({"weights": [1.0], "bias": math.inf}, "bias"),
        ({"weights": [1.0], "feature_names": ["a", "b"]}, "2 feature names for 1 features"),
        ({"weights": [1.0], "transform": rw.Standardising([0, 0], [1, 1])}, "2 features"),
    ],
)
def test_what_cannot_be_a_scorer_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(rw.InputError, match=message):
        rw.LinearScorer(**settings)


def test_other_features_are_refused_by_number_and_by_name() -> None:
    scorer = rw.LinearScorer([1.0, 2.0], feature_names=["bm25", "age"])
    with pytest.raises(rw.InputError, match="3 features and the scorer was made for 2"):
        scorer.predict([[1, 2, 3]])
    same = rw.QuerySet([[1, 2]], qid=1, feature_names=["bm25", "age"])
    assert scorer.predict(same).tolist() == [5]
    with pytest.raises(rw.InputError, match="feature 0 is 'age' in the data and 'bm25' in the scorer"):
        scorer.predict(rw.QuerySet([[1, 2]], qid=1, feature_names=["age", "bm25"]))


def test_the_columns_of_data_frames_are_compared_too() -> None:
    pandas = pytest.importorskip("pandas")
    scorer = rw.LinearScorer([1.0, 2.0], feature_names=["bm25", "age"])
    assert scorer.predict(pandas.DataFrame({"bm25": [1.0], "age": [2.0]})).tolist() == [5]
    with pytest.raises(rw.InputError, match="feature 1 is 'pagerank'"):
        scorer.predict(pandas.DataFrame({"bm25": [1.0], "pagerank": [2.0]}))


def test_weights_are_a_copy_that_nobody_can_change() -> None:
    given_weights = np.ones(2)
    scorer = rw.LinearScorer(given_weights)
    given_weights[0] = 7
    assert scorer.predict([[1, 1]]).tolist() == [2]
    with pytest.raises(ValueError, match="read-only"):
        scorer.weights[0] = 7


def test_it_says_what_it_is() -> None:
    assert repr(rw.LinearScorer([1.0])) == "LinearScorer(1 feature)"
    with_transform = rw.LinearScorer([1.0, 2.0], transform=rw.QueryScaling())
    assert repr(with_transform) == "LinearScorer(2 features, query-scaling)"
