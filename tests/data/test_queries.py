import copy
import datetime
import itertools
import pickle
import uuid

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive.queries import grouped

from rankwright import InputError, QuerySet
from rankwright.data.queries import keep_documents
from rankwright.runtime.arrays import group

IDS = st.one_of(
    st.integers(-3, 3),
    st.sampled_from(["a", "b", "1", ""]),
    st.booleans(),
    st.sampled_from([1.0, 0.5, (1, "x"), b"1", datetime.date(2005, 8, 7), uuid.UUID(int=7)]),
)


@st.composite
def query_sets(draw):
    """A query set with everything in it, and what it was made of."""
    ids = draw(st.lists(st.sampled_from("abcde"), min_size=1, max_size=12))
    n = len(ids)
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    weights = {query: float(number) for number, query in enumerate(sorted(set(ids)))}
    given = {
        "X": rng.integers(0, 9, (n, 2)).astype(np.float32),
        "y": rng.integers(0, 3, n).astype(float),
        "qid": ids,
        "documents": [f"d{row}" for row in range(n)],
        "sample_weight": rng.random(n),
        "positions": rng.integers(1, 9, n).astype(float),
        "query_weight": [weights[query] for query in ids],
        "feature_names": ["bm25", "pagerank"],
    }
    return QuerySet(**given), given


@given(st.lists(IDS, min_size=1, max_size=30))
def test_rows_come_together_as_in_the_naive_twin(ids):
    expected = grouped(ids)
    offsets, query_ids, rows = group(ids, len(ids))
    assert query_ids == tuple(expected)
    assert [type(query) for query in query_ids] == [type(query) for query in expected]
    order = np.arange(len(ids)) if rows is None else rows
    assert [order[a:b].tolist() for a, b in itertools.pairwise(offsets)] == list(expected.values())
    assert (rows is None) == (list(order) == list(range(len(ids))))


@pytest.mark.parametrize(
    "ids",
    [
        [3, 1, 3, 2],
        [0.5, 1.5, 0.5, 2.5],
        ["b", "a", "b", "c"],
        [b"b", b"a", b"b", b"c"],
        [True, False, True, False],
    ],
)
def test_ids_in_any_container_group_alike(ids):
    expected = group(ids, 4)
    containers = [
        tuple(ids),
        np.array(ids),
        np.array(ids, object),
        pd.Series(ids),
        pl.Series(ids),
        pa.array(ids),
    ]
    for container in containers:
        offsets, query_ids, rows = group(container, 4)
        assert query_ids == expected[1]
        assert [type(query) for query in query_ids] == [type(query) for query in expected[1]]
        assert offsets.tolist() == expected[0].tolist()
        assert rows.tolist() == expected[2].tolist()


def test_numpy_scalars_in_a_list_are_plain_ids():
    assert [type(query) for query in group([np.int64(1), np.str_("a")], 2)[1]] == [int, str]


def test_dates_stay_dates():
    days = np.array(["2005-08-07", "2005-08-08", "2005-08-07"], "datetime64[ns]")
    assert group(days, 3)[1] == (np.datetime64("2005-08-07"), np.datetime64("2005-08-08"))


def test_numbers_and_their_text_are_different_queries_and_equal_values_the_same():
    assert group([1, "1", True, 1.0], 4)[1] == (1, "1")


@pytest.mark.parametrize("one", ["q", b"q", 7, 7.5, np.int64(7), np.array(7), uuid.UUID(int=7), True])
def test_a_single_id_means_one_query(one):
    offsets, query_ids, rows = group(one, 3)
    assert (offsets.tolist(), len(query_ids), rows) == ([0, 3], 1, None)
    assert not isinstance(query_ids[0], np.generic)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([1, None, 2], "row 1: qid is missing"),
        ([1.0, 2.0, float("nan")], "row 2: qid is missing"),
        (np.array([1.0, np.nan, 2.0]), "row 1: qid is missing"),
        (np.array(["2005-08-07", "NaT", "NaT"], "datetime64[D]"), "row 1: qid is missing"),
        (pd.Series(["a", None, "b"]), "row 1: qid is missing"),
        (pd.array([1, 2, None], dtype="Int64"), "row 2: qid is missing"),
        ([1, [2], 3], r"row 1: the query id \[2\] is a list"),
        ([1, 5], r"qid has shape \(2,\) for 3 rows; give one query id a row(?!;)"),
        ([1, 2], "for the sizes of groups, qid=np.repeat"),
        (np.ones((3, 1)), r"qid has shape \(3, 1\) for 3 rows"),
        (None, "qid is None"),
        (float("nan"), "row 0: qid is missing"),
        ({1, 2, 3}, "qid has shape"),
        ((query for query in "abc"), "qid has shape"),
    ],
)
def test_ids_that_cannot_be_used_are_refused(ids, message):
    with pytest.raises(InputError, match=message):
        group(ids, 3)


def test_no_rows_are_refused():
    with pytest.raises(InputError, match="there are no rows"):
        QuerySet(np.empty((0, 3)), qid=[])


@given(query_sets())
def test_stored_rows_are_the_rows_given(made):
    queries, given_ = made
    stored = queries.rows if queries.rows is not None else np.arange(len(queries))
    assert np.array_equal(queries.features, given_["X"][stored])
    assert np.array_equal(queries.labels, given_["y"][stored])
    assert queries.documents == tuple(given_["documents"][row] for row in stored)
    assert [queries.query_ids[q] for q in np.repeat(np.arange(queries.n_queries), queries.sizes)] == [
        given_["qid"][row] for row in stored
    ]
    assert queries.in_given_order(queries.features).tolist() == given_["X"].tolist()
    assert queries.in_stored_order(given_["sample_weight"]).tolist() == queries.sample_weight.tolist()
    assert len(queries) == queries.offsets[-1] == sum(rows.stop - rows.start for rows in queries.slices())


@given(query_sets(), st.data())
def test_a_selection_is_the_query_set_of_its_rows(made, data):
    queries, given_ = made
    chosen = data.draw(st.lists(st.integers(0, queries.n_queries - 1), min_size=1, unique=True))
    selection = queries.select(chosen)
    ids = [queries.query_ids[number] for number in chosen]
    assert selection.query_ids == tuple(ids)
    kept = [row for row, query in enumerate(given_["qid"]) if query in ids]
    rebuilt = QuerySet(
        given_["X"][kept],
        given_["y"][kept],
        feature_names=given_["feature_names"],
        **{name: [given_[name][row] for row in kept] for name in ("qid", "documents", "query_weight")},
        **{name: given_[name][kept] for name in ("sample_weight", "positions")},
    )
    assert selection.in_given_order(selection.features).tolist() == given_["X"][kept].tolist()
    assert selection.by_ids(rebuilt.query_ids).equals(rebuilt)
    mask = np.isin(np.arange(queries.n_queries), chosen)
    assert queries.select(mask).equals(queries.select(sorted(chosen)))
    assert queries.by_ids(ids).equals(selection)


@given(query_sets())
def test_selections_compose(made):
    queries, _ = made
    order = np.random.default_rng(0).permutation(queries.n_queries)
    back = np.argsort(order)
    assert queries.select(order).select(back).equals(queries)
    assert queries.select(slice(None)).equals(queries)
    assert queries.select(slice(None, None, -1)).query_ids == queries.query_ids[::-1]
    assert queries.select([-1]).query_ids == queries.query_ids[-1:]


def test_a_slice_of_rows_that_stand_together_shares_memory():
    queries = QuerySet(np.zeros((6, 2), np.float32), qid=[1, 1, 2, 2, 3, 3])
    assert np.shares_memory(queries.select(slice(1, 3)).features, queries.features)
    assert queries.select(slice(1, 3)).rows is None


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ([], "the selection is empty"),
        ([0, 0], "selected twice"),
        ([-1, 2], "selected twice"),
        ([3], "no query number 3; numbers go from 0 to 2"),
        ([-4], "no query number -4"),
        ([True, False], "mask has shape"),
        ([0.5], "by their numbers, a mask or a slice"),
        (["a"], "by_ids takes their ids"),
        (1, "by their numbers"),
    ],
)
def test_selections_that_make_no_sense_are_refused(chosen, message):
    with pytest.raises(InputError, match=message):
        QuerySet(np.zeros((3, 1)), qid=["a", "b", "c"]).select(chosen)


def test_unknown_ids_are_refused_and_one_text_is_one_id():
    queries = QuerySet(np.zeros((2, 1)), qid=["ab", "cd"])
    assert queries.by_ids("cd").query_ids == ("cd",)
    with pytest.raises(InputError, match="there is no query 'x'; ids here are like 'ab'"):
        queries.by_ids(["ab", "x"])


@given(st.integers(2, 40), st.floats(0.05, 0.95), st.integers(0, 5))
def test_a_split_divides_the_queries(n, fraction, seed):
    queries = QuerySet(np.zeros((n, 1)), qid=np.arange(n))
    if not 0 < round(fraction * n) < n:
        with pytest.raises(InputError, match="leaves one part empty"):
            queries.split(fraction, seed)
        return
    first, rest = queries.split(fraction, seed)
    assert first.n_queries == round(fraction * n)
    assert sorted(first.query_ids + rest.query_ids) == list(range(n))
    assert list(first.query_ids) == sorted(first.query_ids)
    assert queries.split(fraction, seed)[0].equals(first)


def test_other_seeds_split_otherwise():
    queries = QuerySet(np.zeros((30, 1)), qid=np.arange(30))
    assert len({queries.split(0.5, seed)[0].query_ids for seed in range(5)}) == 5


@pytest.mark.parametrize("fraction", [0, 1, -0.5, 2, float("nan")])
def test_a_split_needs_a_fraction(fraction):
    with pytest.raises(InputError, match="give a fraction between 0 and 1"):
        QuerySet(np.zeros((3, 1)), qid=[1, 2, 3]).split(fraction)


@given(st.integers(2, 20), st.data())
def test_each_query_is_tested_in_one_fold(n, data):
    folds = data.draw(st.integers(2, n))
    tested = []
    for train, test in QuerySet(np.zeros((n, 1)), qid=np.arange(n)).folds(folds):
        assert sorted(train.query_ids + test.query_ids) == list(range(n))
        assert n // folds <= test.n_queries <= -(-n // folds)
        tested += test.query_ids
    assert sorted(tested) == list(range(n))


@pytest.mark.parametrize("n", [1, 4])
def test_as_many_folds_as_queries_at_most(n):
    with pytest.raises(InputError, match=f"{n} folds of 3 queries cannot be made; give 2 to 3"):
        QuerySet(np.zeros((3, 1)), qid=[1, 2, 3]).folds(n)


def test_only_a_float32_matrix_in_order_is_shared_and_nothing_can_be_written():
    X, y = np.zeros((3, 2), np.float32), np.zeros(3)
    queries = QuerySet(X, y, qid=[1, 1, 2], sample_weight=y, query_weight=y[:2], positions=y)
    assert np.shares_memory(queries.features, X)
    for values in (queries.labels, queries.sample_weight, queries.query_weight, queries.positions):
        assert not np.shares_memory(values, y)
    for values in (queries.features, queries.labels, queries.offsets):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 1
    assert X.flags.writeable
    with pytest.raises(AttributeError):
        queries.labels = y
    assert not np.shares_memory(QuerySet(X, qid=[1, 2, 1]).features, X)


@given(query_sets())
@settings(max_examples=20)
def test_pickles_and_copies_are_the_same_and_locked(made):
    queries, _ = made
    for again in (pickle.loads(pickle.dumps(queries)), copy.deepcopy(queries)):
        assert again.equals(queries)
        assert not again.features.flags.writeable
        assert not again.labels.flags.writeable


def test_equals_sees_every_difference():
    def made(**changes):
        given_ = {
            "X": [[1.0, np.nan], [2, 3]],
            "y": [0, np.nan],
            "qid": [1, 2],
            "documents": ["a", "b"],
            "feature_names": ["f", "g"],
            "sample_weight": [1, 2],
            "query_weight": [1, 2],
            "positions": [1, 2],
        }
        return QuerySet(**(given_ | changes))

    assert made().equals(made())
    differences = {
        "X": [[1.0, np.nan], [2, 4]],
        "y": [0, 1],
        "qid": ["1", "2"],
        "documents": ["a", "c"],
        "feature_names": ["f", "h"],
        "sample_weight": None,
        "query_weight": [2, 2],
        "positions": [1, np.nan],
    }
    for name, value in differences.items():
        assert not made().equals(made(**{name: value})), name
    reordered = QuerySet([[0], [0], [0]], qid=[1, 2, 1])
    assert not reordered.equals(QuerySet([[0], [0], [0]], qid=[1, 1, 2]))


def test_features_of_many_kinds_are_taken():
    expected = [[1.0, 0.0], [np.nan, 2.5]]
    for X in (
        [[1, 0], [None, 2.5]],
        np.array([[1, 0], [np.nan, 2.5]]),
        np.array([[1, False], [None, 2.5]], object),
        pd.DataFrame({"a": [1, None], "b": [0, 2.5]}),
        pd.DataFrame({"a": [1, None], "b": [0, 2.5]}).convert_dtypes(),
        pl.DataFrame({"a": [1, None], "b": [0.0, 2.5]}),
        scipy.sparse.csr_matrix(np.array([[1, 0], [np.nan, 2.5]])),
        np.array([[1, 0], [np.nan, 2.5]], order="F"),
    ):
        queries = QuerySet(X, qid=1)
        np.testing.assert_array_equal(queries.features, expected)
        assert queries.features.flags.c_contiguous
    assert QuerySet(pd.DataFrame({"a": [1], "b": [2]}), qid=1).feature_names == ("a", "b")
    assert QuerySet(pd.DataFrame({"a": [1], 2: [2]}), qid=1).feature_names is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X": [[0.0], [np.inf], [0]]}, "row 1, feature 0: the value inf is infinite"),
        ({"X": [[0.0], [0], [1e39]]}, r"row 2, feature 0: the value 1e\+39 is infinite as a float32"),
        ({"X": [[0], ["a"], [1]]}, "row 1, feature 0: the features hold 'a', which is not a number"),
        ({"X": [["0.5"], ["1"], ["2"]]}, "row 0, feature 0: the features hold '0.5'"),
        ({"X": [0, 1, 2]}, r"the features have 1 dimension\(s\)"),
        ({"X": [[0], [1, 2], [3]]}, "the features"),
        ({"X": np.zeros((3, 1), complex)}, "row 0, feature 0"),
        ({"y": [0, 1]}, r"labels have shape \(2,\) for 3 rows"),
        ({"y": [[0], [1], [2]]}, r"labels have shape \(3, 1\) for 3 rows"),
        ({"y": [0, np.inf, 1]}, "row 1: labels hold an infinite value"),
        ({"y": [0, 1, "good"]}, "row 2: labels hold 'good', which is not a number"),
        ({"y": ["1", "0", "2"]}, "row 0: labels hold '1'"),
        ({"positions": [1, 2]}, "positions have shape"),
        ({"documents": ["a", "b"]}, "there are 2 document ids for 3 rows"),
        ({"documents": ["a", None, "b"]}, "row 1: the document id is missing"),
        ({"feature_names": ["a", "b"]}, "there are 2 feature names for 1 features"),
        ({"X": np.zeros((3, 2)), "feature_names": ["a", "a"]}, "two features are named 'a'"),
        ({"sample_weight": [1, -1, 1]}, "row 1: sample_weight is -1; weights are finite"),
        ({"sample_weight": [1, 1, np.nan]}, "row 2: sample_weight is nan"),
        ({"sample_weight": [1, 1]}, "sample_weight has shape"),
        ({"query_weight": [1, np.inf]}, "query 'b': query_weight is inf"),
        ({"query_weight": [1, -1]}, "query 'b': query_weight is -1"),
        ({"query_weight": [1, 2, 3]}, "row 2: query_weight differs from that of another row of its query"),
        ({"query_weight": [1, 1, 1, 1]}, r"give one weight a query \(2\) or one a row \(3\)"),
        ({"query_weight": {"a": 1}}, "query 'b' has no weight"),
        ({"query_weight": [np.nan, 1, np.nan]}, "query 'a': query_weight is nan"),
    ],
)
def test_bad_input_is_refused_with_its_place_in_the_callers_order(changes, message):
    given_ = {"X": [[0], [1], [2]], "y": [0, 1, 2], "qid": ["a", "b", "a"]}
    with pytest.raises(InputError, match=message):
        QuerySet(**(given_ | changes))


def test_weights_of_queries_may_come_in_three_forms():
    for weights in ([2, 5], [2, 5, 2], {"b": 5, "a": 2, "c": 9}):
        assert QuerySet([[0]] * 3, qid=["a", "b", "a"], query_weight=weights).query_weight.tolist() == [2, 5]


@given(query_sets())
@settings(max_examples=20)
def test_with_weights_equals_making_it_so(made):
    queries, given_ = made
    bare = QuerySet(**(given_ | {"sample_weight": None, "query_weight": None}))
    weights = {"sample_weight": given_["sample_weight"], "query_weight": given_["query_weight"]}
    assert bare.with_weights(**weights).equals(queries)
    assert queries.with_weights().equals(queries)


@given(query_sets(), st.data())
def test_keeping_documents_equals_making_it_of_those(made, data):
    queries, given_ = made
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=len(queries), max_size=len(queries))))
    if not kept.any():
        with pytest.raises(InputError, match="no document is left"):
            keep_documents(queries, kept)
        return
    left = keep_documents(queries, kept)
    rows = np.flatnonzero(queries.in_given_order(kept))
    rebuilt = QuerySet(
        given_["X"][rows],
        given_["y"][rows],
        feature_names=given_["feature_names"],
        **{name: [given_[name][row] for row in rows] for name in ("qid", "documents", "query_weight")},
        **{name: given_[name][rows] for name in ("sample_weight", "positions")},
    )
    # Queries keep their order, which may not be that of the first rows left.
    assert left.by_ids(rebuilt.query_ids).equals(rebuilt)
