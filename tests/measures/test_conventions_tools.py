"""Conventions against the tools themselves, query by query and in the mean, to 1e-12 absolute.

Scores are multiples of 1/8: trec_eval and XGBoost keep them as float32, which ties scores
that differ less.
Labels of CatBoost's ERR are multiples of 1/8 for the same reason.
"""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.lists import Ranked, sizes

import rankwright as rw

TOLERANCE = 1e-12

TOOLS = {
    "trec_eval": {
        "ndcg": "ndcg",
        "ndcg@1": "ndcg_cut_1",
        "ndcg@5": "ndcg_cut_5",
        "map": "map",
        "ap@3": "map_cut_3",
        "mrr": "recip_rank",
        "p@5": "P_5",
        "recall@3": "recall_3",
        "bpref": "bpref",
    },
    "sklearn": {"ndcg": "ndcg", "ndcg@3": "ndcg@3", "dcg": "dcg", "dcg@5": "dcg@5", "auc": "roc_auc"},
    "lightgbm": {
        "ndcg@1": "ndcg@1",
        "ndcg@5": "ndcg@5",
        "ndcg": "ndcg@100000",
        "ap@1": "map@1",
        "ap@3": "map@3",
        "map": "map@100000",
    },
    "xgboost": {
        "ndcg@1": "ndcg@1",
        "ndcg@5": "ndcg@5",
        "ndcg": "ndcg",
        "ndcg@5(blank=0)": "ndcg@5-",
        "ndcg(blank=0)": "ndcg-",
        "ap@3": "map@3",
        "ap@3(blank=0)": "map@3-",
        "map": "map",
        "map(blank=0)": "map-",
        "p@5": "pre@5",
        "p": "pre",
        "ndcg@5(gain=linear)": "ndcg@5;ndcg_exp_gain=false",
    },
    "catboost": {
        "ndcg": "NDCG",
        "ndcg@3": "NDCG:top=3",
        "ndcg@3(gain=exp)": "NDCG:top=3;type=Exp",
        "ndcg@3(discount=zipf)": "NDCG:top=3;denominator=Position",
        "dcg": "DCG",
        "dcg@3": "DCG:top=3",
        "map": "MAP",
        "ap@3": "MAP:top=3",
        "mrr": "MRR",
        "rr@3": "MRR:top=3",
        "err": "ERR",
        "err@3": "ERR:top=3",
        "p@5": "PrecisionAt:top=5",
        "recall@3": "RecallAt:top=3",
        "auc": "QueryAUC",
        "pairs": "QueryAUC:type=Ranking",
    },
}
THRESHOLD = {"map", "ap", "mrr", "rr", "p", "recall"}
BINARY = {("xgboost", "map"), ("xgboost", "ap"), ("xgboost", "p"), ("catboost", "auc"), ("catboost", "err")}
"""Metrics that the tool refuses on graded labels (CatBoost's ERR: on labels above 1)."""
ROWS = [(tool, ours, theirs) for tool, metrics in TOOLS.items() for ours, theirs in metrics.items()]


def levels(tool: str, ours: str) -> tuple[float, ...]:
    name = ours.partition("@")[0].partition("(")[0]
    if (tool, name) == ("catboost", "err"):
        return (0.0, 0.25, 0.625, 1.0)
    if (tool, name) in BINARY:
        return (0.0, 1.0)
    if tool in ("lightgbm", "catboost") and name in THRESHOLD:
        return (0.0, 0.5, 0.625, 2.0)  # relevant is what is above a half
    if tool in ("lightgbm", "xgboost"):
        return (0.0, 1.0, 2.0, 30.0)
    return (0.0, 1.0, 2.0, 4.0)


def accepts(tool: str, ours: str, query: Ranked) -> bool:
    """Whether the tool has a value for this query: scikit-learn raises for some."""
    if tool != "sklearn":
        return True
    if ours == "auc":
        return 0 < sum(label >= 1 for label in query.labels) < len(query.labels)
    return len(query.labels) > 1


def ours_and_theirs(tool: str, ours: str, theirs: str, queries: list[Ranked]) -> None:
    oracle = importlib.import_module(f"tests.oracles.{tool}")
    asked = [query for query in queries if accepts(tool, ours, query)]
    if not asked:
        return
    result = evaluated(f"{ours}:{tool}", asked)
    expected = [oracle.mean(theirs, [query]) for query in asked]
    np.testing.assert_allclose(result.per_query, expected, rtol=0, atol=TOLERANCE)
    assert abs(result.mean - oracle.mean(theirs, asked)) <= TOLERANCE


def evaluated(measure: str, queries: list[Ranked]):
    labels = np.concatenate([query.labels for query in queries])
    given = rw.QuerySet(
        np.zeros((len(labels), 1)),
        labels,
        qid=np.repeat(np.arange(len(queries)), sizes(queries)),
        documents=[document for query in queries for document in query.documents],
    )
    scores = np.concatenate([query.scores for query in queries])
    return rw.evaluate(scores, given, [measure])[measure]


@st.composite
def lists(draw: st.DrawFn, labels: tuple[float, ...]) -> Ranked:
    """Short lists with many ties; blank and one-document queries are common."""
    n = draw(st.integers(1, 9))
    scores = draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n))
    # d10 stands before d9 as text, so that ids order otherwise than numbers.
    documents = draw(st.permutations([f"d{number}" for number in range(4, 4 + n)]))
    return Ranked(
        tuple(score / 8 for score in scores),
        tuple(draw(st.lists(st.sampled_from(labels), min_size=n, max_size=n))),
        tuple(documents),
    )


@pytest.mark.parametrize(("tool", "ours", "theirs"), ROWS)
def test_a_convention_is_its_tool_on_short_lists(tool: str, ours: str, theirs: str) -> None:
    importable(tool)

    @settings(max_examples=12, deadline=None)
    @given(st.lists(lists(levels(tool, ours)), min_size=1, max_size=5))
    def check(queries: list[Ranked]) -> None:
        ours_and_theirs(tool, ours, theirs, queries)

    check()


@pytest.mark.parametrize(("tool", "ours", "theirs"), ROWS)
def test_a_convention_is_its_tool_on_long_lists(tool: str, ours: str, theirs: str) -> None:
    # Sorts that are stable by luck on short lists are found out on long ones.
    importable(tool)
    random = np.random.default_rng(7)
    choice = levels(tool, ours)
    queries = [
        Ranked(
            tuple(random.integers(0, n // 2, n) / 8),
            tuple(random.choice(choice, n)),
            tuple(f"d{number}" for number in random.permutation(n)),
        )
        for n in random.integers(30, 300, 20)
    ]
    ours_and_theirs(tool, ours, theirs, queries)


def importable(tool: str) -> None:
    module = {"trec_eval": "pytrec_eval"}.get(tool, tool)
    pytest.importorskip(module, reason=f"{module} is not installed; it comes with the extra bench")


def test_trec_eval_judges_what_was_not_retrieved() -> None:
    """Judged documents that a run lacks count in the ideal and in R; those without judgement gain nothing."""
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="it comes with the extra test")
    random = np.random.default_rng(3)
    metrics = TOOLS["trec_eval"]
    for _ in range(50):
        judged = {f"d{number}": int(random.integers(0, 4)) for number in range(8)}
        run = {f"d{number}": float(-rank) for rank, number in enumerate(random.permutation(12)[:9])}
        labels = [float(judged.get(document, np.nan)) for document in run]
        theirs = pytrec_eval.RelevanceEvaluator({"q": judged}, set(metrics.values())).evaluate({"q": run})[
            "q"
        ]
        for ours, metric in metrics.items():
            value = rw.measure(f"{ours}:trec_eval").value(labels, list(judged.values()))
            assert abs(value - theirs[metric]) <= TOLERANCE, (ours, judged, run)


def test_where_scikit_learn_has_no_auc_the_query_is_left_out() -> None:
    one_kind = Ranked((2.0, 1.0), (1.0, 1.0), ("a", "b"))
    two_kinds = Ranked((2.0, 1.0), (1.0, 0.0), ("a", "b"))
    assert evaluated("auc:sklearn", [one_kind, two_kinds]).counted == 1


def test_pytrec_eval_ties_scores_that_are_one_float32_and_we_do_not() -> None:
    trec_eval = pytest.importorskip("tests.oracles.trec_eval", reason="it comes with the extra test")
    query = Ranked((1.0 + 1e-12, 1.0), (1.0, 0.0), ("a", "b"))
    assert trec_eval.mean("recip_rank", [query]) == 0.5
    assert evaluated("mrr:trec_eval", [query]).mean == 1.0
    rounded = query._replace(scores=tuple(float(np.float32(score)) for score in query.scores))
    assert evaluated("mrr:trec_eval", [rounded]).mean == 0.5


def test_the_minus_of_xgboost_is_a_blank_of_zero() -> None:
    xgboost = pytest.importorskip("tests.oracles.xgboost", reason="xgboost comes with the extra bench")
    blank = Ranked((2.0, 1.0), (0.0, 0.0), ("a", "b"))
    assert xgboost.mean("ndcg@5", [blank]) == evaluated("ndcg@5:xgboost", [blank]).mean == 1.0
    assert xgboost.mean("ndcg@5-", [blank]) == evaluated("ndcg@5(blank=0):xgboost", [blank]).mean == 0.0


def test_the_average_precision_of_scikit_learn_is_ours_where_no_scores_tie() -> None:
    # Tied documents enter its precision-recall curve together, which is neither the value of an order nor an
    # expected value over orders; so there is no map:sklearn.
    sklearn = pytest.importorskip("tests.oracles.sklearn", reason="scikit-learn is a dependency")
    random = np.random.default_rng(5)
    for n in (1, 2, 5, 50):
        labels = random.integers(0, 2, n).astype(float)
        labels[0] = 1.0
        query = Ranked(tuple(random.permutation(n) / 8), tuple(labels), tuple(map(str, range(n))))
        expected = sklearn.mean("average_precision", [query])
        assert abs(evaluated("map", [query]).mean - expected) <= TOLERANCE
    tied = Ranked((1.0, 1.0, 1.0, 0.0), (1.0, 0.0, 1.0, 0.0), ("a", "b", "c", "d"))
    assert sklearn.mean("average_precision", [tied]) == 2 / 3
    for ties in ("input", "docid", "worst"):
        assert evaluated(f"map(ties={ties})", [tied]).mean != 2 / 3


@pytest.mark.parametrize("tool", ["lightgbm", "xgboost"])
def test_a_weighted_blank_query_enters_their_ndcg_with_weight_one(tool: str) -> None:
    """A slip that no convention follows: with w = 3 a blank query adds 1, while 3 enters the divisor."""
    oracle = pytest.importorskip(f"tests.oracles.{tool}", reason=f"{tool} comes with the extra bench")
    blank, second = Ranked((2, 1), (0, 0), ("a", "b")), Ranked((2, 1), (0, 1), ("a", "b"))
    value = 1 / np.log2(3)
    assert abs(oracle.mean("ndcg@5", [blank, second], weights=[3, 1]) - (1 + value) / 4) <= TOLERANCE
    assert abs(oracle.mean("map@5", [blank, second], weights=[3, 1]) - (3 + 1 / 2) / 4) <= TOLERANCE
