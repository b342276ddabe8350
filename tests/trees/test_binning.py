"""Binning against counting: bounds, bins of values, what is missing, categories."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import trees as naive

from rankwright.runtime.errors import InputError
from rankwright.trees import binning
from rankwright.trees.binning import Bins, assign_bins, equal_weight_bounds, frequent_values, missing_features

LARGEST = float(np.finfo(np.float32).max)
few = st.sampled_from([-1.0, -0.0, 0.0, 0.5, 1.0, 2.0, 3.0, 1e-45, -LARGEST, LARGEST])
singles = st.floats(allow_nan=False, allow_infinity=False, width=32)
columns = st.one_of(
    st.lists(few, max_size=60),
    st.lists(singles, max_size=60),
    st.lists(st.integers(0, 30).map(float), max_size=60),
)


def matrix(*columns: Any) -> Any:
    return np.ascontiguousarray(np.array(columns, np.float32).T)


@given(columns, st.integers(2, 255) | st.integers(2, 8))
def test_bounds_are_of_equal_weight(values: list[float], max_bins: int) -> None:
    found = equal_weight_bounds(np.sort(np.float32(values)), max_bins)
    assert found.tolist() == naive.equal_weight_bounds(np.float32(values), max_bins)
    assert found.dtype == np.float32 and len(found) < max_bins
    assert (found[1:] > found[:-1]).all()


@given(columns)
def test_every_distinct_value_has_its_bin_where_there_are_enough(values: list[float]) -> None:
    bounds = equal_weight_bounds(np.sort(np.float32(values)), 255).tolist()
    distinct = sorted(set(np.float32(values).tolist()))
    assert [naive.bin_of(value, bounds) for value in distinct] == list(range(1, len(distinct) + 1))


def test_bins_of_many_values_are_of_about_equal_weight() -> None:
    values = np.sort(np.random.default_rng(0).normal(size=5000).astype(np.float32))
    bounds = equal_weight_bounds(values, 50)
    sizes = np.bincount(np.searchsorted(bounds, values))
    assert len(bounds) == 49 and sizes.min() >= 95 and sizes.max() <= 105


def test_a_heavy_value_shares_its_bin_with_less_than_half_a_bin() -> None:
    values = np.sort(np.r_[np.zeros(500), np.random.default_rng(0).normal(size=500)]).astype(np.float32)
    bounds = equal_weight_bounds(values, 11)
    beside = values[np.searchsorted(bounds, values) == np.searchsorted(bounds, 0)]
    assert np.sum(beside == 0) == 500 and np.sum(beside != 0) < 500 / 10 / 2


@given(columns, st.integers(2, 255) | st.integers(2, 4))
def test_categories_are_the_most_frequent_values(values: list[float], max_bins: int) -> None:
    found = frequent_values(np.sort(np.float32(values)), max_bins)
    assert found.tolist() == naive.categories(np.float32(values), max_bins)


@settings(max_examples=40)
@given(st.data(), st.integers(2, 12) | st.just(255), st.sets(st.integers(0, 2)))
def test_values_have_the_bins_that_counting_gives(data: Any, max_bins: int, categorical: set[int]) -> None:
    rows = data.draw(st.lists(st.tuples(few | st.just(np.nan), singles, few), min_size=1, max_size=40))
    X, other = (
        np.float32(rows),
        np.float32(data.draw(st.lists(st.tuples(few, few, singles), max_size=5)) + rows),
    )
    bins = Bins.of(X, max_bins, sorted(categorical))
    assigned = bins.assign(other, n_jobs=1)
    for f in range(3):
        if f in categorical:
            known = naive.categories(X[:, f], max_bins)
            expected = [naive.category_of(float(value), known) for value in other[:, f]]
            assert bins.counts[f] == len(known) + 1
        else:
            bounds = naive.equal_weight_bounds(X[:, f], max_bins)
            expected = [naive.bin_of(float(value), bounds) for value in other[:, f]]
            assert bins.counts[f] == len(bounds) + 2
        assert assigned.columns[f].tolist() == expected
    assert len(assigned) == len(other)
    assert np.array_equal(assigned.rows[: other.size].reshape(other.shape), assigned.columns.T)
    assert not assigned.rows[other.size :].any()
    assert bins.has_missing.tolist() == np.isnan(X).any(axis=0).tolist()


@pytest.mark.parametrize("count", [254, 255, 256, 600])
def test_many_categories(count: int) -> None:
    """Beyond 255 the rarest are as good as missing."""
    values = np.repeat(np.arange(count), np.arange(1, count + 1) if count < 300 else 2)
    X = matrix(values)
    bins = Bins.of(X, 255, [0])
    known = naive.categories(values, 255)
    assert bins.counts[0] == min(count, 255) + 1
    probe = matrix([*np.unique(values), -1, 0.5, 1e9, np.nan])
    expected = [naive.category_of(float(value), known) for value in probe[:, 0]]
    assert bins.assign(probe).columns[0].tolist() == expected


@pytest.mark.parametrize("count", [254, 255, 256, 1000])
def test_many_values(count: int) -> None:
    X = matrix(np.arange(count)[::-1])
    column = Bins.of(X).assign(X).columns[0]
    assert column.min() == 1 and column.max() == min(count, 255)
    assert (np.diff(column.astype(int)) <= 0).all()


@pytest.mark.parametrize("column", [[np.nan] * 3, [2.0] * 3, [np.nan, 2.0, 2.0]])
def test_a_feature_without_two_values(column: list[float]) -> None:
    bins = Bins.of(matrix(column))
    assert bins.counts[0] == 2
    assert bins.assign(matrix(column)).columns[0].tolist() == [int(value == value) for value in column]


def test_bins_do_not_depend_on_threads() -> None:
    random = np.random.default_rng(0)
    n = 300 if binning.assign_bins.compiled is binning.assign_bins.plain else 20_000
    X = random.choice([*random.normal(size=500), np.nan], (n, 5)).astype(np.float32)
    first, *others = (Bins.of(X, 255, [3], n_jobs=jobs) for jobs in (1, 2, 3))
    rows = first.assign(X, n_jobs=1).rows
    for other, jobs in zip(others, (2, 3), strict=True):
        assert np.array_equal(other.bounds, first.bounds)
        assert np.array_equal(other.assign(X, n_jobs=jobs).rows, rows)


def test_both_forms_give_the_same_bins() -> None:
    random = np.random.default_rng(1)
    X = random.choice([*random.normal(size=40), np.nan], (130, 4)).astype(np.float32)
    bins = Bins.of(X, 20, [1])
    found = []
    for run in (assign_bins.compiled, assign_bins.plain):
        rows, columns = np.zeros(X.size + binning.ROW_PADDING, np.uint8), np.zeros((4, 130), np.uint8)
        run(X, bins.bounds, bins.counts, bins.categorical, 0, 130, rows, columns)
        found.append((rows.tobytes(), columns.tobytes()))
    assert found[0] == found[1]


def test_a_large_matrix_is_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binning, "SAMPLE", 100)
    X = matrix(np.arange(1000), [np.nan] + [1.0] * 999)
    bins = Bins.of(X)
    assert bins.counts[0] == 101
    assert bins.has_missing.tolist() == [False, True]  # all rows are looked at for this


def test_missing_features_of_chunks() -> None:
    X = np.zeros((binning.CHUNK + 1, 3), np.float32)
    X[-1, 1] = np.nan
    assert missing_features(X).tolist() == [False, True, False]


@pytest.mark.parametrize("max_bins", [1, 256, 0])
def test_max_bins_has_its_limits(max_bins: int) -> None:
    with pytest.raises(InputError, match="from 2 to 255"):
        Bins.of(np.zeros((2, 1), np.float32), max_bins)
