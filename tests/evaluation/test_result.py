"""What a result says: means, intervals, counts, ranges; as a table, a dictionary and a frame."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import rankwright as rw


@pytest.fixture
def result():
    """Three queries: one with a tie, one blank, one with a single document."""
    scores, labels = [0.9, 0.9, 0.2, 0.4, 0.3, 0.5], [0, 1, 2, 0, 0, 1]
    return rw.evaluate(scores, labels, ["ndcg@2", "mrr(blank=0)"], qid=["a", "a", "a", "b", "b", "c"])


def test_counts(result):
    first = result["ndcg@2"]
    assert (first.counted, first.blank, first.short, first.tied) == (2, 1, 1, 1)
    second = result["mrr(blank=0)"]
    assert (second.counted, second.blank, second.short, second.tied) == (3, 1, 0, 1)
    np.testing.assert_array_equal(np.isnan(first.per_query), [False, True, False])
    assert second.per_query.tolist() == [0.5, 0.0, 1.0]
    assert first.query_ids == ("a", "b", "c")


def test_keys_are_measures_or_their_syntax(result):
    assert result["ndcg@2"] is result[rw.measure("ndcg@2")] is result["NDCG@2"]
    with pytest.raises(KeyError, match="map was not evaluated; there is ndcg@2, mrr"):
        result["map"]
    assert len(result) == 2 and rw.measure("ndcg@2") in result


def test_interval_is_students():
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(2)
    scores, labels = rng.normal(size=400), rng.integers(0, 2, 400)
    measured = rw.evaluate(scores, labels, "map", qid=np.repeat(np.arange(40), 10))["map"]
    values = measured.per_query[~np.isnan(measured.per_query)]
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    np.testing.assert_allclose(measured.interval, (expected.low, expected.high), rtol=1e-12)


def test_equal_weights_do_not_change_the_interval():
    rng = np.random.default_rng(3)
    arguments = (rng.normal(size=60), rng.integers(0, 2, 60), "map")
    qid = np.repeat(np.arange(12), 5)
    one = rw.evaluate(*arguments, qid=qid)["map"]
    two = rw.evaluate(*arguments, qid=qid, query_weight=np.full(12, 3.0))["map"]
    np.testing.assert_allclose(two.interval, one.interval, rtol=1e-12)
    np.testing.assert_allclose(two.bootstrap_interval(), one.bootstrap_interval(), rtol=1e-12)


def test_bootstrap_interval_is_near_students_and_the_same_on_any_threads():
    rng = np.random.default_rng(4)
    scores, labels = rng.normal(size=2000), rng.integers(0, 2, 2000)
    measured = rw.evaluate(scores, labels, "map", qid=np.repeat(np.arange(200), 10))["map"]
    found = measured.bootstrap_interval(n_resamples=2000, n_jobs=1)
    assert found == measured.bootstrap_interval(n_resamples=2000, n_jobs=2)
    assert found == measured.bootstrap_interval(n_resamples=2000, n_jobs=3)
    width = measured.interval[1] - measured.interval[0]
    np.testing.assert_allclose(found, measured.interval, atol=width / 10)
    narrow = measured.bootstrap_interval(0.5)
    assert found[0] < narrow[0] < narrow[1] < found[1]


def test_queries_of_no_weight_say_nothing_of_the_mean():
    arguments = ([2.0, 1.0] * 4, [1, 0, 0, 1, 1, 0, 0, 1], "mrr")
    qid = np.repeat(np.arange(4), 2)
    some = rw.evaluate(*arguments, qid=qid, query_weight=[1, 1, 0, 0])["mrr"]
    few = rw.evaluate(*(part[:4] for part in arguments[:2]), "mrr", qid=qid[:4])["mrr"]
    assert some.mean == few.mean and some.interval == few.interval
    assert some.bootstrap_interval() == few.bootstrap_interval()


def test_a_mean_over_nothing_is_not_a_number_and_says_so():
    blank = rw.evaluate([1.0, 2.0], [0, 0], "map", qid=1)
    assert math.isnan(blank["map"].mean)
    figures = blank["map"]
    assert all(map(math.isnan, (*figures.interval, *figures.bootstrap_interval(), *figures.range)))
    assert "no query counts: none of them has anything to find" in str(blank)
    assert blank.as_dict()["map"]["mean"] is None


@pytest.mark.parametrize("options", [{"level": 1.5}, {"n_resamples": 0}, {"random_state": -1}])
def test_bootstrap_refuses(result, options):
    with pytest.raises(rw.InputError, match=next(iter(options))):
        result["ndcg@2"].bootstrap_interval(**options)


def test_range_is_shown_where_ties_leave_the_mean_open(result):
    worst, best = result["mrr(blank=0)"].range
    assert (worst, best) == (0.5, (1.0 + 0.0 + 1.0) / 3)
    text = str(result)
    assert "over the orders of tied documents: 0.5000 (worst) to 0.6667 (best)" in text
    assert "tied documents" not in str(rw.evaluate([1.0, 2.0], [0, 1], "map", qid=1))


def test_table_fits_80_columns():
    rng = np.random.default_rng(6)
    scores, labels, qid = rng.normal(size=300), rng.integers(0, 31, 300), np.repeat(np.arange(30), 10)
    measures = ["ndcg@10(gain=linear, blank=0, ties=average)", "dcg@10", "map:trec_eval", "wta"]
    ids = [f"d{number}" for number in range(300)]
    result = rw.evaluate(scores, labels, measures, qid=qid, documents=ids)
    assert max(map(len, str(result).splitlines())) <= 80
    assert str(result["wta"]).splitlines()[-1].startswith("wta")


def test_dictionaries_and_frames(result):
    pandas = pytest.importorskip("pandas")
    plain = json.loads(json.dumps(result.as_dict(), allow_nan=False))
    assert plain["ndcg@2"]["counted"] == 2 and plain["ndcg@2"]["mean"] == result["ndcg@2"].mean
    columns = result.to_dict()
    assert list(columns) == ["query", "ndcg@2", "mrr(blank=0)"] and columns["query"] == ["a", "b", "c"]
    frame = result.frame()
    assert isinstance(frame, pandas.DataFrame) and frame["mrr(blank=0)"].tolist() == [0.5, 0.0, 1.0]
