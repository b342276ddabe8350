"""``rankwright measures``: all of them, and all of one."""

from __future__ import annotations

import json

import pytest
from tests.cli.conftest import Run

import rankwright as rw
from rankwright.measures.syntax import known


def test_every_measure_is_listed_in_80_columns(run: Run) -> None:
    result = run("measures")
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= 80
    listed = {
        name.removesuffix("@k")
        for each in json.loads(run("measures", "--json").stdout)
        for name in each["syntax"]
    }
    assert listed == {name for name, made in known().items() if isinstance(made, tuple)}


@pytest.mark.parametrize("name", ["ndcg@10", "map", "err", "auc", "p@5(threshold=2)"])
def test_what_a_tool_means_by_a_measure_is_spelled_out(name: str, run: Run) -> None:
    found = json.loads(run("measures", name, "--json").stdout)
    assert rw.measure(found["measure"]) == rw.measure(name)
    for by_tool, meaning in found["conventions"].items():
        assert rw.measure(by_tool) == rw.measure(meaning)


def test_one_measure_with_its_parameters(run: Run) -> None:
    text = run("measures", "ndcg@10:lightgbm").stdout
    assert text.startswith("ndcg@10:lightgbm\n")
    assert "blank      1" in text
    assert "ndcg@10(gain=linear, blank=0, ties=docid)" in text
