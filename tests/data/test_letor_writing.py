import math

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file
from tests.naive.letor import nearest_float32
from tests.shared import shared_data

import rankwright as rw
from rankwright.data import letor_writing
from rankwright.data.decimals import shortest_decimal
from rankwright.data.letor_writing import write_features, write_single

singles = st.one_of(
    st.floats(width=32, allow_infinity=False),
    st.integers(-(10**9), 10**9).map(lambda number: float(np.float32(number))),
    st.decimals(-(10**4), 10**4, places=4).map(lambda number: float(np.float32(float(number)))),
    st.integers(0, 0x7F7FFFFF).map(lambda bits: float(np.uint32(bits).view(np.float32))),
)
EXTREMES = """
0 -0 1e-45 -1e-45 1.1754944e-38 3.4028235e38 16777216 16777218 123456792 1e10 1e15 1e16 8388608.5 0.1 0.3 100
1e-5 1.5e-6 9.999999e-6 9.5367431640625e-07
"""


def written(value, form):
    kernel = getattr(write_single, form)
    text = bytearray(letor_writing.CELL)
    is_array = form == "compiled" and kernel is not write_single.plain
    end = kernel(np.float32(value), np.frombuffer(text, np.uint8) if is_array else text, 0)
    return bytes(text[:end]).decode()


def count_digits(text):
    return len(text.lstrip("-").partition("e")[0].replace(".", "").strip("0"))


@pytest.mark.parametrize("form", ["plain", "compiled"])
@settings(max_examples=300)
@given(value=singles)
@example(math.nan)
def test_a_value_is_written_by_the_shortest_text_that_reads_back(form, value):
    check_text(written(value, form), np.float32(value))


@pytest.mark.parametrize("form", ["plain", "compiled"])
@pytest.mark.parametrize("value", list(map(float, EXTREMES.split())))
def test_extreme_values_are_written_so_too(form, value):
    check_text(written(value, form), np.float32(value))


@pytest.mark.parametrize("form", ["plain", "compiled"])
def test_powers_of_two_are_written_so_too(form):
    for exponent in range(-149, 128):
        check_text(written(2.0**exponent, form), np.float32(2.0**exponent))


def check_text(text, value):
    if np.isnan(value):
        assert text == "nan"
        return
    assert np.float32(nearest_float32(text)).tobytes() == value.tobytes()
    assert count_digits(text) == count_digits(np.format_float_scientific(value, trim="-")), text
    assert len(text) <= 17


@pytest.mark.parametrize(
    "text",
    [
        "0.5",
        "-3",
        "0.1",
        "0.00001",
        "1e-6",
        "1.25e-7",
        "1000000000000000",
        "1e16",
        "123456.79",
        "-0",
        "1e-45",
    ],
)
def test_texts_are_what_people_write(text):
    assert written(float(text), "plain") == text


def test_shortest_decimals_are_the_same_in_both_forms():
    rng = np.random.default_rng(0)
    for value in rng.integers(1, 0x7F7FFFFF, 500, dtype=np.uint32).view(np.float32):
        assert shortest_decimal.plain(value) == shortest_decimal.compiled(value)


ids = st.one_of(
    st.lists(st.integers(-(10**30), 10**30), unique=True, min_size=1, max_size=4),
    st.lists(st.text("abc:é_-7", min_size=1).map("q".__add__), unique=True, min_size=1, max_size=4),
)
labels = st.floats(allow_infinity=False) | st.integers(0, 4).map(float)


@st.composite
def query_sets(draw):
    qid = [query for query in draw(ids) for _ in range(draw(st.integers(1, 3)))]
    n, width = len(qid), draw(st.integers(0, 4))

    def lists(values, size=n):
        return st.lists(values, min_size=size, max_size=size)

    rows = draw(lists(lists(singles, width)))
    y = draw(st.none() | lists(labels))
    known = y is not None and not all(map(math.isnan, y))
    documents = draw(st.none() | lists(st.text("D7-é=# ", min_size=1)))
    if documents is not None:
        documents = [" ".join(document.split()) or "D" for document in documents]
    features = np.array(rows, np.float32).reshape(n, width)
    return rw.QuerySet(features, y if known else None, qid=qid, documents=documents)


@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(queries=query_sets(), compiled=st.booleans())
def test_what_is_written_reads_back_as_it_was(tmp_path, queries, compiled):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(letor_writing, "SMALL", -1 if compiled else 1 << 13)
        patch.setattr(letor_writing, "PART", 3)
        rw.write_letor(queries, tmp_path / "out.txt", n_jobs=2)
    again = rw.read_letor(tmp_path / "out.txt", n_features=queries.n_features or None)
    assert again.equals(queries)
    assert np.array_equal(
        np.signbit(again.features), np.signbit(queries.features) & ~np.isnan(queries.features)
    )


def test_rows_that_were_given_apart_are_written_by_query(tmp_path):
    queries = rw.QuerySet([[1], [2], [3]], [0, 1, 2], qid=["b", "a", "b"])
    queries.to_letor(tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text() == "0 qid:b 1:1\n2 qid:b 1:3\n1 qid:a 1:2\n"


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz", ".bz2", ".zst"])
def test_real_data_survives_being_written(tmp_path, suffix):
    queries = rw.read_letor(shared_data("ohsumed-letor2/S1.txt")).select(slice(0, 5))
    queries.to_letor(tmp_path / f"out.txt{suffix}")
    assert rw.read_letor(tmp_path / f"out.txt{suffix}").equals(queries)


def test_other_tools_read_what_is_written(tmp_path):
    queries = rw.read_letor(shared_data("mslr-web10k-sample/test.txt")).select(slice(0, 2))
    queries.to_letor(tmp_path / "out.txt")
    X, y, qid = load_svmlight_file(str(tmp_path / "out.txt"), dtype=np.float32, query_id=True)
    assert np.array_equal(X.toarray(), queries.features)
    assert np.array_equal(y, queries.labels)
    assert np.array_equal(qid, np.repeat(queries.query_ids, queries.sizes))


@pytest.mark.parametrize("query", ["", "two words", "a#b", "tab\tin", "line\n"])
def test_a_query_id_that_cannot_stand_there_is_refused(tmp_path, query):
    with pytest.raises(rw.InputError, match="cannot stand in LETOR text, where blanks and # end an id"):
        rw.QuerySet([[1]], qid=[query]).to_letor(tmp_path / "out.txt")
    assert not (tmp_path / "out.txt").exists()


def test_query_ids_that_would_become_one_are_refused(tmp_path):
    with pytest.raises(rw.InputError, match="two query ids would both be written as '1'"):
        rw.QuerySet([[1], [2], [3]], qid=[1, 2, "1"]).to_letor(tmp_path / "out.txt")


@pytest.mark.parametrize("document", [" led", "trailed ", "new\nline", "docid = two words", "docid =  x"])
def test_a_document_id_that_would_be_read_as_another_is_refused(tmp_path, document):
    with pytest.raises(rw.InputError, match="would be read back as another"):
        rw.QuerySet([[1]], qid=1, documents=[document]).to_letor(tmp_path / "out.txt")


def test_the_text_is_the_same_at_any_number_of_threads(tmp_path, monkeypatch):
    monkeypatch.setattr(letor_writing, "PART", 100)
    features = np.random.default_rng(0).normal(size=(500, 7)).astype(np.float32)
    queries = rw.QuerySet(features, np.arange(500) % 3, qid=np.arange(500) // 10)
    for n_jobs in (1, 2, 3):
        rw.write_letor(queries, tmp_path / f"{n_jobs}.txt", n_jobs=n_jobs)
    texts = {(tmp_path / f"{n_jobs}.txt").read_bytes() for n_jobs in (1, 2, 3)}
    assert len(texts) == 1
    assert write_features.compiled is not None and rw.read_letor(tmp_path / "1.txt").equals(
        rw.QuerySet(features, np.arange(500) % 3, qid=(np.arange(500) // 10).tolist())
    )
