"""``rankwright evaluate``: how good a ranking is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

import rankwright as rw
from rankwright.cli import options
from rankwright.cli.screen import show_json, step
from rankwright.cli.sources import Rankers, read_runs, read_scores_of
from rankwright.runtime.files import written_whole

if TYPE_CHECKING:
    from rankwright.evaluation import Evaluation

EXAMPLE = "rankwright evaluate model.rw test.txt"


@click.command("evaluate", short_help="How good a ranking is, by one measure or several.")
@click.argument("files", nargs=-1, metavar="[MODEL] DATA")
@options.measures
@options.scores
@options.feature
@options.scattered
@click.option("--run", "runs", multiple=True, metavar="FILE", help="A TREC run as the ranking, with --qrels.")
@options.qrels
@options.complete
@click.option("--per-query", metavar="FILE", help="Also write each query's values: .json, else TSV.")
@options.as_json
@options.shared
def command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    scores: tuple[str, ...],
    features: tuple[str, ...],
    scattered: bool,
    runs: tuple[str, ...],
    qrels: str | None,
    complete: bool,
    per_query: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """How good a ranking is, by one measure or several.

    MODEL ranks the documents of DATA (LETOR text, also compressed, or Parquet). In its place may stand
    scores, one number a line (--scores), or one feature (--feature). With --qrels, a TREC run is evaluated.

    \b
    rankwright evaluate model.rw test.txt -m ndcg@10 -m map
    rankwright evaluate test.txt --feature 25 -m ndcg@10:trec_eval
    rankwright evaluate --qrels qrels.txt --run bm25.run --per-query values.tsv
    """
    read = [options.read_measure(text) for text in measures]
    if qrels is not None:
        options.no_data(scores=scores, feature=features, scattered=scattered)
        rankers = Rankers(runs=[*runs, *files])
        rankers.check_count(1, 1, "rankwright evaluate --qrels qrels.txt --run bm25.run")
        [what] = read_runs(rankers.runs, rankers.names(), quiet).values()
        result = rw.evaluate(what, rw.read_qrels(qrels), read, complete=complete)
    else:
        options.need_qrels(runs, complete)
        data = options.last(files, EXAMPLE)
        rankers = Rankers(files=files[:-1], scores=scores, features=features)
        rankers.check_count(1, 1, EXAMPLE)
        by_name, queries = read_scores_of(rankers, data, quiet, scattered)
        [what] = by_name.values()
        with step("evaluating", quiet):
            result = rw.evaluate(what, queries, read)
    if per_query is not None:
        write_per_query(result, per_query)
    if as_json:
        show_json(result.as_dict())
    else:
        click.echo(str(result))


def write_per_query(result: Evaluation, path: str) -> None:
    """A line a query, a column a measure; empty (null) where the query is left out of the mean."""
    table = result.to_dict()
    rows = [[_shown(value) for value in row] for row in zip(*table.values(), strict=True)]
    with written_whole(path) as draft:
        if Path(path).suffix == ".json":
            text = json.dumps([dict(zip(table, row, strict=True)) for row in rows], indent=1, default=str)
        else:
            lines = [list(table), *([("" if cell is None else str(cell)) for cell in row] for row in rows)]
            text = "\n".join("\t".join(line) for line in lines)
        draft.write_text(text + "\n", encoding="utf-8")


def _shown(value: object) -> object:
    return None if value != value else value
