import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.naive import preparation as naive
from tests.shared import shared_data

from rankwright import InputError, QuerySet, read_letor
from rankwright.data import preparation

NAN = float("nan")
WIDTH = 3


VALUES = st.sampled_from([0.0, 1.0, 2.0, 5.0, -3.0, 0.25, None])
COUNTS = st.sampled_from([0.0, 1.0, 2.0, 40.0, None])


@st.composite
def small_queries(draw, values=VALUES):
    """Queries in the naive twin's form."""
    document = st.tuples(
        st.lists(values, min_size=WIDTH, max_size=WIDTH), st.sampled_from([0.0, 1.0, 2.0, None])
    )
    return draw(st.lists(st.lists(document, min_size=1, max_size=6), min_size=1, max_size=4))


def query_set(queries):
    documents = [document for query in queries for document in query]
    ids = [number for number, query in enumerate(queries) for _ in query]
    labels = [label for _, label in documents]
    features = np.array([values for values, _ in documents], np.float64).reshape(len(documents), WIDTH)
    return QuerySet(features, labels, qid=ids)


def as_lists(queries):
    def known(value):
        return None if np.isnan(value) else float(value)

    return [
        [
            ([known(value) for value in values], known(label))
            for values, label in zip(queries.features[rows], queries.labels[rows], strict=True)
        ]
        for rows in queries.slices()
    ]


def assert_alike(found, expected):
    """Equal but for the rounding to float32."""
    as_set = query_set(expected)
    np.testing.assert_allclose(found.features, as_set.features, rtol=2e-7, atol=1e-12)
    np.testing.assert_array_equal(found.labels, as_set.labels)
    assert found.offsets.tolist() == as_set.offsets.tolist()


@given(small_queries())
def test_scaling_and_standardising_within_queries(queries):
    given_ = query_set(queries)
    scaled = preparation.scale_within_queries(given_)
    assert_alike(scaled, naive.within_queries(queries, naive.scale))
    assert_alike(
        preparation.standardise_within_queries(given_), naive.within_queries(queries, naive.standardise)
    )
    known = scaled.features[~np.isnan(scaled.features)]
    assert ((known >= 0) & (known <= 1)).all()


@given(
    st.lists(st.floats(-(2.0**127), 2.0**127, width=32), min_size=2, max_size=20),
    st.sampled_from([preparation.scale_within_queries, preparation.standardise_within_queries]),
)
def test_values_of_any_size_scale_and_standardise(values, prepare):
    prepared = prepare(QuerySet(np.array(values)[:, None], qid=1)).features.ravel()
    assert np.isfinite(prepared).all()
    if min(values) == max(values):
        assert (prepared == 0).all()
    elif prepare is preparation.scale_within_queries:
        assert (prepared.min(), prepared.max()) == (0, 1)
    else:
        assert prepared.mean(dtype=np.float64) == pytest.approx(0, abs=1e-6)
        assert prepared.std(dtype=np.float64) == pytest.approx(1, abs=1e-6)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.integers(1, 9))
def test_blocks_of_queries_make_no_difference(sizes, block):
    rng = np.random.default_rng(len(sizes))
    X = rng.random((sum(sizes), 2))
    queries = QuerySet(X, qid=np.repeat(np.arange(len(sizes)), sizes))
    whole = preparation.scale_within_queries(queries)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(preparation, "BLOCK", block)
        assert preparation.scale_within_queries(queries).equals(whole)


@given(small_queries(COUNTS))
def test_logs_of_counts(queries):
    given_ = query_set(queries)
    counts = naive.count_features(queries)
    assert preparation.count_features(given_) == tuple(counts)
    assert_alike(preparation.log_counts(given_), naive.log_counts(queries, counts))
    assert_alike(preparation.log_counts(given_, [1]), naive.log_counts(queries, [1]))
    assert preparation.log_counts(given_, []).equals(given_)


def test_what_is_no_count_is_refused_by_the_callers_row():
    queries = QuerySet([[0, 1], [2, 3], [0, -5]], qid=["a", "b", "a"])
    assert preparation.count_features(queries) == (0,)
    with pytest.raises(InputError, match="row 2, feature 1: -5 is no count"):
        preparation.log_counts(queries, [0, 1])
    with pytest.raises(InputError, match="there is no feature 2; their numbers go from 0 to 1"):
        preparation.log_counts(queries, [2])


@given(small_queries())
def test_documents_without_any_feature_are_dropped(queries):
    expected = naive.drop_zero_documents(queries)
    if not expected:
        with pytest.raises(InputError, match="no document is left"):
            preparation.drop_zero_documents(query_set(queries))
        return
    assert as_lists(preparation.drop_zero_documents(query_set(queries))) == expected


@given(small_queries(), st.sampled_from([0.0, 0.5, 0.9, 0.99]), st.sampled_from([1, 2]), st.integers(1, 30))
def test_contradictions_are_dropped_on_both_sides(queries, cosine, relevant, pairs):
    cosines = [
        naive.cosine_of(first, second) for query in queries for first, _ in query for second, _ in query
    ]
    # Beside the bound rounding decides.
    assume(all(abs(found - cosine) > 1e-9 for found in cosines))
    expected = naive.drop_contradictions(queries, cosine, relevant)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(preparation, "PAIRS_AT_ONCE", pairs)
        if not expected:
            with pytest.raises(InputError, match="no document is left"):
                preparation.drop_contradictions(query_set(queries), cosine, relevant)
            return
        found = preparation.drop_contradictions(query_set(queries), cosine, relevant)
    assert as_lists(found) == expected


def test_ohsumed_is_left_with_as_many_good_documents_as_in_2008():
    parts = [read_letor(shared_data("ohsumed-letor2") / f"S{number}.txt") for number in range(1, 6)]
    ohsumed = QuerySet(
        np.concatenate([part.features for part in parts]),
        np.concatenate([part.labels for part in parts]),
        qid=np.concatenate([np.repeat(part.query_ids, part.sizes) for part in parts]),
    )
    assert (ohsumed.n_queries, len(ohsumed), (ohsumed.labels >= 1).sum()) == (106, 16_140, 4_837)
    prepared = preparation.prepare_2008(ohsumed)
    assert (prepared.labels >= 1).sum() == 1_493


@given(st.integers(0, 50), st.sampled_from([0.0, 0.02, 0.1, 0.5, 1.0]), st.integers(0, 3))
def test_a_share_of_the_unlabelled_documents_becomes_examples(unlabelled, share, seed):
    labels = np.concatenate([[2.0, 0.0], np.full(unlabelled, NAN)])
    queries = QuerySet(np.arange(len(labels))[:, None], labels, qid=np.arange(len(labels)) % 3)
    sampled = preparation.sample_unlabelled(queries, share, label=-1, random_state=seed)
    assert (sampled.labels == -1).sum() == round(share * unlabelled)
    assert not np.isnan(sampled.labels).any()
    assert sorted(sampled.labels[sampled.labels >= 0]) == [0, 2]
    assert len(set(sampled.features.ravel())) == len(sampled)
    assert sampled.equals(preparation.sample_unlabelled(queries, share, label=-1, random_state=seed))


def test_every_unlabelled_document_can_be_drawn():
    queries = QuerySet(np.arange(10)[:, None], [NAN] * 10, qid=1)
    drawn = {
        float(preparation.sample_unlabelled(queries, 0.1, random_state=seed).features[0, 0])
        for seed in range(100)
    }
    assert drawn == set(range(10))


@given(small_queries(), st.sampled_from([0.5, 1, 2]))
def test_labels_become_binary(queries, threshold):
    expected = [
        [(values, None if label is None else float(label >= threshold)) for values, label in query]
        for query in queries
    ]
    assert as_lists(preparation.binarise(query_set(queries), threshold)) == expected


def test_a_threshold_that_is_no_number_is_refused():
    with pytest.raises(InputError, match="threshold is nan; it is the lowest label that becomes 1"):
        preparation.binarise(QuerySet([[0]], [1], qid=1), float("nan"))


@pytest.mark.parametrize(
    "prepare",
    [preparation.binarise, preparation.drop_contradictions, preparation.sample_unlabelled],
)
def test_what_needs_labels_says_so(prepare):
    with pytest.raises(InputError, match="the data has no labels; give one a row"):
        prepare(QuerySet([[1]], qid=1))


@pytest.mark.parametrize("share", [-0.1, 1.1, NAN])
def test_a_share_is_a_fraction(share):
    with pytest.raises(InputError, match="a fraction between 0 and 1"):
        preparation.sample_unlabelled(QuerySet([[1]], [NAN], qid=1), share)


def test_rows_given_apart_are_prepared_alike():
    rng = np.random.default_rng(0)
    ids = rng.integers(0, 4, 40)
    X, y = rng.random((40, 2)), rng.integers(0, 2, 40)
    order = np.argsort(ids, kind="stable")
    apart = preparation.prepare_2008(QuerySet(X, y, qid=ids))
    together = preparation.prepare_2008(QuerySet(X[order], y[order], qid=ids[order]))
    for query in apart.query_ids:
        one, other = apart.by_ids([query]), together.by_ids([query])
        assert one.features.tolist() == other.features.tolist()


def test_good_documents_that_look_bad_may_be_kept():
    queries = QuerySet([[1, 0], [2, 0], [0, 1]], [1, 0, 0], qid=1)
    kept = preparation.drop_contradictions(queries, keep_good=True)
    assert kept.features.tolist() == [[1, 0], [0, 1]]
