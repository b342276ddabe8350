"""Sorting gains: by counting where they are small whole numbers, by comparing where not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwright.measures.ordering import LEVELS, descending, shell_sort

GAINS = st.one_of(
    st.lists(st.integers(0, LEVELS - 1).map(float), max_size=60),
    st.lists(st.sampled_from([-1.0, 0.0, 0.5, 3.0, LEVELS, 1e300]), max_size=60),
    st.lists(st.floats(-1e9, 1e9).map(lambda x: x + 0.0), max_size=60),
)


@pytest.mark.parametrize("form", ["plain", "compiled"])
@given(gains=GAINS, share=st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_the_highest_from_the_highest_down(form, gains, share):
    wanted = sorted(gains, reverse=True)[: round(share * len(gains))]
    out = np.full(len(wanted), np.nan)
    getattr(descending, form)(np.array(gains, np.float64), out)
    assert out.tolist() == wanted


def test_long_lists_in_place():
    values = np.random.default_rng(0).normal(size=3000)
    expected = np.sort(values)[::-1].copy()
    shell_sort.compiled(values)
    np.testing.assert_array_equal(values, expected)


@given(st.lists(st.sampled_from([np.nan, -1.0, 0.0, 1.0, 2.5]), max_size=20))
@settings(max_examples=60, deadline=None)
def test_what_is_not_a_number_comes_last(values):
    out = np.array(values, np.float64)
    shell_sort.compiled(out)
    known = sorted((value for value in values if value == value), reverse=True)
    np.testing.assert_array_equal(out, known + [np.nan] * (len(values) - len(known)))
