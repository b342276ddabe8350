"""Lists and their ranking: levels of labels, ties by id, labels that a measure refuses, means."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwright.measures import measure
from rankwright.measures.lists import PLAIN_IN_ALL, Lists, mean_value, number_labels
from rankwright.runtime.errors import InputError
from rankwright.runtime.kernels import kernel

LABELS = st.sampled_from([0.0, 1.0, 2.0, 7.0, 1023.0, 1024.0, 0.5, -1.0, 1e300, np.inf, np.nan])


@given(st.lists(LABELS, max_size=12))
@settings(max_examples=80, deadline=None)
def test_a_number_leads_back_to_its_label(labels):
    given_labels = np.array(labels, np.float64)
    levels, codes = number_labels(given_labels)
    np.testing.assert_array_equal(levels[codes], given_labels)


def test_labels_refused_by_the_row_of_the_caller():
    rows = np.array([2, 0, 1])
    lists = Lists(np.array([0.0, 1.0, -1.0]), np.array([0, 2, 3]), rows=rows)
    with pytest.raises(InputError, match=r"row 1: label -1 cannot be used by ndcg@10"):
        lists.constants(measure("ndcg@10"))


def test_levels_that_do_not_occur_are_not_refused():
    """The table of levels runs through all whole numbers up to the highest label."""
    lists = Lists(np.array([0.0, 3.0]), np.array([0, 2]))
    assert lists.ranked(np.array([1.0, 2.0])).values(measure("ndcg(gain=0/1/3/7)")).tolist() == [1.0]


def test_judged_labels_are_checked_too():
    lists = Lists(
        np.array([0.0]), np.array([0, 1]), judged=np.array([0.0, 5.0]), judged_offsets=np.array([0, 2])
    )
    with pytest.raises(InputError, match="label 5 cannot be used by err"):
        lists.constants(measure("err"))


def test_documents_that_were_not_retrieved_count_in_the_ideal():
    lists = Lists(
        np.array([1.0]), np.array([0, 1]), judged=np.array([1.0, 1.0]), judged_offsets=np.array([0, 2])
    )
    assert lists.ranked(np.array([0.0])).values(measure("map")).tolist() == [0.5]


def test_queries_without_a_document():
    """A run may lack a judged query, first, last or between."""
    lists = Lists(
        np.array([1.0, 0.0]),
        np.array([0, 0, 2, 2, 2]),
        judged=np.array([1.0, 1.0, 0.0, 0.0, 2.0]),
        judged_offsets=np.array([0, 1, 3, 4, 5]),
    )
    ranked = lists.ranked(np.array([0.5, 0.5]))
    assert ranked.tied.tolist() == [False, True, False, False]
    np.testing.assert_array_equal(ranked.values(measure("mrr")), [0.0, 1.0, np.nan, 0.0])


def test_one_ranking_for_many_scores():
    """The normalisers of queries do not depend on scores and are found once."""
    lists = Lists(np.array([0.0, 1.0]), np.array([0, 2]))
    chosen = measure("mrr")
    first, second = (lists.ranked(np.array(scores)).values(chosen)[0] for scores in ([2.0, 1.0], [1.0, 2.0]))
    assert (first, second) == (0.5, 1.0)


def test_ties_by_document_id_are_by_bytes():
    ids = ["B", "a", "é", "😀", "\ufffd", "b"]
    labels = np.zeros(6)
    labels[3] = 1.0
    lists = Lists(labels, np.array([0, 6]))
    ranked = lists.ranked(np.zeros(6), ids)
    # By UTF-8: 😀 (f0…), \ufffd (ef…), é (c3…), b, a, B. By UTF-16 \ufffd would come first.
    assert ranked.values(measure("mrr(ties=docid)")).tolist() == [1.0]


def test_blank_and_short_queries():
    lists = Lists(np.array([0.0, 1.0, 0.0, 1.0, 0.0]), np.array([0, 1, 3, 5]))
    ranked = lists.ranked(np.arange(5.0))
    np.testing.assert_array_equal(ranked.values(measure("mrr")), [np.nan, 0.5, 0.5])
    assert ranked.values(measure("mrr(blank=1)")).tolist() == [1.0, 0.5, 0.5]
    # A blank query is blank before it is short.
    assert ranked.values(measure("ndcg@3(blank=1, short=zero)")).tolist() == [1.0, 0.0, 0.0]
    assert ranked.values(measure("ndcg@2(blank=0, short=zero)"))[1] > 0


def test_mean_is_exactly_rounded_and_weighted():
    tenths = np.full(10, 0.1)
    assert mean_value(tenths) == 0.1
    assert mean_value(np.array([1.0, 0.0, np.nan]), np.array([3.0, 1.0, 9.0])) == 0.75
    assert np.isnan(mean_value(np.array([np.nan])))
    assert np.isnan(mean_value(np.array([1.0]), np.array([0.0])))


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled with the JIT off")
def test_small_data_evaluated_again_and_again_is_worth_a_compiler(monkeypatch):
    @kernel("float64(float64)", cache=False)
    def half(x: float) -> float:
        return x / 2

    lists = Lists(np.zeros(10), np.array([0, 10]))
    monkeypatch.setattr(Lists, "plain_documents", PLAIN_IN_ALL - 15)
    forms = [lists.forms(half)[0] for _ in range(3)]
    assert forms == [half.plain, half.compiled, half.compiled]


def test_long_lists_and_much_data_are_compiled_for_at_once(monkeypatch):
    monkeypatch.setattr(Lists, "plain_documents", 0)

    def plain(sizes):
        lists = Lists(np.zeros(sum(sizes)), np.concatenate([[0], np.cumsum(sizes)]))
        return lists.stays_plain(never_compiled)

    @kernel("float64(float64)", cache=False)
    def never_compiled(x: float) -> float:
        raise AssertionError

    assert plain([1000]) and not plain([1001])
    assert plain([100] * 500) and not plain([100] * 500 + [1])
