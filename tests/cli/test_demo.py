"""``rankwright demo``: one screen, the same each time."""

from __future__ import annotations

import json

from tests.cli.conftest import Run


def test_it_fits_a_screen_and_says_what_to_do_next(run: Run) -> None:
    result = run("demo")
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert len(lines) < 24
    assert max(map(len, lines)) <= 80
    assert lines[-1].startswith("  rankwright ")


def test_the_line_beats_the_feature_and_the_figures_are_the_same_each_time(run: Run) -> None:
    first, second = (run("demo", "--json").stdout for _ in range(2))
    assert first == second
    contrasts = json.loads(first)["contrasts"]
    assert [each["measure"] for each in contrasts] == ["ndcg@10", "map", "err@10", "p@10"]
    assert all(each["difference"] > 0 for each in contrasts)
