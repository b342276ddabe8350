import json
import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.naive.queries import described

from rankwright import QuerySet

NAN = float("nan")


@st.composite
def small_data(draw):
    n = draw(st.integers(1, 12))
    width = draw(st.integers(1, 3))
    values = st.sampled_from([0.0, -0.0, 1.0, NAN])
    features = [draw(st.lists(values, min_size=width, max_size=width)) for _ in range(n)]
    labels = draw(st.lists(st.sampled_from([0.0, 1.0, 2.0, NAN]), min_size=n, max_size=n))
    ids = draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n))
    return features, labels, ids


@given(small_data())
def test_counts_are_those_of_the_naive_twin(data):
    features, labels, ids = data
    expected = described(features, labels, ids)
    found = QuerySet(features, labels, qid=ids).describe()
    for name in ("blank", "single_label", "duplicates", "contradictions", "missing"):
        assert getattr(found, name) == expected[name], name
    assert found.constant == tuple(map(str, expected["constant"]))
    assert found.labels == {
        label: labels.count(label) for label in sorted({*labels}) if not math.isnan(label)
    }
    assert found.unjudged == sum(map(math.isnan, labels))


def rich():
    X = np.zeros((300, 60), np.float32)
    X[:, :5] = np.arange(1500).reshape(300, 5)
    X[7, 3] = X[9, 4] = np.nan
    X[11] = X[10]
    labels = np.arange(300) % 3
    return QuerySet(X, labels, qid=np.repeat(np.arange(3), 100), query_weight=[1, 2, 3], positions=labels + 1)


def test_the_table_fits_a_terminal():
    lines = str(rich().describe()).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[:5] == [
        "queries             3",
        "documents           300",
        "features            60",
        "documents a query   least 100, median 100, mean 100, most 100",
        "labels              0: 100, 1: 100, 2: 100",
    ]
    text = "\n".join(lines)
    assert "constant features   55: 5, 6, 7" in text
    assert "missing values      2 in 2 features: 3, 4" in text
    assert "duplicate rows      1 (1 with another label)" in text
    assert "also given          query weight, positions" in text


def test_features_go_by_their_names_where_they_have_some():
    found = QuerySet([[1, NAN], [1, 2]], qid=1, feature_names=["bm25", "pagerank"]).describe()
    assert (found.constant, found.missing_features) == (("bm25",), ("pagerank",))


def test_data_without_labels_is_described_too():
    found = QuerySet([[1], [2]], qid=1).describe()
    assert (found.labels, found.blank, found.single_label, found.unjudged) == ({}, 0, 0, 0)
    assert "labels              none" in str(found)


def test_the_dictionary_is_ready_for_json():
    assert json.loads(json.dumps(rich().describe().as_dict()))["labels"] == {"0": 100, "1": 100, "2": 100}
