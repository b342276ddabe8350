"""Graded worst orderings against all permutations and the assignment problem."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import measures as naive_measures
from tests.naive import structured as naive

from rankwright import InputError
from rankwright.measures.lists import Lists
from rankwright.structured import Decay, worst_orderings

documents = st.lists(
    st.tuples(st.sampled_from([0, 1, 2, 3]), st.one_of(st.sampled_from([-0.5, 0.0, 1.0]), st.floats(-2, 2))),
    min_size=2,
    max_size=5,
).filter(lambda drawn: len({label for label, _ in drawn if label > 0}) > 1)


def one_query(labels: Any) -> Lists:
    return Lists(np.array(labels, np.float64), np.array([0, len(labels)]))


@pytest.mark.parametrize(("k", "decay"), [(None, Decay()), (2, Decay()), (3, Decay(until=2))])
@settings(max_examples=20)
@given(drawn=documents, size=st.sampled_from([0.1, 1.0]))
def test_all_permutations(k: int | None, decay: Decay, drawn: Any, size: float) -> None:
    labels = tuple(label for label, _ in drawn)
    assert_worst(k, decay, labels, size * np.array([score for _, score in drawn]))


@pytest.mark.parametrize(("k", "decay"), [(None, Decay()), (3, Decay()), (3, Decay(until=2))])
def test_all_permutations_of_seven_documents(k: int | None, decay: Decay) -> None:
    random = np.random.default_rng(7)
    for size in (0.1, 0.5, 2.0):
        assert_worst(k, decay, (2, 0, 1, 0, 3, 1, 0), size * random.normal(size=7))


def assert_worst(k: int | None, decay: Decay, labels: Any, scores: Any) -> None:
    oracle = worst_orderings("ndcg" if k is None else f"ndcg@{k}", decay, one_query(labels))
    (loss,), coefficients = oracle.at(scores)
    value = naive_measures.ndcg()

    def phi(labels: Any, order: Any) -> Any:
        return naive.decay(labels, order, decay.until)

    best, losses, differences = naive.worst(labels, scores, phi, lambda ranked: value(ranked, ranked, k))
    assert oracle.graded and oracle.threshold == min(label for label in labels if label)
    assert loss - coefficients @ scores == pytest.approx(best, abs=1e-12)
    apart = np.abs(differences - coefficients).max(axis=1) + np.abs(losses - loss)
    assert apart.min() < 1e-9


@pytest.mark.parametrize("text", ["ndcg", "ndcg@10(discount=letor)"])
@pytest.mark.parametrize("kinds", [[0.0, 1.0, 2.0], [0.0, 1.0]])
def test_the_assignment_problem(text: str, kinds: Any) -> None:
    random = np.random.default_rng(0)
    labels, scores = random.choice(kinds, 40), random.normal(size=40) / 4.0
    oracle = worst_orderings(text, "dorm", one_query(labels))
    (loss,), coefficients = oracle.at(scores)
    worths = oracle.measure.ranks(40)
    gains = oracle.measure.gains(labels)
    best = naive.assignment(scores, Decay().weights(40), gains, worths)
    truth = np.array([np.mean(Decay().weights(40)[np.sort(-labels) == -label]) for label in labels])
    assert loss - coefficients @ scores == pytest.approx(1.0 + best - truth @ scores, abs=1e-12)


def test_with_a_threshold_labels_are_good_or_bad() -> None:
    lists = one_query([0.0, 1.0, 2.0, np.nan])
    assert worst_orderings("ndcg", "dorm", lists).graded
    assert not worst_orderings("ndcg", "dorm", lists, threshold=1).graded
    assert not worst_orderings("ndcg", "po", lists).graded
    assert not worst_orderings("ndcg", "dorm", one_query([0.0, 2.0])).graded


def test_queries_that_train_nothing_unjudged_documents_and_bad_scores() -> None:
    lists = Lists(np.array([0.0, 0.0, 2.0, 1.0, np.nan, 2.0, 2.0]), np.array([0, 2, 5, 7]))
    oracle = worst_orderings("ndcg", "dorm", lists)
    losses, coefficients = oracle.at(np.arange(7.0))
    assert oracle.trains.tolist() == [False, True, False]
    assert losses[1] > 0 and not losses[[0, 2]].any() and not coefficients[[0, 1, 4, 5, 6]].any()
    np.testing.assert_array_equal(oracle.at(np.arange(7.0), queries=[1])[1], coefficients[2:5])
    with pytest.raises(InputError, match="row 3: the score is nan"):
        oracle.at([0, 0, 0, np.nan, 0, 0, 0])
    labels = np.repeat(np.arange(9.0), 10)
    with pytest.raises(InputError, match=r"9 gains has .* states"):
        worst_orderings("ndcg", "dorm", one_query(labels))
