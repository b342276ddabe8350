import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.naive import probabilities as naive

from rankwright.pairwise.probabilities import (
    all_pairs,
    bradley_terry,
    check_probabilities,
    combine,
    consistency,
    log_odds,
    probability,
)
from rankwright.runtime.errors import InputError

inner = st.floats(0.001, 0.999)
chains = st.lists(inner, min_size=1, max_size=7)


@given(inner, inner)
def test_combining_is_equation_5(p, q):
    assert combine(p, q) == pytest.approx(float(naive.combine(p, q)), rel=1e-12)


@given(st.floats(0, 1))
def test_combining_keeps_certainty_and_ignorance_and_builds_confidence(p):
    combined = float(combine(p, p))
    if p in (0.0, 0.5, 1.0):
        assert combined == p
    elif abs(p - 0.5) < 1e-12 or min(p, 1 - p) < 1e-300:
        assert combined == pytest.approx(p)
    else:
        assert (combined > p) == (p > 0.5)


@given(inner, inner, inner)
def test_combining_does_not_depend_on_the_way(p, q, r):
    assert combine(combine(p, q), r) == pytest.approx(float(combine(p, combine(q, r))), rel=1e-9)


@given(chains)
def test_theorem_neighbours_give_all_pairs(chain):
    pairs = all_pairs(chain)
    m = len(chain) + 1
    for i in range(m):
        for k in range(i + 1, m):
            assert pairs[i, k] == pytest.approx(float(naive.along(chain[i:k])), rel=1e-9)
    np.testing.assert_allclose(pairs + pairs.T, 1.0, rtol=1e-12)


# Near certainty a probability holds few digits of its log odds, and none of what they add up to.
@given(st.lists(st.floats(0.05, 0.95), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_theorem_any_permutation_gives_the_same(chain, random):
    pairs = all_pairs(chain)
    order = list(range(len(chain) + 1))
    random.shuffle(order)
    again = all_pairs([pairs[a, b] for a, b in itertools.pairwise(order)], order)
    np.testing.assert_allclose(again, pairs, rtol=1e-9)


@given(st.floats(0.05, 0.95), st.integers(2, 8))
def test_lemma_confidence_grows_with_distance(p, n):
    from_first = all_pairs([p] * n)[0, 1:]
    odds = (1 - p) / p
    np.testing.assert_allclose(from_first, 1 / (1 + odds ** np.arange(1, n + 1)), rtol=1e-9)
    assume(abs(p - 0.5) > 1e-6)
    assert (np.diff(from_first) > 0).all() == (p > 0.5)
    assert (np.diff(from_first) < 0).all() == (p < 0.5)


def test_lemma_ignorance_stays():
    np.testing.assert_array_equal(all_pairs([0.5] * 4), np.full((5, 5), 0.5))


def test_certainty_travels_but_not_both_ways():
    np.testing.assert_array_equal(all_pairs([1, 0.5, 1])[0], [0.5, 1, 1, 1])
    np.testing.assert_array_equal(all_pairs([0, 0.5])[:, 2], [0, 0.5, 0.5])
    with pytest.raises(InputError, match="documents 0 and 2"):
        all_pairs([1, 0])
    with pytest.raises(InputError, match="documents 2 and 1"):
        all_pairs([0, 0.3, 1], [2, 3, 0, 1])
    with pytest.raises(InputError, match="0 and 1"):
        combine(0, 1)
    with pytest.raises(InputError, match="pair 1: 1 and 0"):
        combine([0.5, 1], [0.5, 0])


@given(st.lists(st.floats(0, 1), min_size=1))
def test_log_odds_and_back(values):
    np.testing.assert_allclose(probability(log_odds(values)), values, rtol=1e-12, atol=1e-300)


@settings(max_examples=50)
@given(chains, st.data())
def test_outputs_make_consistent_pairs_and_a_changed_one_is_found(chain, data):
    pairs = all_pairs(chain)
    m = len(pairs)
    ends = [(i, j) for i in range(m) for j in range(m) if i < j]
    given_ = [pairs[i, j] for i, j in ends]
    found = consistency(ends, given_)
    assert found.consistent and found.row is None
    for (i, j), p in zip(ends, given_, strict=True):
        assert probability(found.outputs[i] - found.outputs[j]) == pytest.approx(p, abs=1e-9)
    assume(m > 2)
    row = data.draw(st.integers(0, len(ends) - 1))
    given_[row] = (given_[row] + 0.5) % 1
    assume(0 < given_[row] < 1)
    found = consistency(ends, given_)
    assert not found.consistent and found.row is not None


def test_certain_pairs_are_consistent_unless_they_go_round():
    assert consistency([(0, 1), (1, 2), (0, 2)]).consistent
    found = consistency([(0, 1), (1, 2), (2, 0), (3, 0)])
    assert not found.consistent and set(found.cycle) == {0, 1, 2}
    # 1 and 2 are connected by a finite pair, so 0 cannot be infinitely above one and below the other.
    found = consistency([(0, 1), (1, 2), (2, 0)], [1, 0.4, 1])
    assert not found.consistent and found.cycle
    assert consistency([(1, 0), (1, 2), (2, 0)], [0, 0.4, 0]).consistent
    # Nor can two documents be a finite distance apart and certain.
    found = consistency([(0, 1), (0, 1)], [0.6, 1])
    assert not found.consistent and found.row == 1
    assert consistency([]).consistent


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=6))
def test_bradley_terry_strengths_are_exponentials_of_outputs(outputs):
    outputs = np.array(outputs)
    ends = [(i, i + 1) for i in range(len(outputs) - 1)]
    strengths = bradley_terry(ends, probability(outputs[:-1] - outputs[1:]))
    np.testing.assert_allclose(strengths, np.exp(outputs) / np.exp(outputs).sum(), rtol=1e-9)


some_pairs = st.lists(
    st.tuples(
        st.sampled_from([(0, 1), (0, 2), (1, 2), (2, 3), (1, 3)]),
        st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(1)]),
    ),
    min_size=1,
    max_size=5,
)


@given(some_pairs)
def test_strengths_are_found_wherever_there_are_any(given_):
    ends, targets = zip(*given_, strict=True)
    exists = naive.strengths(ends, targets) is not None
    try:
        found = bradley_terry(ends, [float(p) for p in targets])
    except InputError:
        assert not exists
    else:
        for (i, j), p in zip(ends, targets, strict=True):
            assert found[i] / (found[i] + found[j]) == pytest.approx(float(p), abs=1e-12)


def test_no_strengths_give_a_certain_ranking():
    ends = [(0, 1), (1, 2), (0, 2)]
    assert naive.strengths(ends[:2], [Fraction(1), Fraction(1)]) is None
    assert naive.strengths(ends, [Fraction(1)] * 3) is None
    assert consistency(ends).consistent


def test_bradley_terry_refuses_the_certain_ranking():
    with pytest.raises(InputError, match="row 1: documents 1 and 2 both lose for certain"):
        bradley_terry([(0, 1), (1, 2), (0, 2)], [1, 1, 1])
    with pytest.raises(InputError, match="document 1 loses for certain elsewhere"):
        bradley_terry([(0, 1), (1, 2)], [1, 0.5])
    with pytest.raises(InputError, match="contradict"):
        bradley_terry([(0, 1), (1, 2), (0, 2)], [0.6, 0.6, 0.6])
    np.testing.assert_allclose(bradley_terry([(0, 1), (2, 1), (0, 2)], [1, 1, 0.75]), [0.75, 0, 0.25])
    # The model itself has no such trouble: its outputs grow apart.
    assert probability(800.0) == 1.0


def test_bad_probabilities_are_named():
    with pytest.raises(InputError, match=r"row 1: 1\.5 is not a probability"):
        check_probabilities([0.5, 1.5])
    with pytest.raises(InputError, match="nan is not"):
        check_probabilities([float("nan")])
    with pytest.raises(InputError, match=r"entry \(0, 1\)"):
        check_probabilities([[0, -1]])
    with pytest.raises(InputError, match="order must name each of the 3"):
        all_pairs([0.5, 0.5], [0, 0, 1])
    with pytest.raises(InputError, match="2 probabilities for 1 pairs"):
        consistency([(0, 1)], [1, 1])
    with pytest.raises(InputError, match="count from 0"):
        consistency([(0, -1)])
    with pytest.raises(InputError, match="before itself"):
        consistency([(3, 3)])
