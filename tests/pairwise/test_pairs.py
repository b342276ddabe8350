import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import networks as naive

from rankwright.pairwise.pairs import by_label, pairs_of_labels, pairs_of_preferences
from rankwright.runtime.errors import InputError

labels = st.lists(st.sampled_from([0.0, 1.0, 2.0, 0.5, np.nan]), min_size=1, max_size=8)
QUERIES = np.array([0, 3, 5])


@given(st.lists(labels, min_size=1, max_size=3), st.booleans())
def test_pairs_are_those_of_the_papers(queries, ties):
    offsets = np.concatenate([[0], np.cumsum([len(query) for query in queries])])
    weights = np.random.default_rng(0).uniform(0, 2, offsets[-1])
    found = pairs_of_labels(np.concatenate(queries), offsets, ties=ties, weights=weights)
    for number, query in enumerate(queries):
        own = slice(found.offsets[number], found.offsets[number + 1])
        pairs = {
            (int(i - offsets[number]), int(j - offsets[number]), float(t))
            for i, j, t in zip(found.better[own], found.worse[own], found.targets[own], strict=True)
        }
        expected = naive.pairs_of(query, ties)
        tied = {frozenset(pair[:2]) for pair in expected if pair[2] == 0.5}
        assert {pair for pair in pairs if pair[2] == 1} == {pair for pair in expected if pair[2] == 1}
        assert {frozenset(pair[:2]) for pair in pairs if pair[2] == 0.5} == tied
        assert own.stop - own.start == len(expected)
    np.testing.assert_allclose(found.weights, weights[found.better] * weights[found.worse], rtol=1e-6)
    assert len(found) == len(found.better)


@given(labels)
def test_documents_by_label(query):
    query = np.array(query)
    rows, ends = by_label(query)
    assert sorted(rows) == np.flatnonzero(~np.isnan(query)).tolist()
    for at, row in enumerate(rows):
        assert (query[rows[: ends[at]]] >= query[row]).all() and (query[rows[ends[at] :]] < query[row]).all()


def test_2005s_count_of_pairs():
    """Section 5.1: the sum over levels j of nⱼ times the number of documents below."""
    query = np.repeat([0.0, 1.0, 2.0, 3.0], [5, 3, 2, 4])
    assert len(pairs_of_labels(query, np.array([0, 14]))) == 3 * 5 + 2 * 8 + 4 * 10


def test_preferences_of_all_forms():
    given_rows = [(0, 1), (3, 4, 0.75), (2, 1, 0.0, 2.0)]
    found = pairs_of_preferences(given_rows, QUERIES)
    assert found.offsets.tolist() == [0, 2, 3]
    assert list(zip(found.better, found.worse, strict=True)) == [(0, 1), (2, 1), (3, 4)]
    assert found.targets.tolist() == [1, 0, 0.75]
    assert found.weights.tolist() == [1, 2, 1]


def test_preferences_name_rows_as_they_were_given():
    rows = np.array([4, 0, 2, 3, 1])  # stored row 0 was given as row 4, …
    found = pairs_of_preferences(np.array([(4, 2), (3, 1)]), QUERIES, rows)
    assert found.better.tolist() == [0, 3] and found.worse.tolist() == [2, 4]


def test_weights_of_documents_multiply_those_of_preferences():
    weights = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    assert pairs_of_preferences([(0, 2, 1, 0.5)], QUERIES, weights=weights).weights.tolist() == [1.5]


@pytest.mark.parametrize(
    ("preferences", "message"),
    [
        ([], "no preferences"),
        ([(0, 1), (0, 7)], "preference 1: there is no document 7; documents are named by their rows, 0 to 4"),
        ([(-1, 0)], "no document -1"),
        ([(0.5, 1)], "no document 0.5"),
        ([(np.nan, 1)], "no document nan"),
        ([(1, 1)], "preferred to itself"),
        ([(0, 3)], "different queries"),
        ([(0, 1, 1.5)], "1.5 is not a probability"),
        ([(0, 1, -0.1)], "not a probability"),
        ([(0, 1, np.nan)], "not a probability"),
        ([(0, 1, 1.0, -1.0)], "weight"),
        ([(0, 1, 1.0, np.inf)], "weight"),
        ([(0,)], "shape"),
        ([0, 1], "shape"),
        ([("a", "b")], "no table of numbers"),
        ([(0, 1), (0, 1, 2, 3, 4)], "no table of numbers"),
    ],
)
def test_refuses_what_is_no_preference(preferences, message):
    with pytest.raises(InputError, match=message):
        pairs_of_preferences(preferences, QUERIES)
