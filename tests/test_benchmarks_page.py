"""The pages that show benchmarks are what their figures make of them."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks import page

ABOUT = {"machine": "a machine", "python": "3.11.0", "date": "2026-01-01"}


def test_the_pages_are_what_the_kept_figures_give() -> None:
    for path, text in page.pages().items():
        assert path.read_text(encoding="utf-8") == text, f"run python -m benchmarks.page for {path.name}"


def test_figures_become_tables(tmp_path: Path) -> None:
    (tmp_path / "lambdamart.md").write_text(f"# Options\n{page.BEGIN}old\n{page.END}the end\n")
    empty = page.pages(tmp_path, tmp_path)
    assert page.NO_FIGURES in empty[tmp_path / "benchmarks.md"]
    assert empty[tmp_path / "lambdamart.md"].count(page.NO_FIGURES) == 1
    timed = {"title": "Speed.", "command": "python -m benchmarks.speed", **ABOUT, "rows": [{"ours": 0.12345}]}
    (tmp_path / "speed.json").write_text(json.dumps(timed))
    rows = [
        {"data": data, "option": option, "ndcg@10": 0.5, "difference": by, "error": abs(by) / 2, "time": 1.5}
        for data in ("A", "B")
        for option, by in (("plain", 0.0), ("both", 0.01))
    ]
    bought = {"title": "Options.", "command": "python -m benchmarks.quality_options", **ABOUT, "rows": rows}
    (tmp_path / "quality_options.json").write_text(json.dumps(bought))
    made = page.pages(tmp_path, tmp_path)
    assert "## Speed\n\n`python -m benchmarks.speed` · a machine" in made[tmp_path / "benchmarks.md"]
    assert "| ours |\n| --- |\n| 0.123 |" in made[tmp_path / "benchmarks.md"]
    options = made[tmp_path / "lambdamart.md"]
    assert options.startswith(f"# Options\n{page.BEGIN}")
    assert options.endswith(f"{page.END}the end\n") and "old" not in options
    assert "| option | A | time | B | time |" in options
    assert "| plain | 0.5000 | 1 | 0.5000 | 1 |" in options
    assert "| both | +0.0100 ± 0.0050 | 1.5 | +0.0100 ± 0.0050 | 1.5 |" in options
