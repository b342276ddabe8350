"""``rankwright reproduce``: the papers' numbers and claims, run again beside what the papers have."""

from __future__ import annotations

import math
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rankwright.cli import options
from rankwright.cli.screen import lines_of, show_json, step
from rankwright.runtime.files import written_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankwright.reproductions import Experiment
    from rankwright.reproductions.runner import Outcome, Progress


@click.command("reproduce", short_help="The papers' experiments, run again beside their numbers.")
@click.argument("name", required=False)
@click.option("--full", is_flag=True, help="The papers' sizes, which may take hours; not the short form.")
@click.option(
    "--data", metavar="FOLDER", type=click.Path(path_type=Path), help="Where the data that cannot ship lies."
)
@click.option(
    "--output",
    "-o",
    default="reproductions",
    show_default=True,
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Where the results of pieces are kept; a run that was broken off goes on from them.",
)
@click.option("--kept", is_flag=True, help="Run nothing; show what is kept, the full form where it is whole.")
@click.option(
    "--minutes", type=float, metavar="N", help="Begin nothing new after so long; go on another time."
)
@click.option("--page", metavar="FILE", help="Write what was found as a page of Markdown.")
@click.option(
    "--figures",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Draw the figures there, as SVG; the page shows them.",
)
@click.option("--jobs", "n_jobs", type=int, metavar="N", help="How many threads to use; all, if not given.")
@options.as_json
@options.shared
def command(
    name: str | None,
    full: bool,
    data: Path | None,
    output: Path,
    kept: bool,
    minutes: float | None,
    page: str | None,
    figures: Path | None,
    n_jobs: int | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Run the papers' experiments again and print ours beside theirs; without a NAME, list them.

    NAME is an experiment, a paper's year, or "all". Exit status 1 if a row fails or does not run.

    \b
    rankwright reproduce
    rankwright reproduce 2010-figure-1
    rankwright reproduce all --full --data letor/ --page reproductions.md
    """
    from rankwright.reproductions.drawing import draw_all
    from rankwright.reproductions.experiments import Setting, all_experiments, chosen
    from rankwright.reproductions.page import markdown
    from rankwright.reproductions.runner import Store, best_kept, run

    experiments = all_experiments()
    if name is None:
        listed(experiments, as_json)
        return 0
    until = math.inf if minutes is None else time.monotonic() + 60 * minutes
    setting, store, runs = Setting(full=full, data=data, n_jobs=n_jobs), Store(output), []
    for experiment in chosen(name, experiments):
        if kept:
            runs.append(best_kept(experiment, setting, store))
        else:
            with step(experiment.name, quiet) as report:
                runs.append(run(experiment, setting, store, until=until, progress=steps(report)))
        if not as_json:
            click.echo(told(runs[-1].outcomes))
    outcomes = [outcome for each in runs for outcome in each.outcomes]
    failed = sum(not outcome.ok for outcome in outcomes)
    drawn = {} if figures is None else draw_all(runs, figures)
    if page is not None:
        links = {key: os.path.relpath(path, Path(page).parent) for key, path in drawn.items()}
        with written_whole(page) as draft:
            draft.write_text(markdown(runs, links), encoding="utf-8")
    if as_json:
        show_json([outcome.as_dict() for outcome in outcomes])
    else:
        click.echo(f"{len(outcomes)} rows, {len(outcomes) - failed} OK, {failed} FAIL")
    return 1 if failed else 0


def steps(report: Callable[[int, int], None]) -> Progress:
    """What a run tells of its pieces, as steps on the screen."""
    return lambda piece, done, total: report(done, total)


def listed(experiments: Sequence[Experiment], as_json: bool) -> None:
    """All experiments, a line each."""
    if as_json:
        show_json(
            [
                {"name": each.name, "title": each.title, "data": each.data, "rows": len(each.rows)}
                for each in experiments
            ]
        )
        return
    rows = [[each.name, str(len(each.rows)), each.title] for each in experiments]
    click.echo(lines_of(["name", "rows", "what"], rows))


def told(outcomes: Sequence[Outcome]) -> str:
    """An experiment's rows: ours beside the paper's."""
    lines = []
    for outcome in outcomes:
        row = outcome.row
        lines.append(f"{outcome.state:4} {outcome.experiment.paper} {row.where}: {row.what}")
        lines.append(
            f"     ours {outcome.shown}; the paper's {row.published}; asked {row.check(outcome.full)}"
        )
    return "\n".join(lines)
