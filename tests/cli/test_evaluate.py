"""``rankwright evaluate``: every source of scores, every form of output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Run

import rankwright as rw


@pytest.mark.parametrize(
    "arguments",
    [
        ["{}/good.rw", "{}/data.txt"],
        ["{}/data.txt", "--feature", "1"],
        ["{}/data.txt", "--scores", "{}/scores.txt"],
        ["{}/scores.txt", "{}/data.txt"],
        ["{}/data.parquet", "--feature", "1"],
        ["--qrels", "{}/qrels.txt", "--run", "{}/bm25.run"],
        ["--qrels", "{}/qrels.txt", "{}/bm25.run", "--complete"],
    ],
    ids=" ".join,
)
def test_the_same_ranking_has_the_same_figures_in_every_form(
    arguments: list[str], folder: Path, run: Run
) -> None:
    queries = rw.read_letor(folder / "data.txt")
    queries.to_parquet(folder / "data.parquet")
    run("predict", folder / "good.rw", folder / "data.txt", "-o", folder / "scores.txt")
    result = run(
        "evaluate", *(each.format(folder) for each in arguments), "-m", "ndcg@3", "-m", "map", "--json"
    )
    assert (result.exit_code, result.stderr) == (0, "")
    shown = json.loads(result.stdout)
    assert list(shown) == ["ndcg@3", "map"]
    expected = rw.evaluate(queries.in_given_order(queries.features[:, 0]), queries, ["ndcg@3", "map"])
    for measure, figures in shown.items():
        assert figures["mean"] == pytest.approx(expected[measure].mean, abs=1e-12)
        assert figures["counted"] == expected[measure].counted


def test_figures_are_printed_as_a_table_of_80_columns(folder: Path, run: Run) -> None:
    result = run("evaluate", folder / "good.rw", folder / "data.txt")
    assert result.stdout.startswith("measure")
    assert "ndcg@10" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_values_by_query_as_tsv_and_json(folder: Path, run: Run) -> None:
    (folder / "one.txt").write_text("1 qid:7 1:1 2:0 3:0\n0 qid:7 1:2 2:0 3:0\n0 qid:blank 1:3 2:0 3:0\n")
    for ending in ("tsv", "json"):
        values = folder / f"values.{ending}"
        result = run("evaluate", folder / "good.rw", folder / "one.txt", "-m", "mrr", "--per-query", values)
        assert result.exit_code == 0
    assert (folder / "values.tsv").read_text() == "query\tmrr\n7\t0.5\nblank\t\n"
    expected = [{"query": "7", "mrr": 0.5}, {"query": "blank", "mrr": None}]
    assert json.loads((folder / "values.json").read_text()) == expected


def test_a_feature_that_is_missing_somewhere_is_no_score(folder: Path, run: Run) -> None:
    (folder / "gap.txt").write_text("1 qid:1 1:1 2:0\n0 qid:1 1:nan 2:0\n")
    result = run("evaluate", folder / "gap.txt", "--feature", "1")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "gap.txt, row 1: feature 1 is missing there" in result.stderr


def test_data_whose_last_features_are_all_zero_fits_a_wider_model(folder: Path, run: Run) -> None:
    (folder / "narrow.txt").write_text("1 qid:1 1:1\n0 qid:1 1:2\n")
    result = run("evaluate", folder / "good.rw", folder / "narrow.txt", "-m", "mrr", "--json")
    assert json.loads(result.stdout)["mrr"]["mean"] == 0.5


def test_rows_of_a_query_that_stand_apart_are_allowed_where_asked(folder: Path, run: Run) -> None:
    (folder / "apart.txt").write_text("1 qid:1 1:1\n1 qid:2 1:1\n0 qid:1 1:2\n")
    arguments = ["evaluate", folder / "apart.txt", "--feature", "1", "-m", "mrr", "--json"]
    refused = run(*arguments)
    assert refused.exit_code == 1
    assert "apart.txt, line 3" in refused.stderr
    assert json.loads(run(*arguments, "--scattered").stdout)["mrr"]["mean"] == 0.75
