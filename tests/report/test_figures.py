"""The figures from Python: each is drawn, saved, and shows the comparison's numbers."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.report.conftest import compared, data

import rankwright as rw
from rankwright.evaluation import Comparison
from rankwright.report.importance import DOCUMENTS, drawn, importance
from rankwright.report.verdict import verdict

FIGURES = ("measures", "differences", "curves", "gains", "moves", "learning", "importance")


def rows_of(chart: Any) -> list[dict[str, Any]]:
    """The data of a chart, or of its parts, the same only once."""
    spec = chart.to_dict()
    parts = [spec, *spec.get("layer", [])]
    given = [part["data"]["values"] for part in parts if "data" in part]
    return [row for number, rows in enumerate(given) if rows not in given[:number] for row in rows]


@pytest.mark.parametrize("figure", FIGURES)
def test_each_is_saved_as_svg(comparison: Comparison, figure: str, tmp_path: Path) -> None:
    path = tmp_path / "figure.svg"
    comparison.plot(figure).save(str(path))
    assert path.read_text(encoding="utf-8").startswith("<svg")


def test_and_as_png(comparison: Comparison, tmp_path: Path) -> None:
    path = tmp_path / "figure.png"
    comparison.plot().save(str(path))
    assert path.read_bytes()[:4] == b"\x89PNG"


def test_means_and_curves_are_the_evaluations(comparison: Comparison) -> None:
    means = {row["name"]: row["value"] for row in rows_of(comparison.plot("measures", measure="map"))}
    assert means == {name: each["map"].mean for name, each in comparison.evaluations.items()}
    ends = {row["series"]: row["y"] for row in rows_of(comparison.plot("curves")) if row["x"] == 10}
    assert ends == {name: each["ndcg@10"].mean for name, each in comparison.evaluations.items()}


def test_gains_are_sorted_and_of_the_systems_asked_for(comparison: Comparison) -> None:
    rows = rows_of(comparison.plot("gains", between=("noise", "net"), measure="map"))
    gains = [row["gain"] for row in rows]
    assert gains == sorted(gains, reverse=True)
    net, noise = (comparison.evaluations[name]["map"].per_query for name in ("net", "noise"))
    assert sum(gains) == pytest.approx(np.nansum(noise - net))
    assert {row["kind"] for row in rows if row["gain"] < 0} == {"lost"}


def test_many_queries_share_bars() -> None:
    rows = rows_of(compared(data(2500, documents=3), "mrr").plot("gains"))
    assert len(rows) <= 1000
    assert all(before["next"] == after["rank"] for before, after in itertools.pairwise(rows))


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"figure": "pie"}, "no figure 'pie'"),
        ({"measure": "err@3"}, "err@3 was not compared; there is ndcg@10"),
        ({"between": ("net", "b")}, "'b' is none of the systems"),
        ({"figure": "moves", "query": "x"}, "no query 'x'"),
    ],
)
def test_what_there_is_not_is_refused(comparison: Comparison, asked: dict[str, Any], message: str) -> None:
    with pytest.raises(rw.InputError, match=message):
        comparison.plot(**asked)


def test_scores_alone_have_no_learning_and_no_features(tmp_path: Path) -> None:
    found = rw.compare({"a": [2, 1, 3], "b": [1, 2, 3]}, [1, 0, 2], "mrr", qid=[1, 1, 1])
    for figure in ("learning", "importance"):
        with pytest.raises(rw.InputError, match="nothing to draw"):
            found.plot(figure)
    assert '"learning":[]' in found.to_html(tmp_path / "scores.html")


def test_documents_of_runs_are_the_same_where_their_ids_are() -> None:
    qrels = rw.Qrels.from_dict({"q": {"x": 1, "y": 0}})
    runs = {
        "a": rw.Run.from_dict({"q": {"x": 2.0, "y": 1.0}}),
        "b": rw.Run.from_dict({"q": {"z": 2.0, "x": 1.0}}),
    }
    rows = rows_of(rw.compare(runs, qrels, "map").plot("moves"))
    where = {(row["document"], row["system"]): (row["place"], row["label"]) for row in rows}
    assert where["x", "a"] == (1, "1")
    assert where["x", "b"] == (2, "1")
    assert where["z", "a"] == ("–", "?")


def test_rankings_without_ids_and_of_other_sizes_tell_no_moves() -> None:
    a = rw.Rankings.from_arrays([2, 1], [1, 0], qid=[1, 1])
    b = rw.Rankings.from_arrays([2, 1, 0], [1, 0, 0], qid=[1, 1, 1])
    found = rw.compare({"a": a, "b": b}, None, "mrr")
    with pytest.raises(rw.InputError, match="which documents are the same"):
        found.plot("moves")
    assert 'id="documents">null<' in found.to_html()


def test_a_feature_is_worth_what_shuffling_it_loses() -> None:
    queries, ranker = data(30), rw.LinearScorer([1.0, 0.5, 0.0])
    queries = queries.with_weights(query_weight=np.arange(30.0))
    rows = importance(ranker, queries, rw.measure("ndcg@10"))
    assert rows[0]["feature"] == "1"
    assert next(row for row in rows if row["feature"] == "3")["value"] == 0
    found = rw.permutation_importance(ranker, queries, "ndcg@10", n_repeats=1)
    assert (rows[0]["value"], rows[0]["low"], rows[0]["high"]) == (found.mean[0], *found.interval[0])


def test_large_data_is_sampled() -> None:
    queries = data(400)
    sample = drawn(queries)
    assert DOCUMENTS <= len(sample) < DOCUMENTS + queries.sizes.max()


def test_the_verdict_names_what_could_be_chance() -> None:
    queries = data(40)
    labels = np.asarray(queries.labels)
    nearly = labels.copy()
    nearly[queries.offsets[1:3]] -= 0.5
    systems = {"best": labels, "nearly": nearly, "worst": -labels}
    told = verdict(rw.compare(systems, queries, "ndcg@10"), rw.measure("ndcg@10"))
    assert told.startswith("best is best by ndcg@10, 1.0000: better than worst by ")
    assert "Its lead over nearly, " in told
    assert told.endswith(", could be chance.")


def test_a_verdict_on_blank_queries_says_so() -> None:
    found = rw.compare({"a": [2, 1], "b": [1, 2]}, [0, 0], "mrr", qid=[1, 1])
    assert verdict(found, rw.measure("mrr")).startswith("No query counts for mrr")
    assert "No query counts" in found.to_html()
