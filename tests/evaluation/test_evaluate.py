"""``evaluate``: what it takes, what it refuses, and its values against plain Python and trec_eval."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import evaluation as naive

import rankwright as rw
from rankwright.measures.lists import Lists

SCORES = st.sampled_from([-np.inf, -1.0, 0.0, 0.5, np.inf])
QUERIES = st.lists(
    st.lists(st.tuples(SCORES, st.integers(0, 3)), min_size=1, max_size=6), min_size=1, max_size=5
)
NAIVE = {
    "ndcg@3": naive.ndcg(3),
    "map": naive.average_precision,
    "mrr": naive.reciprocal_rank,
    "p@2": naive.precision(2),
    "err": naive.expected_reciprocal_rank,
    "pairs": naive.pairs,
}


def as_arrays(queries):
    scores = [score for query in queries for score, _ in query]
    labels = [label for query in queries for _, label in query]
    qid = [number for number, query in enumerate(queries) for _ in query]
    return np.array(scores), np.array(labels), np.array(qid)


@given(QUERIES)
@settings(max_examples=50, deadline=None)
def test_every_query_as_in_plain_python(queries):
    scores, labels, qid = as_arrays(queries)
    result = rw.evaluate(scores, labels, NAIVE, qid=qid)
    for text, value in NAIVE.items():
        expected = []
        for query in queries:
            ranked = [query[place][1] for place in naive.order([score for score, _ in query])]
            known = value(ranked, ranked)
            expected.append(math.nan if known is None else known)
        np.testing.assert_allclose(result[text].per_query, expected, rtol=1e-14, atol=1e-15)
        assert result[text].blank == sum(map(math.isnan, expected))


@given(QUERIES, st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_order_of_rows_and_queries_is_immaterial(queries, random):
    """Rows of a query stay in their order (ties); how queries interleave does not matter, not in a bit."""
    scores, labels, qid = as_arrays(queries)
    turn = sorted(range(len(qid)), key=lambda _: random.random())
    slots = qid[turn]
    rows = {query: iter(np.flatnonzero(qid == query)) for query in set(qid.tolist())}
    mixed = np.array([next(rows[query]) for query in slots.tolist()])
    one = rw.evaluate(scores, labels, NAIVE, qid=qid)
    two = rw.evaluate(scores[mixed], labels[mixed], NAIVE, qid=slots)
    for text in NAIVE:
        np.testing.assert_equal(two[text].mean, one[text].mean)
        by_query = dict(zip(one[text].query_ids, one[text].per_query.tolist(), strict=True))
        again = dict(zip(two[text].query_ids, two[text].per_query.tolist(), strict=True))
        np.testing.assert_equal(again, by_query)


def test_increasing_rescaling_of_scores_is_immaterial():
    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=60).round(1), rng.integers(0, 3, 60)
    qid = np.repeat(np.arange(6), 10)
    one, two = (rw.evaluate(given, labels, "ndcg", qid=qid) for given in (scores, np.exp(3 * scores)))
    np.testing.assert_array_equal(one["ndcg"].per_query, two["ndcg"].per_query)


def test_per_query_values_are_trec_evals():
    """With trec_eval's conventions: equal scores by document id, judged documents the run lacks."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    rng = np.random.default_rng(1)
    qrels, run = {}, {}
    for query in range(60):
        names = [f"d{number}" for number in rng.permutation(30)]
        judged = rng.choice(names, rng.integers(1, 20), replace=False)
        retrieved = rng.choice(names, rng.integers(1, 25), replace=False)
        qrels[f"q{query}"] = {name: int(rng.integers(-1, 4)) for name in judged}
        run[f"q{query}"] = {name: float(np.round(rng.normal(), 1)) for name in retrieved}
    names = {
        "ndcg:trec_eval": "ndcg",
        "ndcg@5:trec_eval": "ndcg_cut_5",
        "map:trec_eval": "map",
        "mrr:trec_eval": "recip_rank",
        "p@5:trec_eval": "P_5",
        "recall@5:trec_eval": "recall_5",
        "bpref:trec_eval": "bpref",
    }
    asked = {"ndcg", "ndcg_cut.5", "map", "recip_rank", "P.5", "recall.5", "bpref"}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, asked).evaluate(run)
    result = rw.evaluate(rw.Run.from_dict(run), rw.Qrels.from_dict(qrels), names)
    for ours, name in names.items():
        expected = [theirs[query][name] for query in result[ours].query_ids]
        np.testing.assert_allclose(result[ours].per_query, expected, rtol=0, atol=1e-12, err_msg=ours)
    assert result["map:trec_eval"].tied > 0


def test_a_run_that_lacks_judged_queries():
    run, qrels = rw.Run.from_dict({"q1": {"a": 1.0}}), rw.Qrels.from_dict({"q1": {"a": 1}, "q2": {"b": 1}})
    assert rw.evaluate(run, qrels, "mrr")["mrr"].mean == 1.0
    assert rw.evaluate(run, qrels, "mrr", complete=True)["mrr"].mean == 0.5


class Constant:
    """A model that is none of ours: it sees features."""

    def predict(self, X):
        assert X.dtype == np.float32
        return X[:, 0]


def test_a_ranker_sees_features_and_scores_go_back_to_their_rows():
    queries = rw.QuerySet([[0.1], [0.9], [0.8], [0.2]], [0, 0, 1, 1], qid=["a", "b", "a", "b"])
    by_model = rw.evaluate(Constant(), queries, "mrr")["mrr"]
    by_scores = rw.evaluate([0.1, 0.9, 0.8, 0.2], queries, "mrr")["mrr"]
    assert by_model.query_ids == ("a", "b")
    assert by_model.per_query.tolist() == by_scores.per_query.tolist() == [1.0, 0.5]


def test_our_scorers_see_queries():
    queries = rw.QuerySet([[0.1], [0.9], [0.8], [0.2]], [0, 0, 1, 1], qid=["a", "b", "a", "b"])
    scorer = rw.LinearScorer(weights=[-1.0])
    assert rw.evaluate(scorer, queries, "mrr")["mrr"].per_query.tolist() == [0.5, 1.0]


def test_rankings_are_taken_as_they_are():
    rankings = rw.Rankings.from_arrays([0.1, 0.2], [1, 0], qid=["a", "a"])
    assert rw.evaluate(rankings, measures="mrr")["mrr"].mean == 0.5


def test_weights_of_queries():
    arguments = ([2.0, 1.0, 2.0, 1.0], [1, 0, 0, 1], "mrr")
    qid = ["a", "a", "b", "b"]
    weighted = [{"a": 3, "b": 1}, [3, 1], [3, 3, 1, 1]]
    for weights in weighted:
        assert rw.evaluate(*arguments, qid=qid, query_weight=weights)["mrr"].mean == 0.875
    queries = rw.QuerySet([[0.0]] * 4, arguments[1], qid=qid, query_weight=[0, 1])
    assert rw.evaluate(arguments[0], queries, "mrr")["mrr"].mean == 0.5


def test_weights_of_0_take_a_query_out():
    result = rw.evaluate([0.1, 0.2], [1, 1], "map", qid=[1, 2], query_weight=[0, 1])["map"]
    assert (result.counted, result.mean) == (1, 1.0)
    nothing = rw.evaluate([0.1, 0.2], [1, 1], "map", qid=[1, 2], query_weight=[0, 0])
    assert nothing["map"].counted == 0 and np.isnan(nothing["map"].mean)
    assert "anything to find and a weight above 0" in str(nothing)


def test_mappings_are_runs_and_judgements():
    run, qrels = {"q": {"a": 0.1, "b": 0.2}}, {"q": {"a": 1, "b": 0}}
    assert rw.evaluate(run, qrels, "mrr")["mrr"].mean == 0.5
    assert rw.evaluate(rw.Run.from_dict(run), qrels, "mrr")["mrr"].mean == 0.5
    assert rw.compare({"a": run, "b": run}, qrels, "mrr")[0].ties == 1


def test_a_plain_function_is_a_measure():
    def top(labels):
        return labels[0]

    assert rw.evaluate([0.1, 0.2], [1, 3], top, qid=1)["top"].mean == 3.0


def test_measures_given_twice_are_one_result():
    result = rw.evaluate([1.0], [1], ["map", rw.measure("map"), "mrr"], qid=1)
    assert [str(measure) for measure in result] == ["map", "mrr"]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([0.1], [1, 0]), {"qid": [1, 1]}, r"the scores have shape \(1,\) for 2 rows; give one a row"),
        (([0.1, np.nan], [1, 0]), {"qid": 1}, "row 1: the score is NaN"),
        (([0.1, "x"], [1, 0]), {"qid": 1}, "the scores"),
        (([0.1, 0.2], [[1, 0]]), {"qid": 1}, "the labels have 2 dimensions; give one a row"),
        (([0.1, 0.2], [1, 0]), {}, "qid is missing"),
        (([0.1, 0.2], [1, 0]), {"qid": [1]}, "qid has shape"),
        (([0.1, 0.2], None), {}, "there is nothing to evaluate on"),
        (([0.1, 0.2], [1, 0], []), {"qid": 1}, "no measure was given"),
        (([0.1, 0.2], [1, 0], "ndgc@10"), {"qid": 1}, "there is no measure 'ndgc'; did you mean ndcg"),
        (([0.1, 0.2], [0, -1]), {"qid": 1}, "row 1: label -1 cannot be used by ndcg@10"),
        (([0.1, 0.2, 0.3], [0, 1, -1]), {"qid": [1, 2, 1]}, "row 2: label -1"),
        (([0.1, 0.2], [0, np.inf]), {"qid": 1}, "row 1: label inf"),
        (([0.1, 0.2], [0, 5], "err"), {"qid": 1}, "row 1: label 5 cannot be used by err"),
        (([0.1, 0.2], rw.QuerySet([[0], [0]], qid=1)), {}, "the data has no labels"),
        (([0.1, 0.2], rw.QuerySet([[0], [0]], [1, 0], qid=1)), {"qid": 1}, "has its own qid"),
        ((Constant(), [1, 0]), {"qid": 1}, "Constant predicts from features; give a QuerySet"),
        ((rw.Rankings.from_arrays([1], [1], qid=1), [1]), {}, "rankings hold their own labels"),
        (([0.1, 0.2], [1, 0]), {"qid": 1, "query_weight": [1, 2, 3]}, "query_weight has shape"),
        (([0.1, 0.2], [1, 0]), {"qid": 1, "documents": ["a"]}, "1 document ids for 2 rows"),
        (([0.1, 0.2], [1, 0], 5), {"qid": 1}, "5 is not a measure; give its syntax"),
        ((object(), [1, 0]), {"qid": 1}, "the scores hold <object .*, which is not a number"),
        ((rw.Run.from_dict({"q": {"d": 1}}), [1, 0]), {}, "goes with judgements, and list is none"),
        (([0.1], rw.Qrels.from_dict({"q": {"d": 1}})), {}, "judgements go with a TREC run, and list is none"),
    ],
)
def test_refusals_name_the_place_and_the_cure(arguments, options, message):
    with pytest.raises(rw.InputError, match=message):
        rw.evaluate(*arguments, **options)


COLD = """
import sys, time
begin = time.perf_counter()
import rankwright as rw
measures = ["ndcg@10", "map", "mrr", "p@10", "pairs"]
result = rw.evaluate([0.3, 0.2, 0.1, 0.3], [0, 1, 1, 0], measures, qid=[1, 1, 2, 2])
assert 0 < result["map"].mean < 1
heavy = {"numba", "sklearn", "pandas", "pyarrow", "scipy.stats"} & set(sys.modules)
print(time.perf_counter() - begin, *heavy)
"""


def test_a_first_evaluation_waits_for_no_compiler():
    """Nothing heavy is imported; so two queries in a fresh process take less than a second."""
    run = subprocess.run([sys.executable, "-c", COLD], capture_output=True, text=True, check=True)
    _, *heavy = run.stdout.split()
    assert heavy == []


def test_small_inputs_use_kernels_that_are_compiled_already(monkeypatch):
    """The same bits either way, with and without a compiler."""
    rng = np.random.default_rng(5)
    scores, labels, qid = rng.normal(size=300).round(1), rng.integers(0, 4, 300), np.repeat(np.arange(20), 15)
    small = rw.evaluate(scores, labels, NAIVE, qid=qid)
    monkeypatch.setattr(Lists, "stays_plain", lambda self, *kernels: False)
    large = rw.evaluate(scores, labels, NAIVE, qid=qid)
    for measure in small:
        np.testing.assert_array_equal(large[measure].per_query, small[measure].per_query)
        assert (large[measure].mean, large[measure].tied) == (small[measure].mean, small[measure].tied)
