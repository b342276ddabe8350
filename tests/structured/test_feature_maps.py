"""Feature maps against their definitions, and Fact 3.1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import structured as naive

from rankwright import InputError
from rankwright.structured import Decay, FeatureMap, FirstGood, LocalOrder, PartialOrder, feature_map

rankings = st.lists(st.booleans(), min_size=2, max_size=9).flatmap(
    lambda good: st.tuples(st.just(np.array(good)), st.permutations(range(len(good))).map(np.array))
)
of_both_kinds = rankings.filter(lambda drawn: drawn[0].any() and not drawn[0].all())


@settings(max_examples=30)
@given(of_both_kinds, st.booleans())
def test_definitions(drawn: Any, averaged: bool) -> None:
    good, order = drawn
    for ours, theirs in (
        (PartialOrder(averaged=averaged), naive.partial_order(good, order, averaged)),
        (LocalOrder(averaged=averaged), naive.local_order(good, order, averaged)),
        (FirstGood(), naive.first_good(good, order)),
        (Decay(), naive.decay(good, order)),
        (Decay(until=2), naive.decay(good, order, 2)),
    ):
        np.testing.assert_allclose(ours.coefficients(good, order), theirs, atol=1e-14)


@settings(max_examples=30)
@given(of_both_kinds)
def test_fact_3_1(drawn: Any) -> None:
    """φ_po(y*) − φ_po(y) is ψ(y*) − ψ(y), and ψ(y*) is 0."""
    good, order = drawn
    po, psi = PartialOrder(), LocalOrder()
    assert not psi.truth(good).any() and not FirstGood().truth(good).any()
    np.testing.assert_allclose(
        po.truth(good) - po.coefficients(good, order), -psi.coefficients(good, order), atol=1e-14
    )


def test_the_truth_of_a_decay_is_the_mean_of_the_ideal_rankings() -> None:
    good = np.array([True, False, True])
    orders = [[0, 2, 1], [2, 0, 1]]
    mean = np.mean([Decay().coefficients(good, np.array(order)) for order in orders], axis=0)
    np.testing.assert_allclose(Decay().truth(good), mean)


def test_decays() -> None:
    np.testing.assert_array_equal(Decay(by=[3, 1]).weights(4), [3, 1, 0, 0])
    np.testing.assert_array_equal(Decay(by=lambda ranks: 8.0 - ranks, until=2).weights(3), [8, 7, 0])
    assert feature_map("dorm") == Decay() and feature_map(FirstGood()) == FirstGood()
    for decay, words in (
        ({"by": [1.0, 2.0]}, "rises behind rank 0"),
        ({"by": [-1.0]}, "negative"),
        ({"by": lambda ranks: 1.0}, "no finite number a rank"),
        ({"by": [np.inf]}, "no finite number"),
        ({"by": 3}, "it is 3"),
        ({"by": lambda ranks: 1 / 0}, "ZeroDivisionError"),
        ({"until": 0}, "until is 0"),
        ({"until": 1.5}, "until is 1.5"),
        ({"until": True}, "until is True"),
    ):
        with pytest.raises(InputError, match=words):
            Decay(**decay)
    assert repr(Decay(by=np.ones_like)) == "Decay(until=None, by=ones_like)"
    with pytest.raises(InputError, match="no feature map"):
        feature_map(["po"])  # type: ignore[arg-type]
    with pytest.raises(NotImplementedError):
        FeatureMap().coefficients(np.array([True]), np.array([0]))
