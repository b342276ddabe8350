"""``rankwright reproduce``."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run


def test_it_lists_them(run: Run) -> None:
    result = run("reproduce")
    assert result.exit_code == 0
    assert "2010-figure-1" in result.output
    names = [each["name"] for each in json.loads(run("reproduce", "--json").output)]
    assert "2010-figure-1" in names


def test_it_runs_one_and_writes_the_page(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    given = ("reproduce", "2010-figure-1", "-o", str(tmp_path / "kept"), "--page", str(page))
    result = run(*given)
    assert result.exit_code == 0
    assert "ours 13; the paper's 13" in result.output
    assert "4 rows, 4 OK, 0 FAIL" in result.output
    assert "| OK | Figure 1, left |" in page.read_text()
    rows = json.loads(run(*given, "--kept", "--json").output)
    assert [row["state"] for row in rows] == ["OK"] * 4


def test_what_did_not_run_is_a_failure(run: Run, tmp_path: Path) -> None:
    result = run("reproduce", "2010-figure-1", "-o", str(tmp_path), "--kept")
    assert result.exit_code == 1
    assert "did not run" in result.output


def test_an_unknown_name_lists_those_there_are(run: Run) -> None:
    result = run("reproduce", "1812")
    assert result.exit_code == 1
    assert "2010-figure-1" in result.stderr
