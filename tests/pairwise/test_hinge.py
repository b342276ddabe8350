import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import margins as naive

from rankwright.pairwise import hinge
from rankwright.pairwise.hinge import Hinges

numbers = st.floats(-3, 3).map(lambda value: round(value, 2))
documents = st.lists(
    st.tuples(numbers, st.sampled_from([0.0, 1.0, 2.5, np.nan]), st.floats(0, 2)), min_size=1, max_size=12
)


@given(documents, documents, st.booleans())
def test_sums_against_all_pairs(first, second, squared):
    scores, labels, weights = np.array(first + second).T.copy()
    offsets = np.array([0, len(first), len(scores)])
    losses, out = Hinges(labels, offsets, weights).at(scores, squared)
    for q in range(2):
        own = slice(offsets[q], offsets[q + 1])
        # Whether a pair that just meets the margin counts is a matter of rounding, and of no weight.
        total, slopes, _ = naive.hinge_losses(scores[own], labels[own], weights[own], squared)
        if squared:
            assert losses[q] == pytest.approx(total, abs=1e-9)
            np.testing.assert_allclose(out[own], slopes, atol=1e-9)
        else:
            assert losses[q] - out[own] @ scores[own] == pytest.approx(total, abs=1e-9)


@given(documents)
def test_the_linear_plane_is_that_of_the_violated_pairs(rows):
    _, labels, weights = np.array(rows).T.copy()
    scores = np.random.default_rng(0).permutation(len(rows)) * 0.37
    losses, out = Hinges(labels, np.array([0, len(rows)]), weights).at(scores)
    _, slopes, violated = naive.hinge_losses(scores, labels, weights, False)
    assert losses[0] == pytest.approx(violated, abs=1e-9)
    np.testing.assert_allclose(out, -slopes, atol=1e-9)


def test_the_same_on_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(hinge, "DOCUMENTS_AT_ONCE", 8)
    random = np.random.default_rng(0)
    scores, labels = random.standard_normal(60), random.integers(0, 3, 60).astype(float)
    found = [Hinges(labels, np.arange(0, 61, 5), np.ones(60), jobs).at(scores, True) for jobs in (1, 2, 3)]
    for losses, slopes in found:
        assert np.array_equal(losses, found[0][0]) and np.array_equal(slopes, found[0][1])


def test_far_scores_lose_no_digits():
    labels = np.array([1.0, 0.0, 1.0, 0.0])
    scores = np.array([0.5, 0.75, 0.25, 0.0])
    near = Hinges(labels, np.array([0, 4]), np.ones(4)).at(scores, True)
    far = Hinges(labels, np.array([0, 4]), np.ones(4)).at(scores + 2.0**30, True)
    assert near[0] == far[0] and np.array_equal(near[1], far[1])
