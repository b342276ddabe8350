"""``rankwright compare``: models, scores, features and runs against each other."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run


def test_models_scores_and_features_are_compared_by_name(folder: Path, run: Run) -> None:
    result = run(
        "compare",
        folder / "good.rw",
        folder / "noise.txt",
        folder / "data.txt",
        "--feature",
        "3",
        "-m",
        "ndcg@3",
    )
    assert (result.exit_code, result.stderr) == (0, "")
    for name in ("good", "noise", "feature 3", "ndcg@3"):
        assert name in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_json_holds_each_pair(folder: Path, run: Run) -> None:
    result = run("compare", folder / "good.rw", folder / "bad.rw", folder / "data.txt", "--json")
    assert result.exit_code == 0
    text = json.dumps(json.loads(result.stdout))
    assert '"good"' in text
    assert '"bad"' in text


def test_runs_are_compared_on_judgements(folder: Path, run: Run) -> None:
    other = (folder / "bm25.run").read_text().replace("bm25", "other").replace(" -", " ")
    (folder / "other.run").write_text(other)
    result = run("compare", folder / "bm25.run", folder / "other.run", "--qrels", folder / "qrels.txt")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "other" in result.stdout


def test_a_report_is_written_beside_what_is_printed(folder: Path, run: Run) -> None:
    page = folder / "report.html"
    files = (folder / "good.rw", folder / "noise.txt", folder / "data.txt")
    result = run("compare", *files, "--report", page)
    assert (result.exit_code, result.stderr) == (0, "")
    text = page.read_text(encoding="utf-8")
    assert result.stdout.startswith("ndcg@10")
    assert '"systems":["good","noise"]' in text
    assert '"title":"good"' in text  # the model's features; scores have none
    assert '"title":"noise"' not in text
