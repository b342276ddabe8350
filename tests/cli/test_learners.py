"""``rankwright learners``: all of them, and all of one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Run

from rankwright import learners


def test_every_learner_is_listed_in_80_columns(run: Run) -> None:
    result = run("learners")
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= 80
    found = {each["learner"]: each for each in json.loads(run("learners", "--json").stdout)}
    assert set(found) == set(learners.known())
    assert all(each["measures"] and each["meaning"] for each in found.values())
    assert found["LambdaRank"]["trains_for_them"] and not found["RankNet"]["trains_for_them"]
    assert "ndcg" in found["LambdaMART"]["measures"] and found["RankNet"]["paper"] == "2005"


@pytest.mark.parametrize("name", sorted(learners.known()))
def test_one_learner_with_its_parameters(name: str, run: Run) -> None:
    found = json.loads(run("learners", name.lower(), "--json").stdout)
    assert set(found["parameters"]) == set(learners.known()[name]().get_params())
    text = run("learners", name).stdout
    assert text.startswith(name) and all(parameter in text for parameter in found["parameters"])


def test_the_grid_of_the_docs_is_what_the_command_gives(run: Run) -> None:
    text = run("learners", "--markdown").stdout
    assert all(f"| `{name}` |" in text for name in learners.known())
    page = Path(__file__).resolve().parents[2] / "docs" / "grid.md"
    assert page.read_text(encoding="utf-8") == text, "rankwright learners --markdown > docs/grid.md"


def test_a_name_that_there_is_not(run: Run) -> None:
    result = run("learners", "ranknett")
    assert result.exit_code == 2 and "did you mean ranknet?" in result.stderr
