"""The pieces of the search: gains, random numbers, ties, sets of bins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import trees as naive
from tests.trees.growth import Problem, splits_of

from rankwright.trees.grower import Shape
from rankwright.trees.histogram import count_bits, pack, pack_wide
from rankwright.trees.splitting import (
    ORDER,
    Leaf,
    exact_gain,
    leaf_score,
    new_scan,
    order_categories,
    unpacked,
)

INFINITE = np.float32(np.inf)


def leaf_of(
    g: Any, h: Any, wide: bool, l2: float = 0.0, lowest: Any = -INFINITE, highest: Any = INFINITE
) -> Any:
    """A leaf of all rows, and their packed words."""
    words = np.zeros((2, len(g)), np.int64)
    units = pack_wide(g, h, *words, n_jobs=1) if wide else pack(g, h, words[0], n_jobs=1)
    leaf = Leaf(
        *words.sum(axis=1), *map(np.float32, (*units, len(g), l2, 0, 1)), lowest, highest, wide,
        count_bits(len(g)), np.int64(0),
    )  # fmt: skip
    return leaf, words


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from([0.0, 1.0]), st.booleans())
def test_gains_are_the_naive_ones(seed: int, wide: bool, l2: float, bounded: bool) -> None:
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 30))
    g, h = random.normal(size=n).astype(np.float32), random.uniform(0.1, 1, n).astype(np.float32)
    bounds = (-0.2, 0.3) if bounded else (-np.inf, np.inf)
    leaf, words = leaf_of(g, h, wide, l2, *map(np.float32, bounds))
    cut = int(random.integers(1, n))
    naive_leaf = naive.Leaf(list(range(n)), 0, *bounds)
    score = lambda rows: naive.score(  # noqa: E731
        float(g[rows].sum(dtype=float)), float(h[rows].sum(dtype=float)), naive_leaf, l2
    )
    expected = score(slice(cut)) + score(slice(cut, n)) - score(slice(n))
    word0, word1 = words[:, :cut].sum(axis=1)
    found = exact_gain.plain(word0, word1, leaf)
    assert found == pytest.approx(max(expected, 0), rel=1e-5, abs=1e-5)
    sums = unpacked.plain(word0, word1, leaf)
    assert [float(part) for part in sums[:2]] == pytest.approx(
        [g[:cut].sum(), h[:cut].sum()], rel=1e-5, abs=1e-5
    )
    if wide:
        assert sums[2] == cut


def test_a_leaf_without_hessian_scores_nothing() -> None:
    nothing = np.zeros(3, np.float32)
    for wide in (False, True):
        leaf, words = leaf_of(nothing, nothing, wide)
        assert leaf_score.plain(np.float32(1), np.float32(0), leaf) == 0
        assert exact_gain.plain(*words.sum(axis=1), leaf) == 0
        assert unpacked.plain(*words[:, 0], leaf)[2] == (1 if wide else 0)


@pytest.mark.parametrize("wide", [False, True])
def test_rare_categories_stand_in_the_middle(wide: bool) -> None:
    """Category 1 has the lowest mean by far and one row of weight; category 4 has no row."""
    bins = np.repeat([0, 1, 2, 3, 5], [8, 1, 40, 40, 8])
    g = np.repeat([0.5, -3.0, -1.0, 1.0, 0.4], [8, 1, 40, 40, 8]).astype(np.float32)
    leaf, words = leaf_of(g, np.ones(97, np.float32), wide)
    histogram = np.array([naive.sums(bins, word.tolist()) for word in words])
    scan = new_scan()
    assert order_categories.plain(histogram, 0, 6, leaf, scan) == 5
    smoothed = {0: 4 / 18, 1: -3 / 11, 2: -40 / 50, 3: 40 / 50, 5: 3.2 / 18}
    assert scan.longs[ORDER, :5].tolist() == sorted(smoothed, key=smoothed.__getitem__) == [2, 1, 5, 0, 3]
    assert scan.longs[0, 4] == leaf.word0


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_the_lowest_feature_and_bin_win_a_tie(n_jobs: int) -> None:
    """Forty copies of one feature, and rows between which no cut is better than another."""
    column = np.float32([1, 2, 3, 4, 5, 6])
    X = np.repeat(column[:, None], 40, axis=1)
    g = np.float32([-1, -1, 0, 0, 1, 1])
    shape = Shape(min_samples_leaf=1, max_leaf_nodes=2)
    _, grown = Problem(X, g, np.ones(6, np.float32), shape).grow(n_jobs)
    [(_, split)] = splits_of(grown)
    assert split.feature == 0 and split.left - {0} == {1, 2}


@pytest.mark.parametrize("bins_left", [1, 63, 64, 65, 128, 200, 254])
def test_sets_of_bins_reach_over_all_words(bins_left: int) -> None:
    X = np.arange(255, dtype=np.float32).reshape(-1, 1)
    g = np.where(np.arange(255) < bins_left, -1, 1).astype(np.float32)
    shape = Shape(min_samples_leaf=1, max_leaf_nodes=2)
    for categorical in ((), (0,)):
        _, grown = Problem(X, g, np.ones(255, np.float32), shape, categorical=categorical).grow()
        [(_, split)] = splits_of(grown)
        assert split.left - {0} == {*range(1, bins_left + 1)}
