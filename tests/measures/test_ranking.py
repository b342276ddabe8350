"""The kernels that rank and value many queries: against plain sorting, and plain against compiled."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwright.measures import measure
from rankwright.measures.lists import Lists
from rankwright.measures.ranking import rank_queries

# Among them some that single precision cannot tell apart, or hold.
SCORES = st.sampled_from(
    [-np.inf, -1e300, -4e38, -1.5, -0.0, 0.0, 1e-300, 0.5, 0.5 + 1e-12, 0.5 + 2e-12, 2.0, 4e38, 1e300, np.inf]
)


def ranked_by_kernel(form, scores, sizes):
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    order = np.full(len(scores), -1, np.int64)
    tied = np.zeros(len(sizes), np.bool_)
    form(scores, offsets, 0, len(sizes), order, tied)
    return order, tied


@given(st.lists(st.lists(SCORES, max_size=40), min_size=1, max_size=5))
@settings(max_examples=60, deadline=None)
def test_stable_descending_order_and_ties(queries):
    scores = np.array([score for query in queries for score in query])
    order, tied = ranked_by_kernel(rank_queries.plain, scores, [len(query) for query in queries])
    begin = 0
    for q, query in enumerate(queries):
        expected = sorted(range(len(query)), key=lambda place: query[place], reverse=True)
        assert (order[begin : begin + len(query)] - begin).tolist() == expected
        assert tied[q] == (len(set(query)) < len(query))
        begin += len(query)


@pytest.mark.parametrize("size", [1, 31, 32, 33, 127, 128, 129, 255, 256, 257, 400, 1000])
@pytest.mark.parametrize("levels", [3, 10**6])
@pytest.mark.parametrize("far", [0.0, 1e12])
def test_long_lists(size, levels, far):
    """Lists of several blocks are merged, also where the last block is short, or all share a key."""
    rng = np.random.default_rng(size)
    scores = far + rng.integers(0, levels, 2 * size)
    order, tied = ranked_by_kernel(rank_queries.compiled, scores, [size, size])
    query = np.repeat([0, 1], size)
    np.testing.assert_array_equal(order, np.lexsort((-scores, query)))
    assert tied.tolist() == [len(set(half)) < size for half in (scores[:size], scores[size:])]


def some_lists(n_queries=60, seed=0, **options):
    """Queries of many sizes, with ties, blank queries, one-document queries and unjudged documents."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 30, n_queries)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    n = int(offsets[-1])
    labels = rng.integers(0, 4, n) * np.repeat(rng.random(n_queries) < 0.8, sizes).astype(np.float64)
    labels[rng.random(n) < 0.1] = np.nan
    scores = np.round(rng.normal(size=n), 1)
    return Lists(labels, offsets, **options), scores


MEASURES = [
    "ndcg@10", "dcg(gain=linear)", "map", "ap@5", "mrr", "err@5", "p@3", "recall@4", "wta", "pairs", "auc",
    "bpref", "rbp(p=0.8)",
]  # fmt: skip
CASES = [
    (text, ties)
    for text in MEASURES
    for ties in ("input", "worst", "best", "average")
    if (text, ties) != ("bpref", "average")  # it has no average over ties
]


@pytest.mark.parametrize(("text", "ties"), CASES)
def test_plain_and_compiled_give_the_same_bits(text, ties, monkeypatch):
    chosen = measure(text)
    lists, scores = some_lists()
    monkeypatch.setattr(Lists, "stays_plain", lambda self, *kernels: True)
    plain = lists.ranked(scores).values(chosen, ties)
    monkeypatch.setattr(Lists, "stays_plain", lambda self, *kernels: False)
    again, _ = some_lists()
    np.testing.assert_array_equal(plain, again.ranked(scores).values(chosen, ties))
    assert not np.isnan(plain).all()


def test_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(Lists, "is_small", False)
    monkeypatch.setattr(Lists, "stays_plain", lambda self, *kernels: False)
    found = []
    for n_jobs in (1, 2, 3):
        lists, scores = some_lists(n_jobs=n_jobs)
        ranked = lists.ranked(scores)
        found.append(
            [ranked.order, ranked.tied, ranked.values(measure("ndcg@5")), ranked.values(measure("map"))]
        )
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, two)
