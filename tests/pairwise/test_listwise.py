"""The listwise cross-entropy against whole matrices and its own cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import softmax_lists as naive

from rankwright.pairwise.listwise import CORRECTIONS, Listed, list_gradients

SIZES = (7, 1, 4, 12)


def listed(labels: Any, weights: Any, query_weights: Any, sizes: Any = SIZES) -> Listed:
    return Listed(
        np.append(0, np.cumsum(sizes)), np.asarray(labels, np.int32), 2.0 ** np.arange(5.0) - 1,
        np.asarray(weights, np.float64), np.asarray(query_weights, np.float64),
    )  # fmt: skip


def gradients_of(seed: int, scores: Any, data: Listed, pieces: Any = None) -> tuple[Any, Any]:
    g, h = np.full((2, len(scores)), 9.0, np.float32)
    queries = len(data.offsets) - 1
    for begin, end in pieces or [(0, queries)]:
        list_gradients(np.uint64(seed), scores, data, begin, end, g, h)
    return g, h


@settings(max_examples=30)
@given(st.integers(0, 2**50), st.integers(0, 10**6))
def test_the_series_of_the_twin(seed: int, data_seed: int) -> None:
    random = np.random.default_rng(data_seed)
    n = sum(SIZES)
    labels, scores = random.integers(0, 5, n), 2 * random.normal(size=n)
    weights, of_query = random.choice([0.0, 0.5, 1.0, 2.0], n), random.uniform(0.5, 2, len(SIZES))
    data = listed(labels, weights, of_query)
    got = gradients_of(seed, scores, data)
    for q, (a, b) in enumerate(zip(data.offsets[:-1], data.offsets[1:], strict=True)):
        rows = slice(a, b)
        worth = data.gains[labels[rows]]
        if not (worth * weights[rows]).any():
            assert not got[0][rows].any() and not got[1][rows].any()
            continue
        drawn = np.array([naive.uniform(seed, row) for row in range(a, b)])
        phi = naive.targets(worth, drawn, weights[rows])
        expected = naive.gradients(scores[rows], phi, weights[rows], CORRECTIONS)
        for one, other in zip(got, expected, strict=True):
            np.testing.assert_allclose(one[rows], of_query[q] * other, rtol=1e-4, atol=1e-5)
    apart = gradients_of(seed, scores, data, [(2, 4), (0, 2)])
    assert all(np.array_equal(one, other) for one, other in zip(got, apart, strict=True))


def test_without_corrections_it_is_the_gradient_of_its_cost() -> None:
    """Of the twin, on which the corrections then rest: they approach what a Newton step would be."""
    random = np.random.default_rng(0)
    scores, weights = random.normal(size=9), np.ones(9)
    phi = naive.targets(2.0 ** random.integers(0, 4, 9) - 1, random.random(9), weights)
    plain, diagonal = naive.gradients(scores, phi, weights, 0)
    step = 1e-6
    for d in range(9):
        moved = np.eye(9)[d] * step
        below, above = (naive.cost(scores + way * moved, phi, weights) for way in (-1, 1))
        assert plain[d] == pytest.approx((above - below) / (2 * step), abs=1e-7)
    rho = naive.softmax(scores, weights)
    hessian = np.diag(rho) - np.outer(rho, rho)
    newton = diagonal * (np.linalg.pinv(hessian) @ plain)  # any constant may be added to a step
    errors = []
    for corrections in (0, 2, 200):
        difference = (naive.gradients(scores, phi, weights, corrections)[0] - newton) / diagonal
        errors.append(float(np.ptp(difference)))
    assert errors[0] > errors[1] > errors[2] and errors[2] < 1e-6
