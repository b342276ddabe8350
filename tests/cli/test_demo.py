"""``rankwright demo``: one screen, the same each time."""

from __future__ import annotations

import json

from tests.cli.conftest import Run


def test_it_fits_a_screen_and_shows_the_same_figures_each_time(run: Run) -> None:
    shown, as_json = run("demo"), run("demo", "--json")
    for result in (shown, as_json):
        assert (result.exit_code, result.stderr) == (0, "")
    lines = shown.stdout.splitlines()
    assert len(lines) < 24
    assert max(map(len, lines)) <= 80
    assert lines[-1].startswith("  rankwright ")
    contrasts = json.loads(as_json.stdout)["contrasts"]
    assert [each["measure"] for each in contrasts] == ["ndcg@10", "map", "err@10", "p@10"]
    for each in contrasts:
        [line] = [line.split() for line in lines if line.startswith(f"{each['measure']} ")]
        assert line[1:3] == [f"{each['mean_a']:.4f}", f"{each['mean_b']:.4f}"]
        assert each["difference"] > 0
