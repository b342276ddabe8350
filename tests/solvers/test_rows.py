import itertools

import numpy as np
import pytest

from rankwright.solvers import rows as module
from rankwright.solvers.rows import products, sums


@pytest.fixture
def data(monkeypatch):
    monkeypatch.setattr(module, "ROWS_AT_ONCE", 8)
    random = np.random.default_rng(0)
    offsets = np.array([0, 3, 3, 10, 11, 40])
    coefficients = random.standard_normal(40) * (random.random(40) < 0.5)
    return (
        random.standard_normal((40, 5)).astype(np.float32),
        random.standard_normal(5),
        coefficients,
        offsets,
    )


def test_products(data):
    rows, weights, _, _ = data
    np.testing.assert_allclose(products(rows, weights), rows.astype(float) @ weights, rtol=1e-12)


def test_sums(data):
    rows, _, coefficients, offsets = data
    expected = [coefficients[a:b] @ rows[a:b].astype(float) for a, b in itertools.pairwise(offsets)]
    np.testing.assert_allclose(sums(rows, coefficients, offsets), expected, rtol=1e-12, atol=1e-12)


def test_the_same_on_any_number_of_threads(data):
    rows, weights, coefficients, offsets = data
    for jobs in (1, 2, 3):
        assert np.array_equal(products(rows, weights, jobs), products(rows, weights))
        assert np.array_equal(sums(rows, coefficients, offsets, jobs), sums(rows, coefficients, offsets))
