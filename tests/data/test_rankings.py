import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive.queries import grouped

from rankwright import InputError, QuerySet, Rankings


@st.composite
def scored(draw):
    ids = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=12))
    n = len(ids)
    scores = draw(st.lists(st.floats(allow_nan=False), min_size=n, max_size=n))
    labels = draw(st.lists(st.sampled_from([0.0, 1.0, float("nan")]), min_size=n, max_size=n))
    return ids, scores, labels


@given(scored())
def test_scores_and_labels_lie_by_query(data):
    ids, scores, labels = data
    names = [f"d{row}" for row in range(len(ids))]
    queries = QuerySet(np.zeros((len(ids), 1)), labels, qid=ids, documents=names)
    order = [row for rows in grouped(ids).values() for row in rows]
    for rankings in (
        Rankings.of(queries, scores),
        Rankings.from_arrays(scores, labels, qid=ids, documents=names),
    ):
        assert rankings.query_ids == tuple(grouped(ids))
        assert np.diff(rankings.offsets).tolist() == [len(rows) for rows in grouped(ids).values()]
        np.testing.assert_array_equal(rankings.scores, [scores[row] for row in order])
        np.testing.assert_array_equal(rankings.labels, [labels[row] for row in order])
        np.testing.assert_array_equal(rankings.judged, rankings.labels)
        assert rankings.documents == tuple(names[row] for row in order)
        assert (range(len(ids)) if rankings.rows is None else rankings.rows.tolist()) == (
            range(len(ids)) if order == list(range(len(ids))) else order
        )


def test_a_selections_scores_come_in_the_callers_order():
    queries = QuerySet(np.zeros((4, 1)), [0, 1, 2, 3], qid=["a", "b", "c", "a"]).select([2, 0])
    # The caller's rows of these queries are 0, 2 and 3.
    rankings = Rankings.of(queries, [0.5, 2.5, 3.5])
    assert (rankings.query_ids, rankings.scores.tolist()) == (("c", "a"), [2.5, 0.5, 3.5])
    assert rankings.labels.tolist() == [2, 0, 3]


def test_weights_and_parts_stay_with_their_queries():
    one = Rankings.from_arrays([1, 2, 3], [0, 1, 0], qid=["a", "b", "a"]).weighted({"a": 2, "b": 5})
    other = Rankings.from_arrays([4], [1], qid="c").weighted([7])
    joined = Rankings.joined([one, other])
    assert joined.query_ids == ("a", "b", "c")
    assert joined.query_weight.tolist() == [2, 5, 7]
    assert joined.scores.tolist() == [1, 3, 2, 4]
    assert joined.offsets.tolist() == joined.judged_offsets.tolist() == [0, 2, 3, 4]


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([1], r"the scores have shape \(1,\) for 2 rows; give one a row"),
        ([[1], [2]], r"the scores have shape \(2, 1\)"),
        ([1, float("nan")], "row 1: the score is NaN, which has no place in an order"),
        ([1, "high"], "row 1: the scores hold 'high', which is not a number"),
    ],
)
def test_scores_that_make_no_order_are_refused(scores, message):
    with pytest.raises(InputError, match=message):
        Rankings.of(QuerySet([[0], [0]], [0, 1], qid=[1, 2]), scores)
    with pytest.raises(InputError, match=message):
        Rankings.from_arrays(scores, [0, 1], qid=[1, 2])


def test_data_without_labels_cannot_be_evaluated():
    with pytest.raises(InputError, match="the data has no labels; evaluation needs one a row"):
        Rankings.of(QuerySet([[0]], qid=1), [1])
