"""What the experiments make of their pieces' results, and the cheapest of their short forms."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import rankwright as rw
from rankwright.reproductions import paper_2005, paper_2006, paper_2009
from rankwright.reproductions.contests import (
    TRUNCATIONS,
    best_net,
    contest,
    one_net,
    panel_figures,
    panel_tables,
)
from rankwright.reproductions.experiments import together


def net_result(valid, level):
    """What ``one_net`` gives, of four test queries about a level."""
    values = (level + np.array([-0.1, 0.0, 0.1, 0.02])).tolist()
    return {
        "valid": valid,
        "means": dict.fromkeys(TRUNCATIONS, level),
        "intervals": {measure: [level - 0.1, level + 0.1] for measure in TRUNCATIONS},
        "per query": {"ndcg@1": values, "ndcg@10": values},
    }


def test_panels_take_each_kind_at_its_best_rate():
    results = {
        "two layers LambdaRank 0.001": net_result(0.5, 0.4),
        "two layers LambdaRank 0.01": net_result(0.6, 0.45),
        "two layers LambdaRank 0.1": {"valid": -1.0, "failure": "it diverged"},
        "two layers RankNet 0.001": net_result(0.7, 0.42),
    }
    figures = panel_figures(results)
    assert figures["two layers, ndcg@10"] == {"LambdaRank": 0.45, "RankNet": 0.42}
    assert figures["two layers, wins"] == 10
    assert figures["two layers, ndcg@1, p"] == pytest.approx(0.0, abs=1e-9)
    [table] = panel_tables(results)
    assert len(table.rows) == 20


def test_results_by_draw():
    results = {"net 100 draw 0": {"a": 1}, "net 100 draw 1": {"a": 3}, "net 500 draw 0": {"a": 5}}
    assert paper_2005.by_draw(results) == {"net 100": {"a": [1, 3]}, "net 500": {"a": [5]}}


def test_pairs_are_counted_as_the_paper_does():
    data = rw.synthetic.random_net(3, 20, 4, random_state=1)
    counted = sum(
        int(a != b) for rows in data.slices() for a, b in itertools.combinations(data.labels[rows], 2)
    )
    assert paper_2005.pairs_of(data) == counted


def test_slopes_of_times():
    results = {f"web {name}": {"v1": 10.0, "v2": 1.0} for name in paper_2006.NETS.values()}
    for size in (1000, 2000, 4000):
        results[f"query {size}"] = {
            "v1": size**2 * 1e-6, "v2": size * 1e-6, "v2's net": size * 1e-7, "v2's pairs": size**2 * 1e-9,
        }  # fmt: skip
    figures = paper_2006.figure_1_figures(results)
    assert figures["slope of v1"] == pytest.approx(2)
    assert figures["slope of v2's net"] == pytest.approx(1)
    assert figures["ratio, linear"] == 10
    assert figures["least ratio"] == pytest.approx(1000)


def test_query_sets_together():
    parts = [rw.QuerySet([[k], [k + 1]], [0, 1], qid=[k, k]) for k in (1, 5)]
    whole = together(parts)
    assert whole.query_ids == (1, 5)
    assert whole.features.ravel().tolist() == [1, 2, 5, 6]


def test_a_rate_that_diverges_is_not_the_best():
    parts = paper_2009.web_like(6), paper_2009.web_like(3, 1), paper_2009.web_like(3, 2)
    settings = {"hidden": 0, "epochs": 2, "restart_rounds": None}
    assert one_net("RankNet", 1e12, parts, **settings)["valid"] == -1.0
    net = best_net("RankNet", *parts[:2], rates=(1e-4, 1e12), **settings)
    assert net.learning_rate == 1e-4
    with pytest.raises(rw.InputError, match="every learning rate"):
        best_net("RankNet", *parts[:2], rates=(1e12,), **settings)
    found = contest({"a": net, "b": np.zeros(len(parts[2]))}, parts[2], ["ndcg@10"])
    assert set(found["means"]["ndcg@10"]) == {"a", "b"}
    assert set(found["p"]["ndcg@10"]) == {"a - b"}
