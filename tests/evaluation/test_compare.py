"""``compare``: contrasts of systems query by query."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import rankwright as rw
from rankwright.evaluation.significance import TESTS, holm


def data(n_queries=40, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, 10 * n_queries)
    systems = {
        "good": labels + rng.normal(size=len(labels)),
        "fair": labels + 2 * rng.normal(size=len(labels)),
        "noise": rng.normal(size=len(labels)),
    }
    return systems, labels, np.repeat(np.arange(n_queries), 10)


def test_a_contrast_adds_up():
    systems, labels, qid = data()
    comparison = rw.compare(systems, labels, ["ndcg@5", "map"], qid=qid)
    assert [(str(c.measure), c.a, c.b) for c in comparison] == [
        (measure, a, b)
        for measure in ("ndcg@5", "map")
        for a, b in (("good", "fair"), ("good", "noise"), ("fair", "noise"))
    ]
    for contrast in comparison:
        a, b = (comparison.evaluations[name][contrast.measure] for name in (contrast.a, contrast.b))
        differences = a.per_query - b.per_query
        differences = differences[~np.isnan(differences)]
        assert (contrast.mean_a, contrast.mean_b) == (a.mean, b.mean)
        assert math.isclose(contrast.difference, a.mean - b.mean, abs_tol=1e-15)
        assert contrast.wins == (differences > 0).sum() and contrast.losses == (differences < 0).sum()
        assert contrast.wins + contrast.ties + contrast.losses == contrast.queries == len(differences)
        assert contrast.interval[0] < contrast.difference < contrast.interval[1]
        assert contrast.p["t"] == TESTS["t"](differences)
    for test in TESTS:
        assert [c.corrected[test] for c in comparison] == holm([c.p[test] for c in comparison])


def test_threads_do_not_change_the_answer():
    systems, labels, qid = data()
    one, two, three = (rw.compare(systems, labels, qid=qid, n_jobs=n).as_dict() for n in (1, 2, 3))
    assert one == two == three


def test_swapping_systems_swaps_signs():
    systems, labels, qid = data()
    [one] = rw.compare({"a": systems["good"], "b": systems["fair"]}, labels, "map", qid=qid)
    [two] = rw.compare({"b": systems["fair"], "a": systems["good"]}, labels, "map", qid=qid)
    assert one.difference == -two.difference and one.effect_size == -two.effect_size
    assert (one.wins, one.losses) == (two.losses, two.wins)
    assert one.p == two.p


def test_baseline_and_its_number_of_contrasts():
    systems, labels, qid = data()
    comparison = rw.compare(systems, labels, "map", qid=qid, baseline="fair")
    assert [(contrast.a, contrast.b) for contrast in comparison] == [("good", "fair"), ("noise", "fair")]


def test_a_system_against_itself():
    systems, labels, qid = data()
    [same] = rw.compare({"a": systems["good"], "b": systems["good"]}, labels, "map", qid=qid)
    assert (same.difference, same.effect_size, same.wins, same.losses) == (0.0, 0.0, 0, 0)
    assert set(same.p.values()) == {1.0}


def test_rounding_is_no_difference():
    """Equal sums in another order differ in the last bit: that is a tie."""
    labels = [1, 1, 0, 1, 0, 1]
    a = rw.Rankings.from_arrays([6, 5, 4, 3, 2, 1], labels, qid=1)
    nudged = rw.evaluate(a, measures="map")["map"].per_query * (1 + 2e-16)
    assert nudged[0] != rw.evaluate(a, measures="map")["map"].per_query[0]
    from rankwright.evaluation.compare import _differences

    assert _differences(nudged, nudged / (1 + 2e-16), None).tolist() == [0.0]


def test_weights_weigh_the_difference():
    systems, labels, qid = data()
    weights = np.random.default_rng(1).random(40)
    [contrast] = rw.compare(
        {"a": systems["good"], "b": systems["noise"]}, labels, "mrr", qid=qid, query_weight=weights
    )
    assert math.isclose(contrast.difference, contrast.mean_a - contrast.mean_b, rel_tol=1e-12)


def test_a_query_of_weight_0_is_not_compared():
    rows = {"a": [2, 1, 2, 1, 1, 2], "b": [1, 2, 1, 2, 2, 1]}, [1, 0] * 3, "mrr"
    qid = [1, 1, 2, 2, 3, 3]
    [contrast] = rw.compare(*rows, qid=qid, query_weight=[1, 2, 0])
    assert (contrast.queries, contrast.wins, contrast.ties, contrast.losses) == (2, 2, 0, 0)
    [contrast] = rw.compare(*rows, qid=qid, query_weight=[0, 0, 0])
    assert contrast.queries == 0 and all(math.isnan(p) for p in contrast.p.values())


def test_one_query_proves_nothing():
    comparison = rw.compare({"a": [2, 1], "b": [1, 2]}, [1, 0], "mrr", qid=1)
    p = comparison[0].p
    assert math.isnan(p["t"]) and math.isnan(p["bootstrap"])
    assert p["wilcoxon"] == p["randomisation"] == 1.0
    assert "95 % interval –   effect –\n    1 query: 1 won" in str(comparison)


def test_runs_are_matched_by_query():
    qrels = rw.Qrels.from_dict({"q1": {"a": 1, "b": 0}, "q2": {"a": 0, "b": 1}})
    one = rw.Run.from_dict({"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 2.0, "b": 1.0}})
    two = rw.Run.from_dict({"q2": {"a": 1.0, "b": 2.0}, "q1": {"a": 2.0, "b": 1.0}})
    [contrast] = rw.compare({"one": one, "two": two}, qrels, "mrr")
    assert (contrast.wins, contrast.ties, contrast.losses) == (0, 1, 1)
    short = rw.Run.from_dict({"q1": {"a": 2.0}})
    with pytest.raises(rw.InputError, match=r"query 'q2' is in one and not in short; .*complete=True"):
        rw.compare({"one": one, "short": short}, qrels, "mrr")
    [contrast] = rw.compare({"one": one, "short": short}, qrels, "mrr", complete=True)
    assert contrast.mean_b == 0.5


def test_all_blank():
    comparison = rw.compare({"a": [1, 2], "b": [2, 1]}, [0, 0], "map", qid=1)
    [contrast] = comparison
    assert contrast.queries == 0 and all(math.isnan(p) for p in contrast.p.values())
    assert json.loads(json.dumps(comparison.as_dict(), allow_nan=False))["contrasts"][0]["p"]["t"] is None
    assert "–" in str(comparison)


def test_shown_and_written():
    pandas = pytest.importorskip("pandas")
    systems, labels, qid = data()
    comparison = rw.compare(systems, labels, ["ndcg@10", "map"], qid=qid)
    assert max(map(len, str(comparison).splitlines())) <= 80
    assert "corrected after Holm for 6 contrasts" in str(comparison)
    plain = json.loads(json.dumps(comparison.as_dict(), allow_nan=False))
    assert plain["contrasts"][0]["a"] == "good" and set(plain["systems"]) == set(systems)
    frame = comparison.frame()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == 6
    assert {"measure", "difference", "interval_low", "p_t", "corrected_bootstrap"} <= set(frame.columns)


@pytest.mark.parametrize(
    ("systems", "options", "message"),
    [
        ({"a": [1, 2]}, {}, "at least two systems by name"),
        ([[1, 2], [2, 1]], {}, "at least two systems by name"),
        ({"a": [1, 2], "b": [2, 1]}, {"baseline": "c"}, "baseline='c' is none of the systems; they are a, b"),
        ({"a": [1, 2], "b": [2, 1]}, {"n_resamples": 0}, "n_resamples is 0"),
    ],
)
def test_refusals(systems, options, message):
    with pytest.raises(rw.InputError, match=message):
        rw.compare(systems, [1, 0], "map", qid=1, **options)
