"""Mixed numbers: evenly spread, and different for each seed and number."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright.runtime.mixing import mixed

needs_jit = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="both forms are the plain one with the JIT off"
)


def test_mixed_numbers_are_even_and_differ_by_seed() -> None:
    numbers = np.array(
        [[int(mixed(np.uint64(seed), np.uint64(x))) for x in range(300)] for seed in (0, 1, 2**40)]
    )
    assert numbers.max() < 2**32 and len(np.unique(numbers)) == 900
    assert np.abs(numbers.mean(axis=1) / 2**32 - 0.5).max() < 0.06
    for buckets in (2, 3, 10):
        counts = np.bincount(numbers.ravel() % buckets)
        assert np.abs(counts - 900 / buckets).max() < 5 * np.sqrt(900 / buckets)
    assert np.abs(np.corrcoef(numbers)[np.triu_indices(3, 1)]).max() < 0.2


@needs_jit
@given(st.integers(0, 2**63 - 1), st.integers(0, 2**63 - 1))
def test_mixed_numbers_of_both_forms(seed: int, x: int) -> None:
    given_numbers = np.uint64(seed), np.uint64(x)
    assert mixed.compiled(*given_numbers) == mixed.plain(*given_numbers)
