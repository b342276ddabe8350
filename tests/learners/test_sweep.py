"""The sweep against exact arithmetic at every crossing and in every stretch between two."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import ensembles as naive

import rankwright as rw
from rankwright.learners import sweep
from rankwright.learners.sweep import profile

JIT_OFF = os.environ.get("NUMBA_DISABLE_JIT") == "1"
MEASURES = ["ndcg@2", "map", "err@3", "pairs", "mrr", "ndcg(gain=linear)"]
SMALL = st.integers(-3, 3)
QUERY = st.lists(st.tuples(SMALL, SMALL, st.integers(0, 2)), min_size=1, max_size=6)


def as_queries(problem: Any) -> tuple[rw.QuerySet, Any, Any]:
    rows = [(q, *row) for q, query in enumerate(problem) for row in query]
    labels = np.array([row[3] for row in rows], float)
    queries = rw.QuerySet(np.zeros((len(rows), 1)), labels, qid=[row[0] for row in rows])
    return queries, np.array([row[1] for row in rows], float), np.array([row[2] for row in rows], float)


@settings(max_examples=40 if JIT_OFF else 150, deadline=None)
@given(st.lists(QUERY, min_size=1, max_size=3), st.sampled_from(MEASURES), st.booleans())
def test_the_profile_is_the_mean_between_and_at_all_crossings(
    problem: Any, name: str, whole_line: bool
) -> None:
    queries, start, direction = as_queries(problem)
    measure = rw.measure(name)
    found = profile(start, direction, measure, queries, whole_line, n_jobs=1)
    by_hand = [tuple(map(list, zip(*query, strict=True))) for query in problem]
    value = lambda labels: None if math.isnan(v := measure.value(labels)) else v  # noqa: E731
    low, high = (-math.inf, math.inf) if whole_line else (0, 1)
    if not any(value(labels) is not None for _, _, labels in by_hand):
        assert not len(found.where)
        return
    stretch = 0
    for t, crosses in naive.points(by_hand, low, high):
        expected = naive.mean_at(by_hand, t, value)
        at = int(np.searchsorted(found.where, float(t)))
        here = at < len(found.where) and found.where[at] == float(t)
        mean = found.at[at] if here else found.between[at]
        assert mean == pytest.approx(expected, abs=1e-12)
        stretch += not crosses
    assert len(found.between) <= stretch
    best = max(naive.mean_at(by_hand, t, value) for t, _ in naive.points(by_hand, low, high))
    assert max(found.between.max(), found.at.max(initial=0)) == pytest.approx(best, abs=1e-12)
    first = found.candidates(1)[0]
    assert low <= first <= high


def big(n_queries: int, documents: int, seed: int = 0) -> tuple[rw.QuerySet, Any, Any]:
    random = np.random.default_rng(seed)
    n = n_queries * documents
    labels = random.choice(5, n, p=[0.5, 0.3, 0.12, 0.05, 0.03])
    queries = rw.QuerySet(np.zeros((n, 1)), labels, qid=np.repeat(np.arange(n_queries), documents))
    return queries, labels + random.normal(size=n) * 2, labels + random.normal(size=n) * 2


def test_any_threads_and_chunks_give_the_same_bits(monkeypatch: Any) -> None:
    queries, a, b = big(20, 10)
    whole = profile(a, b - a, rw.measure("ndcg@5"), queries, n_jobs=1)
    monkeypatch.setattr(sweep, "PAIRS_A_CHUNK", 60)
    for jobs in (1, 2, 3):
        for found, expected in zip(
            profile(a, b - a, rw.measure("ndcg@5"), queries, n_jobs=jobs), whole, strict=True
        ):
            assert np.array_equal(found, expected)


def test_real_numbers_agree_with_evaluation() -> None:
    queries, a, b = big(10 if JIT_OFF else 30, 12)
    found = profile(a, b - a, rw.measure("map"), queries)
    edges = np.concatenate([[0.0], found.where, [1.0]])
    for k in range(0, len(found.between), 7):
        t = (edges[k] + edges[k + 1]) / 2
        mean = rw.evaluate(a + t * (b - a), queries, ["map"])["map"].mean
        assert found.between[k] == pytest.approx(mean, abs=1e-12)


def test_weights_and_rules_for_queries_count() -> None:
    labels, qid = [0, 1, 1, 0, 0, 0, 0, 1], [1, 1, 2, 2, 3, 3, 4, 4]
    queries = rw.QuerySet(np.zeros((8, 1)), labels, qid=qid, query_weight=[1.0, 3.0, 5.0, 0.0])
    start, direction = np.array([1.0, 0, 1, 0, 1, 0, 1, 0]), np.array([0, 2.0, 0, 4, 0, 2, 0, 2])
    found = profile(start, direction, rw.measure("mrr"), queries)
    # Query 3 is blank and query 4 weighs nothing; query 2 gets worse at 1/4, query 1 better at 1/2.
    assert found.where.tolist() == [0.25, 0.5]
    assert found.between == pytest.approx([(0.5 + 3) / 4, (0.5 + 1.5) / 4, (1 + 1.5) / 4])
    zero = profile(start, direction, rw.measure("mrr(blank=0)"), queries)
    assert zero.between * 9 == pytest.approx(found.between * 4)
    short = profile(start, direction, rw.measure("ndcg@3(short=zero)"), queries)
    assert not len(short.where) and short.between.tolist() == [0.0]


def test_no_crossing_and_no_end_of_the_line() -> None:
    queries = rw.QuerySet([[0], [0]], [0, 1], qid=1)
    mrr = rw.measure("mrr")
    flat = profile(np.array([1.0, 0.0]), np.zeros(2), mrr, queries, True)
    assert flat.candidates(3) == [0.0] and flat.between.tolist() == [0.5]
    right = profile(np.array([1.0, 0.0]), np.array([0.0, 1.0]), mrr, queries, True)
    assert right.candidates(3) == [2.0]
    left = profile(np.array([1.0, 0.0]), np.array([1.0, 0.0]), mrr, queries, True)
    assert left.candidates(3) == [-2.0, -1.0] or left.candidates(3) == [-2.0]


def test_other_rules_for_ties_are_refused() -> None:
    queries = rw.QuerySet([[0], [0]], [0, 1], qid=1)
    with pytest.raises(rw.InputError, match="use ties=input"):
        profile(np.zeros(2), np.ones(2), rw.measure("ndcg(ties=average)"), queries)


@pytest.mark.skipif(JIT_OFF, reason="the JIT is off: there is one form only")
def test_both_forms_give_the_same_bits(monkeypatch: Any) -> None:
    queries, a, b = big(5, 8)
    compiled = profile(a, b - a, rw.measure("ndcg@5"), queries, True)
    plain = sweep.sweep_queries.plain
    value = rw.measure("ndcg@5").value_kernel
    monkeypatch.setattr(sweep, "sweep_queries", lambda _value, *rest: plain(value.plain, *rest))
    for found, expected in zip(profile(a, b - a, rw.measure("ndcg@5"), queries, True), compiled, strict=True):
        assert np.array_equal(found, expected)
