import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import diagnostics as naive

import rankwright as rw
from rankwright.diagnostics import effective_pairs
from rankwright.pairwise.rules import rule
from rankwright.runtime.errors import InputError

queries = st.integers(2, 9).flatmap(
    lambda n: st.tuples(
        st.permutations(range(n)), st.lists(st.integers(0, 2), min_size=n, max_size=n).filter(any)
    )
)


def counted(lists, measure, **options):
    labels = [label for _, query in lists for label in query]
    scores = [float(score) for query, _ in lists for score in query]
    qid = [q for q, (_, query) in enumerate(lists) for _ in query]
    return effective_pairs(
        scores, rw.QuerySet(np.zeros((len(labels), 1)), labels, qid=qid), measure, **options
    )


@settings(max_examples=40)
@given(st.lists(queries, min_size=1, max_size=3), st.sampled_from(["ndcg", "ndcg@2", "map", "mrr", None]))
def test_counts_are_the_swaps_that_change_the_measure(lists, measure):
    found = counted(lists, measure)
    assert found.per_query.tolist() == [naive.effective_pairs(*query, measure) for query in lists]
    rising = counted(lists, measure, counting="rising")
    assert rising.per_query.tolist() == [
        naive.effective_pairs(*query, measure, rising=True) for query in lists
    ]
    assert found.total <= found.distinct.sum() <= found.labelled.sum()


@settings(max_examples=25)
@given(st.lists(queries, min_size=1, max_size=3))
def test_the_papers_count_for_mrr(lists):
    found = counted(lists, "mrr", counting="rising")
    assert found.per_query.tolist() == [naive.bad_above_the_top_good(*query) for query in lists]


def test_finer_measures_have_more_pairs():
    rng = np.random.default_rng(0)
    lists = [(rng.permutation(40), rng.integers(0, 5, 40)) for _ in range(5)]
    ndcg, cut, ap, rr = (
        counted(lists, name).total for name in ("ndcg", "ndcg@10", "map(threshold=2)", "mrr")
    )
    assert ndcg > cut > rr and ndcg > ap > rr
    assert counted(lists, "mrr", rule="spring-smooth").total == counted(lists, "mrr").distinct.sum()
    assert counted(lists, None, rule=rule("local-cost")).per_query.max() <= 39


def test_rankers_weights_and_unjudged_documents():
    queries = rw.QuerySet(
        [[3.0], [2.0], [1.0], [0.0]], [0, 1, np.nan, 1], qid=1, sample_weight=[1.0, 1.0, 1.0, 0.0]
    )
    found = effective_pairs(rw.LinearScorer([1.0]), queries, "ndcg")
    assert found.per_query.tolist() == [1]
    assert found.labelled.tolist() == [2]


def test_blank_queries_have_none():
    assert counted([([2, 1, 0], [0, 0, 0])], "ndcg").total == 0
    assert "0 effective pairs\nof 0" in str(counted([([2, 1, 0], [0, 0, 0])], "ndcg"))


def test_report_and_refusals():
    found = counted([([2, 1, 0], [0, 1, 2])], "ndcg@10")
    assert json.loads(json.dumps(found.as_dict()))["effective"] == 3
    assert max(len(line) for line in str(found).splitlines()) <= 80
    with pytest.raises(InputError, match="moves single documents"):
        counted([([1, 0], [0, 1])], "ndcg", rule="discrete-bounded")
    with pytest.raises(InputError, match="counting='half' is not known"):
        counted([([1, 0], [0, 1])], "ndcg", counting="half")
    with pytest.raises(InputError, match="no labels"):
        effective_pairs([1.0], rw.QuerySet([[0.0]], qid=1))
