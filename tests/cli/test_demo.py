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
    comparison = json.loads(as_json.stdout)
    contrasts = {(each["measure"], each["a"], each["b"]): each for each in comparison["contrasts"]}
    for measure in ("ndcg@10", "map", "err@10", "p@10"):
        [line] = [line.split() for line in lines if line.startswith(f"{measure} ")]
        on_net, on_feature = contrasts[measure, "trees", "net"], contrasts[measure, "trees", "feature"]
        means = (on_net["mean_a"], on_net["mean_b"], on_feature["mean_b"])
        assert line[1:4] == [f"{mean:.4f}" for mean in means]
        assert on_feature["difference"] > 0
