"""Worst orderings against all permutations of up to 7 documents, and what theory says of them."""

from __future__ import annotations

import functools
import os
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import measures as naive_measures
from tests.naive import structured as naive

from rankwright import InputError
from rankwright.measures import measure
from rankwright.measures.lists import Lists
from rankwright.structured import Decay, worst_orderings

JIT_OFF = os.environ.get("NUMBA_DISABLE_JIT") == "1"
NEAR = 1e-12

STEPS = (3.0, 2.0, 2.0, 0.5)
MAPS: dict[str, tuple[Any, Any]] = {
    "po": ("po", naive.partial_order),
    "po-sum": ("po-sum", functools.partial(naive.partial_order, averaged=False)),
    "psi": ("psi", naive.local_order),
    "mrr": ("mrr", naive.first_good),
    "dorm": ("dorm", naive.decay),
    "dorm until 3": (Decay(until=3), functools.partial(naive.decay, until=3)),
    "dorm by steps": (Decay(by=STEPS), functools.partial(naive.decay, by=STEPS)),
}
NAIVE: dict[str, Any] = {
    "auc": naive_measures.auc(),
    "map": naive_measures.average_precision(),
    "ap@2": naive_measures.average_precision(),
    "ap@3(denominator=min(R,k))": naive_measures.average_precision(by_cutoff=True),
    "mrr": naive_measures.reciprocal_rank(),
    "rr@3": naive_measures.reciprocal_rank(),
    "ndcg": naive_measures.ndcg(),
    "ndcg@1": naive_measures.ndcg(),
    "ndcg@3": naive_measures.ndcg(),
    "ndcg(discount=letor)": naive_measures.ndcg(discount=naive_measures.letor_discount),
    "ndcg@4(discount=letor)": naive_measures.ndcg(discount=naive_measures.letor_discount),
    "ndcg(discount=4/4/4/1)": naive_measures.ndcg(discount=lambda rank: [4, 4, 4, 1, 0, 0, 0, 0][rank - 1]),
}
PAIRS = [
    *((text, "po") for text in NAIVE),
    *((text, "po-sum") for text in ("auc", "map", "ndcg@3", "mrr")),
    ("map", "psi"),
    *((text, "mrr") for text in ("mrr", "rr@3")),
    *((text, "dorm") for text in ("ndcg", "ndcg@3", "ndcg@4(discount=letor)", "map", "ap@2", "rr@3")),
    ("ndcg@3", "dorm until 3"),
    ("ndcg", "dorm by steps"),
]


def naive_value(text: str) -> Any:
    cutoff = measure(text).cutoff
    return lambda labels: NAIVE[text](labels, labels, cutoff)


def one_query(labels: Any) -> Lists:
    return Lists(np.array(labels, np.float64), np.array([0, len(labels)]))


documents = st.lists(
    st.tuples(st.booleans(), st.one_of(st.sampled_from([-0.5, 0.0, 0.25, 1.0]), st.floats(-2, 2))),
    min_size=2,
    max_size=5,
).filter(lambda drawn: 0 < sum(good for good, _ in drawn) < len(drawn))


@pytest.mark.parametrize(("text", "name"), PAIRS)
@settings(max_examples=25 if JIT_OFF else 60)
@given(drawn=documents, size=st.sampled_from([0.1, 1.0, 5.0]))
def test_all_permutations(text: str, name: str, drawn: Any, size: float) -> None:
    good = tuple(good for good, _ in drawn)
    assert_worst(text, name, good, np.array([score for _, score in drawn]) * size)


@pytest.mark.parametrize(("text", "name"), PAIRS)
def test_all_permutations_of_seven_documents(text: str, name: str) -> None:
    random = np.random.default_rng(7)
    for good in (
        (True, True, False, True, False, False, False),
        (False, True, True, True, False, True, True),
    ):
        for size in (0.1, 0.5, 2.0):
            assert_worst(text, name, good, random.normal(size=7) * size)


def assert_worst(text: str, name: str, good: Any, scores: Any) -> None:
    chosen, phi = MAPS[name]
    oracle = worst_orderings(text, chosen, one_query(good))
    (loss,), coefficients = oracle.at(scores)
    best, all_losses, differences = naive.worst(good, scores, phi, naive_value(text))
    assert loss - coefficients @ scores == pytest.approx(best, abs=NEAR * max(1.0, np.abs(scores).max() * 20))
    assert best >= -NEAR and 0.0 <= loss <= 1.0
    # What it found is an ordering: some permutation has this loss and this φ.
    apart = np.abs(differences - coefficients).max(axis=1) + np.abs(all_losses - loss)
    assert apart.min() < 1e-9


def random_lists(queries: int, most: int, seed: int = 0, n_jobs: int | None = None) -> tuple[Lists, Any]:
    random = np.random.default_rng(seed)
    sizes = random.integers(1, most, queries)
    labels = random.choice([0.0, 1.0, 2.0, np.nan], sizes.sum(), p=[0.6, 0.2, 0.15, 0.05])
    scores = random.normal(size=sizes.sum()).round(1)
    return Lists(labels, np.append(0, np.cumsum(sizes)), n_jobs=n_jobs), scores


@pytest.mark.parametrize(("text", "name"), PAIRS)
def test_queries_among_others_and_alone(text: str, name: str) -> None:
    lists, scores = random_lists(12, 15)
    oracle = worst_orderings(text, MAPS[name][0], lists)
    losses, coefficients = oracle.at(scores)
    some = [7, 2, 11]
    few, of_few = oracle.at(scores, queries=some)
    np.testing.assert_array_equal(few, losses[some])
    rows = np.concatenate([np.arange(lists.offsets[q], lists.offsets[q + 1]) for q in some])
    np.testing.assert_array_equal(of_few, coefficients[rows])
    assert oracle.trains.any() and not oracle.trains.all()
    assert not losses[~oracle.trains].any()
    idle = np.repeat(~oracle.trains, lists.sizes) | np.isnan(lists.labels)
    assert not coefficients[idle].any()
    sums = np.add.reduceat(coefficients, lists.offsets[:-1])
    assert np.abs(sums).max() < 1e-12  # what good documents lose, bad ones gain
    # The truth is one of the orderings, with Δ = 0 and δφ = 0.
    objective = losses - np.add.reduceat(coefficients * scores, lists.offsets[:-1])
    assert (objective >= -1e-12).all() and ((losses >= 0) & (losses <= 1)).all()


@pytest.mark.parametrize(("text", "name"), PAIRS)
def test_rows_in_another_order(text: str, name: str) -> None:
    """Without equal scores, the answer belongs to the documents and not to their rows."""
    random = np.random.default_rng(1)
    labels, scores = (random.random(14) < 0.4).astype(float), random.normal(size=14)
    turn = random.permutation(14)
    chosen = MAPS[name][0]
    losses, coefficients = worst_orderings(text, chosen, one_query(labels)).at(scores)
    turned, of_turned = worst_orderings(text, chosen, one_query(labels[turn])).at(scores[turn])
    assert losses == turned
    np.testing.assert_array_equal(coefficients[turn], of_turned)


@pytest.mark.skipif(JIT_OFF, reason="enough documents for several chunks take plain Python too long")
def test_the_same_bits_at_any_number_of_threads() -> None:
    expected = None
    for n_jobs in (1, 2, 3):
        lists, scores = random_lists(400, 120, n_jobs=n_jobs)
        assert not lists.is_small
        got = worst_orderings("map", "po", lists).at(scores)
        expected = expected or got
        np.testing.assert_array_equal(got[0], expected[0])
        np.testing.assert_array_equal(got[1], expected[1])


def test_thresholds() -> None:
    lists, scores = random_lists(10, 12)
    high = worst_orderings("map", "po", lists, threshold=2).at(scores)
    same = worst_orderings("map(threshold=2)", "po", lists).at(scores)
    binary = Lists(np.where(np.isnan(lists.labels), np.nan, lists.labels >= 2), lists.offsets)
    other = worst_orderings("map", "po", binary).at(scores)
    for one, two, three in zip(high, same, other, strict=True):
        np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(one, three)


def test_large_scores_of_little_difference_keep_it() -> None:
    lists, _ = random_lists(5, 30, seed=3)
    scores = np.round(np.random.default_rng(3).normal(size=len(lists.labels)) * 2**20) / 2**20
    for text in ("map", "auc"):
        here = worst_orderings(text, "po", lists).at(scores)
        there = worst_orderings(text, "po", lists).at(scores + 2.0**30)
        np.testing.assert_array_equal(here[0], there[0])


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ("err", "po", "no worst ordering of err with PartialOrder"),
        ("map", "mrr", "there is one for it with PartialOrder, Decay, LocalOrder"),
        ("dcg", "po", "use ndcg"),
        ("ndcg(discount=1/2)", "po", "rises"),
        ("map(ties=average)", "po", "use ties=input"),
        ("map", "p0", "no feature map 'p0'"),
    ],
)
def test_pairs_without_an_oracle(text: str, name: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        worst_orderings(text, name, one_query([0, 1]))


def test_lists_shorter_than_a_cutoff_that_counts_them_for_nothing_train_nothing() -> None:
    lists = Lists(np.array([0.0, 1.0, 0.0, 1.0, 0.0]), np.array([0, 2, 5]))
    assert worst_orderings("ndcg@3(short=zero)", "po", lists).trains.tolist() == [False, True]


@pytest.mark.parametrize("threshold", [0, -1, float("nan"), "1"])
def test_thresholds_that_part_nothing(threshold: Any) -> None:
    with pytest.raises(InputError, match="lowest label of a good document"):
        worst_orderings("ndcg", "po", one_query([0, 1]), threshold=threshold)


def test_tables_too_large() -> None:
    labels = np.repeat([0.0, 1.0], 50_000)
    with pytest.raises(InputError, match=r"a table of 2.5e\+09 cells"):
        worst_orderings("ndcg", "dorm", one_query(labels))
    worst_orderings("ndcg@10", "dorm", one_query(labels))


def test_scores_and_labels_that_cannot_be_used() -> None:
    oracle = worst_orderings("map", "po", Lists(np.array([0.0, 1.0, 1.0, 0.0]), np.array([0, 2, 4])))
    with pytest.raises(InputError, match="shape"):
        oracle.at([0.0])
    with pytest.raises(InputError, match="row 3: the score is nan"):
        oracle.at([0.0, 1.0, 2.0, np.nan])
    oracle.at([0.0, 1.0, 2.0, np.nan], queries=[0])
    with pytest.raises(InputError, match="row 1: label -1"):
        worst_orderings("auc", "po", one_query([0, -1]))
