"""Rules for equal scores, against every order of the tied documents."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import evaluation as naive

import rankwright as rw

NAIVE = {
    "ndcg@3": naive.ndcg(3),
    "map": naive.average_precision,
    "mrr": naive.reciprocal_rank,
    "p@2": naive.precision(2),
    "err": naive.expected_reciprocal_rank,
    "pairs": naive.pairs,
}
QUERY = st.lists(
    st.tuples(st.sampled_from([-np.inf, 0.0, 1.0]), st.sampled_from([0.0, 1.0, 2.0, 4.0])),
    min_size=1,
    max_size=6,
)


@given(QUERY)
@settings(max_examples=60, deadline=None)
def test_worst_average_and_best_over_all_orders(query):
    scores, labels = [score for score, _ in query], [label for _, label in query]
    for text, value in NAIVE.items():
        worst, mean, best = naive.over_orders(value, scores, labels)
        given_order = rw.evaluate(scores, labels, text, qid=1)[text]
        np.testing.assert_allclose(given_order.range, (worst, best), rtol=1e-13, atol=1e-15)
        for ties, expected in (("worst", worst), ("average", mean)):
            measure = rw.measure(text).replace(ties=ties)
            found = rw.evaluate(scores, labels, measure, qid=1)[measure].mean
            np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-15, err_msg=f"{measure}")


def test_average_of_a_long_tie_stays_accurate():
    """All of 400 documents tied: RR's mean over orders by the distribution of the first relevant rank."""
    labels = np.zeros(400)
    labels[::40] = 1.0
    expected, none_yet = 0.0, 1.0
    for rank in range(1, 401):
        chance = none_yet * min(1.0, 10 / (401 - rank))
        expected += chance / rank
        none_yet -= chance
    measure = rw.measure("mrr(ties=average)")
    found = rw.evaluate(np.zeros(400), labels, measure, qid=1)[measure].mean
    assert math.isclose(found, expected, rel_tol=1e-12)


def test_ties_by_id_put_the_last_id_first():
    scores, labels, ids = [1, 1, 1, 2], [0, 1, 0, 0], ["d10", "d9", "d2", "d0"]
    result = rw.evaluate(scores, labels, "mrr(ties=docid)", qid=1, documents=ids)
    assert result["mrr(ties=docid)"].mean == 0.5


def test_ties_by_id_need_ids_only_where_scores_are_equal():
    assert rw.evaluate([1, 2], [0, 1], "mrr(ties=docid)", qid=1)["mrr(ties=docid)"].mean == 1.0
    with pytest.raises(rw.InputError, match="the data has none; give documents, or choose another tie rule"):
        rw.evaluate([1, 1], [0, 1], "mrr(ties=docid)", qid=1)


def test_measures_without_a_closed_form_are_refused_by_name():
    with pytest.raises(rw.InputError, match=r"bpref\(ties=average\) cannot be averaged over ties"):
        rw.evaluate([1, 1], [0, 1], "bpref(ties=average)", qid=1)


def test_equal_scores_stand_in_the_order_of_the_rows_given():
    queries = rw.QuerySet(np.zeros((5, 1)), [0, 1, 0, 0, 1], qid=["a", "b", "a", "b", "a"])
    assert rw.evaluate(np.zeros(5), queries, "mrr")["mrr"].per_query.tolist() == [1 / 3, 1.0]


def test_negative_zero_ties_with_zero():
    assert rw.evaluate([0.0, -0.0], [0, 1], "mrr", qid=1)["mrr"].tied == 1


def test_unjudged_documents_are_the_worst_of_a_measure_of_labels(monkeypatch):
    """A user's measure is given labels as they are, unjudged ones as NaN."""
    from rankwright.measures import custom

    monkeypatch.setattr(custom, "REGISTERED", {})

    @rw.measure
    def first(labels):
        return float(labels[0] > 0)

    rankings = rw.Rankings.from_arrays([1, 1, 1], [0, np.nan, 1], qid=1)
    assert rw.evaluate(rankings, measures=first)[first].range == (0.0, 1.0)
