"""``rankwright data``: what files hold, and other forms for them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Run

import rankwright as rw


def test_info_names_features_as_the_file_does(folder: Path, run: Run) -> None:
    (folder / "odd.txt").write_text("1 qid:1 1:5 2:1\n0 qid:1 1:5 2:nan\n")
    result = run("data", "info", folder / "data.txt", folder / "odd.txt", "--json")
    assert result.exit_code == 0
    whole, odd = json.loads(result.stdout).values()
    assert (whole["queries"], whole["documents"], whole["features"]) == (8, 40, 3)
    assert (odd["constant"], odd["missing_features"]) == (["1"], ["2"])
    text = run("data", "info", folder / "odd.txt").stdout
    assert text.startswith(str(folder / "odd.txt"))
    assert max(map(len, text.splitlines()[1:])) <= 80


@pytest.mark.parametrize("ending", ["parquet", "txt.gz", "txt.zst", "txt"])
def test_converting_there_and_back_loses_nothing(ending: str, folder: Path, run: Run) -> None:
    there, back = folder / f"there.{ending}", folder / "back.txt"
    assert run("data", "convert", folder / "data.txt", there).exit_code == 0
    assert run("data", "convert", there, back).exit_code == 0
    assert rw.read_letor(back).equals(rw.read_letor(folder / "data.txt"))


def test_nothing_is_overwritten_unless_forced(folder: Path, run: Run) -> None:
    target = folder / "there.parquet"
    target.write_text("precious")
    refused = run("data", "convert", folder / "data.txt", target)
    assert refused.exit_code == 1
    assert "there already" in refused.stderr
    assert target.read_text() == "precious"
    assert run("data", "convert", folder / "data.txt", target, "--force").exit_code == 0
    assert len(rw.read_parquet(target)) == 40
