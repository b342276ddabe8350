"""NDCG@10 on MQ2008, feature 25 as the score: our figures, and those of the tools on the same data."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from benchmarks import ndcg_confusion
from tests.oracles.lists import Ranked
from tests.shared import shared_data

import rankwright as rw
from rankwright.data import QuerySet


@pytest.fixture(scope="module")
def mq2008() -> QuerySet:
    return ndcg_confusion.read(shared_data("mq2008"))


@pytest.fixture(scope="module")
def figures(mq2008: QuerySet) -> dict[str, float]:
    table = ndcg_confusion.figures(mq2008, 25)
    return {measure: row["mean"] for rows in table.values() for measure, row in rows.items()}


@pytest.mark.parametrize(
    ("measure", "seen_elsewhere"),
    [
        ("ndcg@10:letor", "0.16"),
        ("ndcg@10:ranklib", "0.40"),
        ("ndcg@10:trec_eval", "0.407"),
        ("ndcg@10:gdeval", "0.56"),  # .55 with ties in file order; gdeval goes by document id
        ("ndcg@10:catboost", "0.64"),
        ("ndcg@10:lightgbm", "0.68"),
        ("map(blank=0)", "0.359"),
        ("map(blank=1)", "0.639"),
        ("map(threshold=2, blank=0)", "0.176"),
        ("ap@5(blank=0)", "0.240"),
        ("ap@5(denominator=min(R,k), blank=0)", "0.284"),
        ("ndcg@5:letor", "0.340"),
        ("ndcg@5(blank=0)", "0.329"),
        ("ndcg@10", "0.55"),
    ],
)
def test_the_figures_seen_elsewhere(figures: dict[str, float], measure: str, seen_elsewhere: str) -> None:
    decimals = len(seen_elsewhere.partition(".")[2])
    assert f"{figures[measure]:.{decimals}f}" == seen_elsewhere


def test_the_page_has_the_figures_of_today(figures: dict[str, float]) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "conventions.md").read_text()
    rows = re.findall(r"^\| `(ndcg@10[^`]*)` \| (\.\d{4}) \|", page, re.MULTILINE)
    assert dict(rows) == {measure: f"{figures[measure]:.4f}"[1:] for measure in ndcg_confusion.NDCG}


@pytest.mark.parametrize(
    ("tool", "theirs"),
    [
        ("trec_eval", "ndcg_cut_10"),
        ("lightgbm", "ndcg@10"),
        ("xgboost", "ndcg@10"),
        ("catboost", "NDCG:top=10"),
        ("sklearn", "ndcg@10"),
    ],
)
def test_the_tools_print_the_same_on_this_data(
    mq2008: QuerySet, figures: dict[str, float], tool: str, theirs: str
) -> None:
    oracle = pytest.importorskip(f"tests.oracles.{tool}", reason=f"{tool} comes with the extra bench")
    scores = mq2008.features[:, 24].astype(float)
    labels, documents = mq2008.labels, mq2008.documents
    queries = [Ranked(scores[rows], labels[rows], documents[rows]) for rows in mq2008.slices()]
    assert figures[f"ndcg@10:{tool}"] == pytest.approx(oracle.mean(theirs, queries), abs=1e-12)


def test_the_command_prints_a_table_and_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = ("2 qid:1 1:0.5 #docid = a", "0 qid:1 1:0.1 #docid = b", "0 qid:2 1:0.3 #docid = c")
    (tmp_path / "S1.txt").write_text("".join(f"{row} inc = 1 prob = 0.5\n" for row in rows))
    command = ["ndcg_confusion", str(tmp_path), "--feature", "1"]
    monkeypatch.setattr(sys, "argv", command)
    ndcg_confusion.main()
    assert "ndcg@10:letor                          0.0000  over    2 queries" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", [*command, "--json"])
    ndcg_confusion.main()
    found = json.loads(capsys.readouterr().out)["figures"]["NDCG@10"]
    assert found["ndcg@10:gdeval"] == {
        "mean": 1.0,
        "queries": 1,
        "in full": "ndcg@10(gain=0/1/3/7/15, ties=docid)",
    }
    with pytest.raises(rw.InputError, match="there is no feature 2; the data has 1 to 1"):
        ndcg_confusion.figures(ndcg_confusion.read(tmp_path / "S1.txt"), 2)
