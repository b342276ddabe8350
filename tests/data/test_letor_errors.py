import gzip
import re
import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.data.letor_files import assert_same, written
from tests.naive import letor as naive

import rankwright as rw
from rankwright.data import blocks

FORM = "a row is: label qid:id index:value … # comment"
FIRST = "1 qid:1 1:0.5 2:7\n"

REFUSED = {
    "0 1:0.5": f"line 2: there is '1:0.5' after the label and no qid; {FORM}",
    "0": f"line 2: there is nothing after the label and no qid; {FORM}",
    "0 qid: 1:0.5": f"line 2: the query id is empty; {FORM}",
    "0 qi:1 1:0.5": f"line 2: there is 'qi:1' after the label and no qid; {FORM}",
    "qid:1 1:0.5": f"line 2: the label 'qid:1' is not a number; {FORM}",
    "good qid:1 1:0.5": f"line 2: the label 'good' is not a number; {FORM}",
    "1x qid:1 1:0.5": f"line 2: the label '1x' is not a number; {FORM}",
    "+ qid:1 1:0.5": f"line 2: the label '+' is not a number; {FORM}",
    "inf qid:1 1:0.5": "line 2: the label 'inf' is infinite; labels are finite, or nan where unjudged",
    "-1e999 qid:1": "line 2: the label '-1e999' is beyond 1.8e308, the largest there is room for; "
    "labels are finite, or nan where unjudged",
    "0 qid:1 0.5": f"line 2: '0.5' is not index:value; {FORM}",
    "0 qid:1 bm25:0.5": f"line 2: 'bm25:0.5' is not index:value; {FORM}",
    "0 qid:1 qid:2 1:5": f"line 2: 'qid:2' is not index:value; {FORM}",
    "0 qid:1 1": f"line 2: '1' is not index:value; {FORM}",
    "0 qid:1 +1:5": f"line 2: '+1:5' is not index:value; {FORM}",
    "0 qid:1 :5": f"line 2: ':5' is not index:value; {FORM}",
    "0 qid:1 -1:5": "line 2: the feature index '-1' is negative; indices count from 1, or from 0",
    "0 qid:1 1:2 2:3 1:4": "line 2: feature 1 stands twice in the row; keep one of the two",
    "0 qid:1 1000001:5": "line 2: feature '1000001' is above the highest allowed, 1000000; "
    "if it is right, give n_features, the number of features",
    f"0 qid:1 {'9' * 60}:5": f"line 2: feature '{'9' * 40}…' is above the highest allowed, 1000000; "
    "if it is right, give n_features, the number of features",
    "0 qid:1 1:": "line 2: feature 1 has no value; write a number, or nan for what is missing",
    "0 qid:1 1: 5": "line 2: feature 1 has no value; write a number, or nan for what is missing",
    "0 qid:1 1:#": "line 2: feature 1 has no value; write a number, or nan for what is missing",
    "0 qid:1 1:x": "line 2: the value 'x' of feature 1 is not a number; "
    "write numbers, or nan for what is missing",
    "0 qid:1 1:-inf": "line 2: the value '-inf' of feature 1 is infinite; scale the feature, or write nan",
    "0 qid:1 1:Infinity": "line 2: the value 'Infinity' of feature 1 is infinite; "
    "scale the feature, or write nan",
    "0 qid:1 1:-1e39": "line 2: the value '-1e39' of feature 1 is beyond 3.4e38, "
    "the largest there is room for; scale the feature, or write nan",
    "0 qid:2 1:1\n0 qid:1 1:2": "line 3: query '1' has rows further up, apart from this one; "
    "put them together, or say scattered=True",
}
for value in ("1.2.3", "1,5", "1e", "0x10", "1_000", "--1", "+-1", "nanx", "nul", "na", "-", ".", "1:2", "٣"):
    REFUSED[f"0 qid:1 1:{value}"] = (
        f"line 2: the value {value!r} of feature 1 is not a number; write numbers, or nan for what is missing"
    )


def refusal(path, **options):
    with pytest.raises(rw.InputError) as error:
        rw.read_letor(path, **options)
    return str(error.value)


@pytest.mark.parametrize("row", REFUSED)
def test_a_bad_row_is_refused_by_line_cause_and_cure(tmp_path, row):
    path = written(tmp_path, FIRST + row + "\n0 qid:3 1:1\n")
    assert refusal(path) == f"{path}, {REFUSED[row]}"


@pytest.mark.parametrize("row", REFUSED)
def test_the_compiled_kernel_says_the_same(tmp_path, monkeypatch, row):
    monkeypatch.setattr(blocks, "SMALL", 16)
    path = written(tmp_path, FIRST + row + "\n0 qid:3 1:1\n")
    assert refusal(path, n_jobs=2) == f"{path}, {REFUSED[row]}"


def test_the_first_of_many_bad_lines_is_named_at_any_number_of_threads(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "SMALL", 100)
    monkeypatch.setattr(blocks, "LARGE", 1000)
    monkeypatch.setattr(blocks, "PIECE", 60)
    good = "".join(f"0 qid:1 1:{k}\n" for k in range(80))
    path = written(tmp_path, good + "0 qid:1 1:1e39\n" + "0 qid:1 1:x\n" * 50)
    assert {refusal(path, n_jobs=n_jobs) for n_jobs in (1, 2, 4)} == {
        f"{path}, line 81: the value '1e39' of feature 1 is beyond 3.4e38, the largest there is room for; "
        "scale the feature, or write nan"
    }


def test_a_row_that_ends_in_the_middle_may_be_of_a_file_cut_short(tmp_path):
    path = written(tmp_path, FIRST + "0 qid:1 1:0.25 2:")
    assert refusal(path).endswith(
        "line 2: feature 2 has no value; write a number, or nan for what is missing; "
        "the file ends here without a newline and may be cut short"
    )


@pytest.mark.parametrize("contents", ["", "\n", "\n\n# only a comment\n", " ", "\xef\xbb\xbf"])
def test_a_file_without_rows_is_refused(tmp_path, contents):
    path = written(tmp_path, contents.encode("latin-1"))
    assert refusal(path) == f"{path} has no rows; give a file with at least one document"


def test_files_that_cannot_be_read_are_refused(tmp_path):
    assert refusal(tmp_path / "none.txt").startswith(
        f"{tmp_path / 'none.txt'} cannot be opened: No such file"
    )
    assert refusal(tmp_path).startswith(f"{tmp_path} cannot be opened: Is a directory")


@pytest.mark.parametrize(
    "contents", [gzip.compress(b"1 qid:1 1:1\n"), bytes(range(256)), "1 qid:1".encode("utf-16")]
)
def test_a_binary_file_is_refused_as_one(tmp_path, contents):
    path = written(tmp_path, contents)
    assert refusal(path) == (
        f"{path}, line 1: this is not text; "
        "a compressed file needs a name that ends in .gz, .xz, .bz2 or .zst"
    )


def test_an_endless_line_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "LONGEST_LINE", 1 << 20)
    path = written(tmp_path, b"1 qid:1 " + b" " * (1 << 21))
    assert refusal(path) == (
        f"{path}, line 1: the line is longer than 1 MB; give a file with one document a line"
    )


def test_indices_beyond_what_the_caller_says_are_refused(tmp_path):
    path = written(tmp_path, "1 qid:1 1:1 3:1\n")
    assert "feature '3' is above the highest allowed, 2;" in refusal(path, n_features=2)
    assert "feature '3' is above the highest allowed, 2;" in refusal(path, n_features=3, zero_based=True)
    path = written(tmp_path, "1 qid:1 0:1\n")
    assert refusal(path, zero_based=False) == (
        f"{path}, line 1: there is a feature 0, though zero_based=False was given; leave zero_based out"
    )
    assert refusal(path, n_features=0) == "n_features is 0; give a number from 1 to 99,999,999"
    assert refusal(path, n_features=10**9).startswith("n_features is 1000000000; give")


def test_memory_is_not_taken_because_an_index_asks_for_it(tmp_path):
    text = "0 qid:1 999999:1\n" + "0 qid:1 1:1\n" * 20_000
    path = written(tmp_path, text)
    tracemalloc.start()
    message = refusal(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert message.startswith(f"{path}: ") and "if that is meant, give n_features" in message
    assert peak < 64 << 20


def test_a_matrix_that_no_memory_holds_is_refused(tmp_path):
    path = written(tmp_path, "0 qid:1 1:1\n" * 2_000_000)
    assert "there is no memory for" in refusal(path, n_features=99_999_998)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(contents=st.binary(max_size=300))
@example(b"0 qid:1 1:5\x00")
def test_random_bytes_are_read_or_refused(tmp_path, contents):
    read_or_refuse(written(tmp_path, contents), contents)


VALID = b"2 qid:10 1:0.5 2:1e-3 3:nan #docid = GX0 inc = 1\r\n0 qid:10 1:-.25\n\n1 qid:b 2:16777217.5 # x y\n"
pieces_of_text = st.sampled_from(
    [
        b" ",
        b"\n",
        b"#",
        b":",
        b"qid:",
        b"nul",
        b"1e400",
        b"9" * 30,
        b"-",
        b"e",
        b".",
        b"0:",
        b"99999:1",
        b"\xff",
    ]
)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    edits=st.lists(
        st.tuples(st.integers(0, len(VALID)), st.integers(0, 4), pieces_of_text), min_size=1, max_size=4
    ),
    cut=st.integers(0, len(VALID)),
)
def test_mutated_files_are_read_or_refused(tmp_path, edits, cut):
    contents = VALID
    for at, removed, inserted in edits:
        contents = contents[:at] + inserted + contents[at + removed :]
    read_or_refuse(
        written(tmp_path, contents[: len(contents) - cut // 4]), contents[: len(contents) - cut // 4]
    )


def read_or_refuse(path, contents):
    """Both kernels read the file as the naive reader does, or refuse it with the same sentence."""
    try:
        expected = naive.read(contents.decode("utf-8", "surrogateescape").removeprefix("\ufeff"))
    except Exception:
        expected = None
    plain = outcome(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "SMALL", 16)
        patch.setattr(blocks, "LARGE", 64)
        patch.setattr(blocks, "PIECE", 8)
        compiled = outcome(path)
    if isinstance(plain, str) or isinstance(compiled, str):
        assert plain == compiled
    else:
        assert plain.equals(compiled)
    if isinstance(plain, str):
        assert expected is None or "apart" in plain or "above the highest" in plain, plain
    else:
        assert expected is not None
        assert_same(plain, expected)


def outcome(path):
    try:
        queries = rw.read_letor(path)
    except rw.InputError as error:
        assert re.match(rf"{re.escape(str(path))}(, line \d+: | has no rows)", str(error))
        return str(error)
    assert np.isfinite(queries.features[~np.isnan(queries.features)]).all()
    return queries
