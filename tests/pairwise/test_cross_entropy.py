import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import networks as naive

from rankwright.pairwise.cross_entropy import label_slopes, listed_slopes, pair_slope, spread
from rankwright.pairwise.pairs import by_label, pairs_of_labels

queries = st.tuples(
    st.integers(1, 40),
    st.sampled_from([0.1, 1.0, 10.0, 300.0]),
    st.sampled_from([0.3, 1.0, 2.0]),
    st.integers(0, 99),
)


def example(n, scale, seed):
    random = np.random.default_rng(seed)
    labels = -np.sort(-random.integers(0, 4, n).astype(float))
    return (
        (random.standard_normal(n) * scale).astype(np.float32),
        labels,
        random.uniform(0.5, 2, n).astype(np.float32),
    )


def exact(scores, pairs, weights, sigma):
    """Slopes and cost in float64; logs where probabilities would be 0."""
    slopes, cost = np.zeros(len(scores)), 0.0
    for i, j, target in pairs:
        o = sigma * (float(scores[i]) - float(scores[j]))
        weight = float(weights[i]) * float(weights[j])
        slope = weight * sigma * ((1 - target) - 1 / (1 + np.exp(min(o, 700.0))))  # 2010 equation 3, any P̄
        slopes[i] += slope
        slopes[j] -= slope
        cost += weight * (np.logaddexp(0, -o) + (1 - target) * o)
    return slopes, cost


def by_labels(scores, labels, weights, sigma, ties):
    n = len(scores)
    room = -(-n // 16) * 16
    slopes, scratch = np.full(room, np.nan, np.float32), np.full((4, room), np.nan, np.float32)
    ends = by_label(labels)[1].astype(np.uint32)
    cost = label_slopes(np.uint64(n), scores, weights, ends, np.float32(sigma), ties, scratch, slopes)
    assert not slopes[n:].any()
    return slopes[:n], cost


@settings(max_examples=40)
@given(queries, st.booleans())
def test_slopes_of_labels(query, ties):
    n, scale, sigma, seed = query
    scores, labels, weights = example(n, scale, seed)
    pairs = naive.pairs_of(labels, ties)
    expected, cost = exact(scores, pairs, weights, sigma)
    slopes, found = by_labels(scores, labels, weights, sigma, ties)
    size = sum(float(weights[i] * weights[j]) for i, j, _ in pairs) * sigma + 1e-9
    np.testing.assert_allclose(slopes, expected, atol=3e-6 * size, rtol=2e-6)
    assert found == pytest.approx(cost, rel=3e-6, abs=1e-6 * size)
    assert abs(slopes.sum()) < 1e-5 * size


@settings(max_examples=30)
@given(queries, st.booleans())
def test_listed_pairs_give_the_same(query, ties):
    n, scale, sigma, seed = query
    scores, labels, weights = example(n, scale, seed)
    listed = pairs_of_labels(labels, np.array([0, n]), ties=ties, weights=weights.astype(float))
    slopes = np.empty(n, np.float32)
    cost = listed_slopes(
        np.uint64(0), np.uint64(n), np.uint64(0), np.uint64(len(listed)), scores,
        listed.better, listed.worse, listed.targets, listed.weights, np.float32(sigma), slopes,
    )  # fmt: skip
    expected, expected_cost = by_labels(scores, labels, weights, sigma, ties)
    np.testing.assert_allclose(slopes, expected, atol=1e-5 * (1 + np.abs(expected).max()), rtol=1e-5)
    assert cost == pytest.approx(expected_cost, rel=1e-5, abs=1e-4)


@settings(max_examples=60)
@given(st.floats(-60, 60, width=32), st.floats(0, 1, width=32))
def test_one_pair(o, target):
    slope, cost = pair_slope(np.float32(o), np.float32(target))
    assert slope == pytest.approx(1 / (1 + np.exp(-o)) - target, rel=1e-5, abs=1e-7)
    assert cost == pytest.approx(np.logaddexp(0, -o) + (1 - target) * o, rel=1e-5, abs=1e-6 + 2e-7 * abs(o))


@pytest.mark.parametrize("target", [0.0, 0.3, 0.5, 1.0])
def test_the_slope_is_that_of_the_cost(target):
    for o in (-3.0, -0.5, 0.0, 1.0, 4.0):
        width = 1e-6
        expected = (naive.pair_cost(o + width, target) - naive.pair_cost(o - width, target)) / (2 * width)
        assert pair_slope(np.float32(o), np.float32(target))[0] == pytest.approx(expected, abs=1e-6)


def test_the_cost_has_a_margin_and_is_symmetric():
    """2010 section 2: ln 2 where scores are equal; swapping the documents and the target changes nothing."""
    assert pair_slope(np.float32(0), np.float32(1))[1] == pytest.approx(np.log(2))
    here, there = pair_slope(np.float32(1.5), np.float32(0.8)), pair_slope(np.float32(-1.5), np.float32(0.2))
    assert here[1] == pytest.approx(there[1]) and here[0] == pytest.approx(-there[0])


def test_scores_far_apart_keep_their_slopes_and_costs():
    scores, labels = np.array([0.0, 1e4, -1e4], np.float32), np.array([2.0, 1.0, 0.0])
    slopes, cost = by_labels(scores, labels, np.ones(3, np.float32), 1.0, False)
    assert slopes == pytest.approx([-1, 1, 0], abs=1e-30) and cost == pytest.approx(1e4)


def test_spread():
    n = np.uint64(3)
    assert spread(n, np.array([1, -2, 5], np.float32)) == 7
    for bad in (np.nan, np.inf, -np.inf):
        for at in range(3):
            scores = np.array([1, -2, 5], np.float32)
            scores[at] = bad
            with np.errstate(invalid="ignore"):
                assert not spread(n, scores) < np.inf
