"""``rankwright compare``: which ranking is better, and whether that is chance."""

from __future__ import annotations

import click

import rankwright as rw
from rankwright.cli import options
from rankwright.cli.screen import show_json, step
from rankwright.cli.sources import Rankers, models_of, read_runs, read_scores_of

EXAMPLE = "rankwright compare a.rw b.rw test.txt"


@click.command("compare", short_help="Which ranking is better, and whether that could be chance.")
@click.argument("files", nargs=-1, metavar="RANKING... DATA")
@options.measures
@options.scores
@options.feature
@options.scattered
@options.qrels
@options.complete
@click.option("--report", metavar="FILE", help="Write a page (HTML) that shows it all, in any browser.")
@options.as_json
@options.shared
def command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    scores: tuple[str, ...],
    features: tuple[str, ...],
    scattered: bool,
    qrels: str | None,
    complete: bool,
    report: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Which ranking is better, and whether that could be chance.

    Each RANKING is a model, or scores, one number a line; --feature adds a feature as a ranking. With
    --qrels, the rankings are TREC runs and there is no DATA.

    \b
    rankwright compare a.rw b.rw test.txt -m ndcg@10 --report report.html
    rankwright compare model.rw test.txt --feature 25 -m ndcg@10 -m map
    rankwright compare bm25.run mine.run --qrels qrels.txt -m map:trec_eval
    """
    read = [options.read_measure(text) for text in measures]
    if qrels is not None:
        options.no_data(scores=scores, feature=features, scattered=scattered)
        rankers = Rankers(runs=files)
        rankers.check_count(2, None, "rankwright compare a.run b.run --qrels qrels.txt")
        runs = read_runs(files, rankers.names(), quiet)
        result = rw.compare(runs, rw.read_qrels(qrels), read, complete=complete)
    else:
        options.need_qrels((), complete)
        data = options.last(files, EXAMPLE)
        rankers = Rankers(files=files[:-1], scores=scores, features=features)
        rankers.check_count(2, None, EXAMPLE)
        by_name, queries = read_scores_of(rankers, data, quiet, scattered)
        with step("comparing", quiet):
            result = rw.compare(by_name, queries, read)
        result.systems |= models_of(rankers) if report else {}
    if report is not None:
        with step("drawing", quiet):
            result.to_html(report)
    if as_json:
        show_json(result.as_dict())
    else:
        click.echo(str(result))
