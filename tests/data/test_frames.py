import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from rankwright import InputError, QuerySet
from rankwright.runtime.errors import MissingExtra

FRAMES = {
    "pandas": pd.DataFrame,
    "pandas nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas arrow": lambda columns: pd.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame,
    "arrow": pa.table,
}
COLUMNS = {
    "query": ["b", "a", "b"],
    "rel": [1, 0, None],
    "bm25": [0.5, None, 2.0],
    "clicks": [1, None, 3],
    "spam": [True, None, False],
    "nothing": [None, None, None],
    "doc": ["d1", "d2", "d3"],
    "weight": [1, 2, 3],
    "query weight": [0.5, 2.0, 0.5],
    "rank": [1, 1, 2],
}
EXPECTED = QuerySet(
    [[0.5, 1, 1, np.nan], [np.nan, np.nan, np.nan, np.nan], [2, 3, 0, np.nan]],
    [1, 0, np.nan],
    qid=["b", "a", "b"],
    documents=["d1", "d2", "d3"],
    feature_names=["bm25", "clicks", "spam", "nothing"],
    sample_weight=[1, 2, 3],
    query_weight=[0.5, 2],
    positions=[1, 1, 2],
)


@pytest.fixture(params=FRAMES)
def frame(request):
    return FRAMES[request.param]


def test_every_kind_of_frame_gives_the_same(frame):
    queries = QuerySet.from_frame(
        frame(COLUMNS),
        label="rel",
        qid="query",
        document="doc",
        sample_weight="weight",
        query_weight="query weight",
        position="rank",
    )
    assert queries.equals(EXPECTED)


def test_features_can_be_named_and_labels_left_out(frame):
    queries = QuerySet.from_frame(frame(COLUMNS), label=None, qid="query", features=["clicks", "bm25"])
    assert queries.feature_names == ("clicks", "bm25")
    assert queries.features[:, 1].tolist()[:2] == [0.5, 2.0]
    assert queries.labels is None


@pytest.mark.parametrize("ids", [[3, 1, 3], [0.5, 1.5, 0.5], [True, False, True], ["1", "a", "1"]])
def test_ids_keep_their_type(frame, ids):
    queries = QuerySet.from_frame(frame({"qid": ids, "label": [0, 1, 2], "x": [1, 2, 3]}))
    assert queries.query_ids == tuple(ids[:2])
    assert {type(query) for query in queries.query_ids} == {type(ids[0])}


@pytest.mark.parametrize(
    "column",
    [["x", "y", "z"], [datetime.datetime(2005, 8, 7)] * 3, [[1], [2], [3]], [b"a", b"b", b"c"]],
)
def test_columns_that_are_no_numbers_are_refused_by_name(frame, column):
    with pytest.raises(InputError, match=r"column 'title'.*not (a )?number"):
        QuerySet.from_frame(frame({"qid": [1, 1, 2], "label": [0, 1, 2], "title": column}))


def test_decimals_are_numbers(frame):
    column = [decimal.Decimal("1.5"), None, decimal.Decimal("2")]
    queries = QuerySet.from_frame(frame({"qid": [1, 1, 1], "label": [0, 1, 2], "price": column}))
    np.testing.assert_array_equal(queries.features.ravel(), [1.5, np.nan, 2])


@pytest.mark.parametrize("value", [float("inf"), -1e300])
def test_infinite_values_are_refused_by_row(frame, value):
    with pytest.raises(InputError, match=r"row 1, feature 0: the value .*inf is infinite as a float32"):
        QuerySet.from_frame(frame({"qid": [1, 1, 2], "label": [0, 1, 2], "x": [1.0, value, 2.0]}))


@pytest.mark.parametrize("ids", [["a", None, "b"], [1.0, None, 2.0]])
def test_missing_ids_are_refused_by_row(frame, ids):
    with pytest.raises(InputError, match="row 1: column 'qid' has no value"):
        QuerySet.from_frame(frame({"qid": ids, "label": [0, 1, 2], "x": [1, 2, 3]}))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({}, "there is no column 'label'; the columns are 'query', 'rel'"),
        ({"label": "rel"}, "there is no column 'qid'"),
        ({"label": "rel", "qid": "query", "features": ["bm25", "x"]}, "there is no column 'x'"),
        ({"label": "rel", "qid": "rel"}, "column 'rel' is named for two things"),
        ({"label": "rel", "qid": "query", "features": ["rel"]}, "column 'rel' is named for two things"),
        (
            {"label": "rel", "qid": "query", "features": ["bm25", "bm25"]},
            "column 'bm25' is named for two things",
        ),
        ({"label": "query", "qid": "rel", "features": ["bm25"]}, "column 'query' is String, not numbers"),
    ],
)
def test_wrong_names_are_refused(frame, names, message):
    with pytest.raises(InputError, match=message):
        QuerySet.from_frame(frame(COLUMNS), **names)


def test_what_is_no_frame_is_refused():
    with pytest.raises(InputError, match="a LazyFrame is not a data frame in memory; collect it first"):
        QuerySet.from_frame(pl.DataFrame(COLUMNS).lazy())
    with pytest.raises(InputError, match="a dict is not a data frame in memory; give a pandas, polars"):
        QuerySet.from_frame(COLUMNS)


def test_other_arrow_tables_are_frames():
    columns = {"qid": ["a", "a"], "label": [0, 1], "x": [0.5, None]}
    batch = pa.record_batch(columns)
    reader = pa.RecordBatchReader.from_batches(batch.schema, [batch])
    assert QuerySet.from_frame(batch).equals(QuerySet.from_frame(pa.table(columns)))
    assert QuerySet.from_frame(reader).equals(QuerySet.from_frame(pa.table(columns)))
    with pytest.raises(InputError, match="a Series is not a data frame in memory"):
        QuerySet.from_frame(pl.Series([1, 2]))


def test_columns_of_one_name_are_refused():
    with pytest.raises(InputError, match="two columns of the frame have the same name"):
        QuerySet.from_frame(pd.DataFrame([[1, 1, 1, 1]], columns=["qid", "label", "x", "x"]))


def test_one_feature_is_named_as_text(frame):
    queries = QuerySet.from_frame(frame(COLUMNS), label="rel", qid="query", features="bm25")
    assert queries.feature_names == ("bm25",)


def test_a_frame_without_rows_is_refused(frame):
    with pytest.raises(InputError, match="the frame has no rows"):
        QuerySet.from_frame(frame({"qid": [], "label": []}))


def test_a_missing_library_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "narwhals", None)
    with pytest.raises(MissingExtra, match=r"narwhals is not installed; .*'rankwright\[frames\]'"):
        QuerySet.from_frame(pd.DataFrame(COLUMNS))
