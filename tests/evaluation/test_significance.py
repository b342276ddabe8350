"""The paired tests: against scipy, against enumeration, and fair where there is no difference."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import evaluation as naive

from rankwright.evaluation.resampling import bootstrap_means, signed_sums
from rankwright.evaluation.significance import (
    TESTS,
    bootstrap,
    effect_size,
    holm,
    paired_t,
    randomisation,
    whole,
    wilcoxon,
)

TWELFTHS = st.lists(st.integers(-6, 6), min_size=1, max_size=8)


def some_differences(n, seed=0, shift=0.1):
    return np.random.default_rng(seed).normal(shift, 1.0, n)


@pytest.mark.parametrize("n", [2, 5, 40])
def test_paired_t_is_scipys(n):
    stats = pytest.importorskip("scipy.stats")
    differences = some_differences(n)
    np.testing.assert_allclose(paired_t(differences), stats.ttest_1samp(differences, 0).pvalue, rtol=1e-12)


@pytest.mark.parametrize("n", [6, 40, 80])
def test_wilcoxon_is_scipys(n):
    stats = pytest.importorskip("scipy.stats")
    differences = some_differences(n)
    np.testing.assert_allclose(wilcoxon(differences), stats.wilcoxon(differences).pvalue, rtol=1e-12)


@given(TWELFTHS)
@settings(max_examples=60, deadline=None)
def test_randomisation_of_few_queries_is_exact(twelfths):
    """Sums that are equal as fractions count as equal, though as floats they are not."""
    exact = naive.randomisation([Fraction(each, 12) for each in twelfths])
    assert randomisation(np.array(twelfths) / 12) == float(exact)


def test_randomisation_of_many_queries_nears_the_exact_answer():
    """17 differences are drawn by lot and can still be enumerated."""
    differences = some_differences(17, seed=3, shift=0.4)
    sums = np.zeros(1)
    for each in differences:
        sums = np.concatenate([sums + each, sums - each])
    exact = (abs(sums) >= abs(differences.sum()) - 1e-9).mean()
    error = math.sqrt(exact * (1 - exact) / 20_000)
    assert abs(randomisation(differences, n_resamples=20_000) - exact) < 4 * error


def test_p_values_of_no_difference_are_uniform():
    """Over all signs of fixed differences, P(p ≤ x) is exactly x for each p that occurs."""
    sizes = np.array([0.3, 0.7, 1.1, 1.3, 2.9, 4.1, 0.2])
    p_values = np.array(
        [randomisation(sizes * np.array(signs)) for signs in itertools.product((1, -1), repeat=len(sizes))]
    )
    for p in np.unique(p_values):
        assert (p_values <= p).mean() == p


@pytest.mark.parametrize("name", ["t", "wilcoxon", "bootstrap", "randomisation"])
def test_false_alarms_are_as_rare_as_claimed(name):
    rng = np.random.default_rng(8)
    p_values = [TESTS[name](rng.normal(size=30), n_resamples=400, random_state=seed) for seed in range(400)]
    alarms = np.mean(np.array(p_values) <= 0.1)
    # Four standard errors; the bootstrap is known to be a little eager with few queries.
    assert abs(alarms - 0.1) < 4 * math.sqrt(0.1 * 0.9 / 400) + (0.02 if name == "bootstrap" else 0)


@pytest.mark.parametrize("name", list(TESTS))
def test_a_plain_difference_is_found(name):
    assert TESTS[name](some_differences(50, shift=1.0)) < 0.001


@pytest.mark.parametrize("name", list(TESTS))
def test_no_difference_at_all_and_no_query(name):
    assert TESTS[name](np.zeros(5)) == 1.0
    assert math.isnan(TESTS[name](np.zeros(0)))


def test_the_same_difference_in_every_query():
    assert paired_t(np.full(4, 0.25)) == 0.0
    assert randomisation(np.full(4, 0.25)) == 2 / 16
    assert bootstrap(np.full(4, 0.25), n_resamples=99) == 0.01
    assert effect_size(np.full(4, 0.25)) == math.inf
    assert effect_size(np.zeros(4)) == 0.0
    assert math.isnan(paired_t(np.array([0.5]))) and math.isnan(bootstrap(np.array([0.5])))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
@settings(max_examples=60, deadline=None)
def test_holm_as_defined(p_values):
    np.testing.assert_allclose(holm(p_values), naive.holm(p_values), rtol=1e-15)


def test_holm_leaves_out_what_has_no_p_value():
    corrected = holm([0.02, math.nan, 0.5])
    assert corrected[0] == 0.04 and math.isnan(corrected[1]) and corrected[2] == 0.5


def test_resamples_do_not_depend_on_threads_nor_on_how_many_follow():
    values, weights = some_differences(70), np.linspace(0.5, 2.0, 70)
    units = whole(values)
    for draw in (
        lambda n, jobs: bootstrap_means(values, None, n, 7, jobs),
        lambda n, jobs: bootstrap_means(values, weights, n, 7, jobs),
        lambda n, jobs: signed_sums(units, n, 7, jobs),
    ):
        one = draw(200, 1)
        np.testing.assert_array_equal(draw(200, 2), one)
        np.testing.assert_array_equal(draw(200, 3), one)
        np.testing.assert_array_equal(draw(70, 1), one[:70])
        assert len(np.unique(one)) > 150


def test_seeds_give_other_resamples():
    values = some_differences(30)
    assert not np.array_equal(bootstrap_means(values, None, 50, 0), bootstrap_means(values, None, 50, 1))


def test_bootstrap_draws_every_query_equally_often():
    """The mean of the means is the mean, within four standard errors, weighted or not."""
    values = some_differences(9, seed=2)
    means = bootstrap_means(values, None, 20_000, 0)
    assert abs(means.mean() - values.mean()) < 4 * values.std() / math.sqrt(9 * 20_000)
    np.testing.assert_allclose(means.std(), values.std() / 3, rtol=0.03)


def test_signs_are_even():
    sums = signed_sums(np.array([1, 2, 4, 8]), 16_000, 0)
    values, counts = np.unique(sums, return_counts=True)
    assert values.tolist() == list(range(-15, 16, 2))
    assert abs(counts - 1000).max() < 5 * math.sqrt(1000)
