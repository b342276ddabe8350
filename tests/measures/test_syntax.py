"""Measures are written as they are read."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from tests import strategies

from rankwright import InputError
from rankwright.measures import AveragePrecision, Measure, ReciprocalRank, measure


@settings(max_examples=300)
@given(strategies.measures())
def test_every_measure_reads_what_it_writes(chosen: Measure) -> None:
    read = measure(repr(chosen))
    assert read == chosen
    assert repr(read) == repr(chosen) == str(chosen)


@pytest.mark.parametrize(
    "text",
    [
        "ndcg@10",
        "ndcg",
        "dcg@10",
        "map",
        "ap@100",
        "mrr",
        "rr@10",
        "err@20",
        "p@5",
        "recall@10",
        "wta",
        "pairs",
        "auc",
        "bpref",
        "rbp(p=0.9)",
        "ndcg@10(gain=linear, blank=0, ties=average)",
        "ndcg(gain=0/3/7/15/31)",
        "ap@10(denominator=min(R,k), ties=worst)",
        "ndcg@10(gain=linear, discount=zipf)",
        "map(threshold=2)",
        "ndcg(gain=5/)",
    ],
)
def test_canonical_text_stays(text: str) -> None:
    assert repr(measure(text)) == text


def test_names_for_the_whole_list_and_for_its_top() -> None:
    assert measure("map@10") == AveragePrecision(k=10) and repr(measure("map@10")) == "ap@10"
    assert measure("ap") == AveragePrecision() and repr(measure("ap")) == "map"
    assert repr(measure("mrr@5")) == "rr@5" and measure("rr") == ReciprocalRank()


def test_numbers_of_numpy_are_numbers() -> None:
    made = AveragePrecision(k=np.int64(10), threshold=np.float32(2))
    assert made == AveragePrecision(k=10, threshold=2) and repr(made) == "ap@10(threshold=2)"


def test_spaces_and_capitals_do_not_matter() -> None:
    assert measure(" NDCG@10 ( gain = linear ) ") == measure("ndcg@10(gain=linear)")


def test_a_measure_is_its_own_measure() -> None:
    assert measure(measure("ndcg@10")) == measure("ndcg@10")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is not a measure"),
        ("ndcg@10)", "cut-off '10\\)' is not"),
        ("@10", "is not a measure"),
        ("nddcg", "no measure 'nddcg'; did you mean ndcg"),
        ("precision@5", "no measure 'precision'"),
        ("ndcg@", "cut-off '' is not a whole number"),
        ("ndcg@0", "cut-off '0' is not a whole number of at least 1"),
        ("ndcg@ten", "cut-off 'ten'"),
        ("ndcg@-1", "cut-off '-1'"),
        ("wta@3", "takes no cut-off"),
        ("ndcg(gian=linear)", "no parameter 'gian'; did you mean gain"),
        ("ndcg(normalised=0)", "no parameter 'normalised'"),
        ("map(gain=linear)", "no parameter 'gain'"),
        ("ndcg(linear)", "'linear' is not a parameter"),
        ("ndcg(blank=0, blank=1)", "blank is given twice"),
        ("ndcg(k=3)", "no parameter 'k'"),
        ("ndcg:trec", "no convention 'trec'"),
        ("rbp:trec_eval", "trec_eval has no"),
    ],
)
def test_what_cannot_be_read(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        measure(text)


def test_parameters_do_not_go_beside_a_text() -> None:
    with pytest.raises(InputError, match="write its parameters as in"):
        measure("ndcg", blank=0)  # type: ignore[call-overload]
