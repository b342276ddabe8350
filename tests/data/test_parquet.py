import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankwright as rw
from rankwright import InputError, QuerySet
from rankwright.data import parquet

SINGLES = st.floats(width=32, allow_infinity=False)
IDS = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=9),
    st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"])), min_size=1, max_size=9),
    st.lists(st.floats(allow_nan=False), min_size=1, max_size=9),
    st.lists(st.binary(), min_size=1, max_size=9),
    st.lists(st.booleans(), min_size=1, max_size=9),
)


@st.composite
def query_sets(draw):
    ids = draw(IDS)
    n, width = len(ids), draw(st.integers(0, 3))
    positive = st.floats(0, 1e300)
    optional = {
        "y": st.lists(st.floats(allow_infinity=False), min_size=n, max_size=n),
        "documents": st.lists(st.text(max_size=3), min_size=n, max_size=n),
        "sample_weight": st.lists(positive, min_size=n, max_size=n),
        "query_weight": positive.map(lambda weight: dict.fromkeys(ids, weight)),
        "positions": st.lists(positive, min_size=n, max_size=n),
        # Names that the other columns would have.
        "feature_names": st.permutations(["label", "label_", "qid", "bm25"]).map(lambda names: names[:width]),
    }
    given_ = draw(st.fixed_dictionaries({}, optional=optional))
    X = np.array(draw(st.lists(SINGLES, min_size=n * width, max_size=n * width)), np.float32)
    queries = QuerySet(X.reshape(n, width), qid=ids, **given_)
    order = draw(st.permutations(range(queries.n_queries)))
    return queries.select(order[: draw(st.integers(1, len(order)))])


@given(query_sets())
@settings(max_examples=60)
def test_nothing_is_lost(tmp_path_factory, queries):
    path = tmp_path_factory.mktemp("data") / "train.parquet"
    queries.to_parquet(path)
    again = rw.read_parquet(path)
    assert again.equals(queries)
    assert [type(query) for query in again.query_ids] == [type(query) for query in queries.query_ids]
    assert np.array_equal(np.signbit(again.features), np.signbit(queries.features))


def test_many_rows_are_written_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "ROWS_AT_ONCE", 7)
    rng = np.random.default_rng(0)
    queries = QuerySet(rng.random((50, 3)), rng.integers(0, 5, 50), qid=rng.integers(0, 9, 50))
    queries.to_parquet(tmp_path / "train.parquet")
    assert pq.ParquetFile(tmp_path / "train.parquet").num_row_groups == 8
    assert rw.read_parquet(tmp_path / "train.parquet").equals(queries)


def test_others_read_the_file_as_a_table(tmp_path):
    QuerySet([[0.5], [1.5]], [1, 0], qid=["a", "b"], feature_names=["bm25"]).to_parquet(
        tmp_path / "x.parquet"
    )
    assert pl.read_parquet(tmp_path / "x.parquet").to_dict(as_series=False) == {
        "bm25": [0.5, 1.5],
        "label": [1.0, 0.0],
        "qid": ["a", "b"],
    }


def test_files_of_others_are_read_by_the_names_of_their_columns(tmp_path):
    frame = pl.DataFrame(
        {"query": [2, 1, 2], "rel": [0, 1, 2], "x": [1.0, None, 3.0], "title": ["a", "b", "c"]}
    )
    frame.write_parquet(tmp_path / "x.parquet")
    names = {"label": "rel", "qid": "query", "features": ["x"]}
    assert rw.read_parquet(tmp_path / "x.parquet", **names).equals(QuerySet.from_frame(frame, **names))
    with pytest.raises(InputError, match=r"x.parquet: there is no column 'label'"):
        rw.read_parquet(tmp_path / "x.parquet")
    with pytest.raises(InputError, match=r"x.parquet: column 'title' is String, not numbers"):
        rw.read_parquet(tmp_path / "x.parquet", label="rel", qid="query")


def test_names_of_columns_come_before_what_the_file_says(tmp_path):
    queries = QuerySet([[1, 2], [3, 4]], [0, 1], qid=[7, 8], feature_names=["a", "b"])
    queries.to_parquet(tmp_path / "x.parquet")
    assert rw.read_parquet(tmp_path / "x.parquet", features=["b"]).features.tolist() == [[2], [4]]


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([1, "1"], "the query ids are of type int and str, which Parquet cannot keep"),
        ([(1, 2), (3, 4)], "the query ids are of type tuple"),
        ([2**70, 1], "the query ids do not fit into Parquet .*; give them as text"),
    ],
)
def test_ids_that_parquet_cannot_keep_are_refused(tmp_path, ids, message):
    with pytest.raises(InputError, match=message):
        QuerySet([[0], [0]], qid=ids).to_parquet(tmp_path / "x.parquet")
    assert not list(tmp_path.iterdir())


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "x.parquet"
    path.write_bytes(b"as it was")

    def fails(*arguments):
        raise OSError("the disk is full")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", fails)
    with pytest.raises(OSError, match="the disk is full"):
        QuerySet([[0]], qid=1).to_parquet(path)
    assert path.read_bytes() == b"as it was"
    assert list(tmp_path.iterdir()) == [path]


def test_files_that_are_no_parquet_are_refused(tmp_path):
    path = tmp_path / "x.parquet"
    with pytest.raises(InputError, match=r"x.parquet cannot be opened: No such file"):
        rw.read_parquet(path)
    with pytest.raises(InputError, match="cannot be opened: Is a directory"):
        rw.read_parquet(tmp_path)
    QuerySet(np.arange(6000).reshape(3000, 2), qid=np.arange(3000)).to_parquet(path)
    whole = path.read_bytes()
    for broken in (b"", b"1 qid:3 1:0.5\n", whole[:-9], whole[:50]):
        path.write_bytes(broken)
        with pytest.raises(InputError, match=r"x.parquet cannot be read as a Parquet file: \S"):
            rw.read_parquet(path)


def test_row_labels_of_pandas_are_no_features(tmp_path):
    pd = pytest.importorskip("pandas")
    path = tmp_path / "x.parquet"
    frame = pd.DataFrame({"qid": ["a", "b", "a"], "label": [0, 1, 2], "x": [1.0, 2.0, 3.0]}, index=[4, 2, 9])
    frame.to_parquet(path)
    assert rw.read_parquet(path).feature_names == ("x",)
    assert rw.read_parquet(path, features=["x", "__index_level_0__"]).features[:, 1].tolist() == [4, 9, 2]
    frame.set_index("qid").to_parquet(path)
    assert rw.read_parquet(path).equals(QuerySet.from_frame(frame))


@pytest.mark.parametrize("told", ["", "[]", '{"index_columns": 3}', "not json"])
def test_a_file_of_which_pandas_tells_nonsense_is_refused(tmp_path, told):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"x": [1.0], "qid": [1]}).replace_schema_metadata({"pandas": told}), path)
    with pytest.raises(InputError, match=r"x.parquet: what pandas tells of the columns is damaged"):
        rw.read_parquet(path)


@pytest.mark.parametrize("told", ["", "[]", "{}", '{"version": 1}', "not json"])
def test_a_file_that_tells_nonsense_of_itself_is_refused(tmp_path, told):
    path = tmp_path / "x.parquet"
    table = pa.table({"x": [1.0], "label": [1.0], "qid": [1]})
    pq.write_table(table.replace_schema_metadata({"rankwright": told}), path)
    with pytest.raises(InputError, match=r"x.parquet: what the file tells of its columns is damaged; name"):
        rw.read_parquet(path)
    assert len(rw.read_parquet(path, qid="qid")) == 1


def test_a_file_that_lost_rows_elsewhere_is_refused(tmp_path):
    path = tmp_path / "x.parquet"
    QuerySet([[1], [2], [3]], qid=["b", "a", "b"]).to_parquet(path)
    pq.write_table(pq.read_table(path).slice(1), path)
    with pytest.raises(InputError, match="column 'row' does not number the rows from 0"):
        rw.read_parquet(path)


def test_a_file_of_a_newer_version_is_refused(tmp_path):
    path = tmp_path / "x.parquet"
    table = pa.table({"x": [1.0], "label": [1.0], "qid": [1]})
    pq.write_table(table.replace_schema_metadata({"rankwright": '{"version": 2}'}), path)
    with pytest.raises(InputError, match=r"x.parquet: the file was written by a newer Rankwright"):
        rw.read_parquet(path)
    assert rw.read_parquet(path, label="label", qid="qid").feature_names == ("x",)
