import gzip
import itertools

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import trec as naive

import rankwright as rw
from rankwright import InputError, Qrels, QuerySet, Run
from rankwright.data import columns

QUERIES = ["q1", "q2", "q3", "10", "9"]
DOCUMENTS = ["d1", "d2", "d10", "é", "D-7"]
RUNS = st.dictionaries(
    st.sampled_from(QUERIES),
    st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from([-1.5, 0.0, 0.25, 3e300]) | st.floats(-9, 9)),
    min_size=1,
)
JUDGEMENTS = st.dictionaries(
    st.sampled_from(QUERIES),
    st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-2, 3), min_size=1),
    min_size=1,
)


def as_lists(rankings):
    """What a Rankings holds, in the naive twin's form."""
    lists = {}
    retrieved = list(itertools.pairwise(rankings.offsets))
    judged = list(itertools.pairwise(rankings.judged_offsets))
    for query, (begin, end), (first, last) in zip(rankings.query_ids, retrieved, judged, strict=True):
        labels = [None if np.isnan(label) else label for label in rankings.labels[begin:end]]
        rows = list(zip(rankings.documents[begin:end], rankings.scores[begin:end], labels, strict=True))
        lists[query] = rows, rankings.judged[first:last].tolist()
    return lists


@given(RUNS, JUDGEMENTS, st.booleans())
def test_a_run_meets_its_judgements_as_in_the_naive_twin(run, judgements, complete):
    expected = naive.joined(run, judgements, complete)
    if not expected:
        with pytest.raises(InputError, match="no query of the run is judged; its ids are like"):
            Run.from_dict(run).against(Qrels.from_dict(judgements), complete)
        return
    rankings = Run.from_dict(run).against(Qrels.from_dict(judgements), complete)
    assert as_lists(rankings) == expected
    assert list(rankings.query_ids) == list(expected)


@given(RUNS, JUDGEMENTS)
def test_labels_of_a_run_give_trec_evals_counts(run, judgements):
    # pytrec_eval reads memory that nobody set where a query has no document, or labels below −1 alone.
    run = {query: scores | {"retrieved": 1.0} for query, scores in run.items()}
    judgements = {query: labels | {"judged": 0} for query, labels in judgements.items()}
    rankings = Run.from_dict(run).against(Qrels.from_dict(judgements), complete=True)
    theirs = pytrec_eval.RelevanceEvaluator(judgements, {"num_rel", "num_ret", "num_rel_ret"}).evaluate(run)
    for query, (retrieved, judged) in as_lists(rankings).items():
        if query not in theirs:
            assert not retrieved
            continue
        assert theirs[query]["num_ret"] == len(retrieved)
        assert theirs[query]["num_rel"] == sum(label >= 1 for label in judged)
        assert theirs[query]["num_rel_ret"] == sum((label or 0) >= 1 for _, _, label in retrieved)


@given(RUNS)
def test_what_is_written_is_read_again(tmp_path_factory, run):
    path = tmp_path_factory.mktemp("runs") / "some.run"
    kept = {query: scores for query, scores in run.items() if scores}
    Run.from_dict(run).write(path, tag="x")
    if not kept:
        with pytest.raises(InputError, match="holds no line"):
            rw.read_run(path)
        return
    assert naive.table(path.read_text(encoding="utf-8"), 2, 4) == kept
    again = rw.read_run(path)
    assert again._tables() == kept
    lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    for query, rows in itertools.groupby(lines, key=lambda fields: fields[0]):
        ranked = [(float(score), document) for _, _, document, _, score, _ in rows]
        assert ranked == sorted(ranked, reverse=True), query


def test_files_are_read_with_blanks_tabs_crlf_and_a_mark(tmp_path):
    text = "q1 0 d1 2\r\n\r\n  q2\t0\td1  -1\t\r\nq1 Q0 d2 0.5\n   \nq2 0 d9 1"
    path = tmp_path / "qrels"
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    qrels = rw.read_qrels(path)
    assert qrels._tables() == naive.table(text, 2, 3)
    assert qrels.query_ids == ("q1", "q2")
    assert qrels.labels.tolist() == [2, 0.5, -1, 1]
    assert repr(qrels) == "Qrels(2 queries, 4 documents)"


@pytest.mark.parametrize("chunk", [1, 2, 7, 64])
def test_where_a_chunk_ends_makes_no_difference(tmp_path, monkeypatch, chunk):
    text = "".join(f"q{n % 3} Q0 d{n} 0 {n / 7!r} tag\n" + "\n" * (n % 2) for n in range(20))
    path = tmp_path / "some.run.gz"
    path.write_bytes(gzip.compress(text.encode()))
    monkeypatch.setattr(columns, "CHUNK", chunk)
    assert rw.read_run(path)._tables() == naive.table(text, 2, 4)
    path.write_bytes(gzip.compress((text + "q0 Q0 d0 0 1 tag\n").encode()))
    with pytest.raises(InputError, match="line 31: document 'd0' of query 'q0' stands here a second time"):
        rw.read_run(path)


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (
            rw.read_run,
            "q Q0 d 1 0.5 t\nq Q0 e 2 0.4\n",
            "line 2: there are 5 columns; a line of a run has 6: query Q0",
        ),
        (
            rw.read_qrels,
            "q 0 d 1 7\n",
            "line 1: there are 5 columns; a line of judgements has 4: query iteration",
        ),
        (rw.read_run, "\nq Q0 d 1 high t\n", "line 2: the score 'high' is not a number"),
        (rw.read_run, "q Q0 d 1 nan t\n", "line 1: the score 'nan' is not a number"),
        (rw.read_run, "q Q0 d 1 1_000 t\n", "line 1: the score '1_000' is not a number"),
        (rw.read_qrels, "q 0 d inf\n", "line 1: the label 'inf' is not a finite number"),
        (
            rw.read_qrels,
            "q 0 d 1\nr 0 d 1\nq 0 d 1\n",
            "line 3: document 'd' of query 'q' stands here a second time",
        ),
        (rw.read_qrels, " \n\n", "holds no line; a line of judgements is: query iteration document label"),
        (rw.read_qrels, "", "holds no line"),
        (rw.read_qrels, b"q 0 d\xff 1\n", "line 1: this is not UTF-8 text"),
        (rw.read_run, b"q Q0 d 1 \xff t\n", "line 1: this is not UTF-8 text"),
    ],
)
def test_bad_lines_are_named(tmp_path, read, text, message):
    path = tmp_path / "bad.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match=f"bad.txt.* {message}|bad.txt {message}"):
        read(path)


@given(st.binary(max_size=60))
def test_random_bytes_are_read_or_refused(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("runs") / "some.txt"
    path.write_bytes(data)
    for read in (rw.read_qrels, rw.read_run):
        try:
            read(path)
        except InputError as error:
            assert str(path) in str(error)


def test_infinite_scores_have_a_place_in_an_order():
    assert Run.from_dict({"q": {"a": float("inf"), "b": -float("inf")}}).scores.tolist() == [np.inf, -np.inf]


@pytest.mark.parametrize(
    ("make", "lists", "message"),
    [
        (Run, {}, "there are no queries"),
        (Run, {"q": {"d": "1"}}, "query 'q', document 'd': the score '1' is not a number"),
        (Run, {"q": {"d": float("nan")}}, "the score nan is not a number"),
        (Qrels, {"q": {"d": float("inf")}}, "the label inf is not a number"),
        (Qrels, {"q": {"d": None}}, "the label None is not a number"),
        (Run, {1: {"d": 1}, "1": {"d": 2}}, "two queries are called '1'"),
        (Run, {"q": {1: 1, "1": 2}}, "document '1' stands twice in query 'q'"),
        (Run, {"q": [1, 2]}, "query 'q': give a mapping of documents to scores"),
    ],
)
def test_bad_mappings_are_refused(make, lists, message):
    with pytest.raises(InputError, match=message):
        make.from_dict(lists)


def test_scores_of_a_query_set_become_a_run(tmp_path):
    queries = QuerySet(np.zeros((4, 1)), qid=["b", "a", "b", "a"], documents=["d1", "d1", "d2", "d2"])
    rw.write_run(queries, [1, 2, 3, 4], tmp_path / "mine.run", tag="mine")
    assert rw.read_run(tmp_path / "mine.run")._tables() == {"b": {"d1": 1, "d2": 3}, "a": {"d1": 2, "d2": 4}}
    bare = QuerySet(np.zeros((2, 1)), qid=[2, 1])
    assert Run.of(bare, [1, 2], documents=["x", "y"])._tables() == {"2": {"x": 1}, "1": {"y": 2}}
    assert Run.of(QuerySet([[0]] * 3, qid=[1, 2, 1]), [1, 2, 3], documents="xyz").documents == ("x", "z", "y")


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"qid": [1, 2]}, "the data has no document ids"),
        ({"qid": [1, "1"], "documents": ["a", "b"]}, "two queries are called '1'"),
        ({"qid": [1, 1], "documents": ["a", "a"]}, "document 'a' stands twice in query '1'"),
        ({"qid": [1, 2], "documents": ["a", "b c"]}, "the document id 'b c' is empty or holds a blank"),
        ({"qid": [1, ""], "documents": ["a", "b"]}, "the query id '' is empty or holds a blank"),
    ],
)
def test_ids_that_a_run_cannot_keep_are_refused(tmp_path, given_, message):
    with pytest.raises(InputError, match=message):
        rw.write_run(QuerySet([[0], [0]], **given_), [1, 2], tmp_path / "x.run")
    assert not (tmp_path / "x.run").exists()


@pytest.mark.parametrize("scores", [[1], [1, np.nan], [[1], [2]], ["a", "b"]])
def test_a_run_needs_a_score_a_row(tmp_path, scores):
    queries = QuerySet([[0], [0]], qid=[1, 2], documents=["a", "b"])
    with pytest.raises(InputError, match="score"):
        rw.write_run(queries, scores, tmp_path / "x.run")


def test_a_tag_is_one_word(tmp_path):
    with pytest.raises(InputError, match="the tag 'my run'"):
        Run.from_dict({"q": {"d": 1}}).write(tmp_path / "x.run", tag="my run")
