"""``rankwright train``: a learner, labelled queries, and the model that it leaves behind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import rankwright as rw
from rankwright.cli import options
from rankwright.cli.learners import find, nearest
from rankwright.cli.screen import show_json, step
from rankwright.cli.sources import read_data
from rankwright.cli.warm_up import compile_ahead
from rankwright.runtime.errors import InputError

if TYPE_CHECKING:
    from rankwright.learners.base import Ranker

STEPS = ("n_estimators", "epochs", "max_iter")
CERTIFICATE = ("C", "gap", "flat", "left_out", "losses", "labels", "interrupted")
"""What a model may tell of its training."""
COMMITTEE = ("out_of_fold_", "members_")
"""What a committee tells of itself."""
WORDS = {"none": None, "true": True, "false": False}


@click.command("train", short_help="Learn from labelled queries, and write the model.")
@click.argument("learner")
@click.argument("data")
@click.option("--valid", metavar="FILE", help="Queries to select the best step on, and to stop by.")
@click.option(
    "--measure", "-m", metavar="MEASURE", help="What to train for, or to select by.  [default: ndcg@10]"
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the learner; several times for several (see: rankwright learners LEARNER).",
)
@click.option("--preferences", metavar="FILE", help="Train on pairs: lines of better, worse[, probability].")
@click.option("--base", metavar="MODEL", help="A model whose scores training begins from; their sum is left.")
@click.option(
    "--checkpoint",
    metavar="FILE",
    help="Where boosted trees are kept every ten steps; if it is there, training goes on from it.",
)
@click.option("--output", "-o", required=True, metavar="FILE", help="Where to write the model.")
@options.scattered
@options.as_json
@options.shared
def command(
    learner: str,
    data: str,
    valid: str | None,
    measure: str | None,
    settings: tuple[str, ...],
    preferences: str | None,
    base: str | None,
    checkpoint: str | None,
    output: str,
    scattered: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Train a LEARNER on DATA (LETOR text, also compressed, or Parquet), and write its model.

    \b
    rankwright train lambdamart train.txt --valid vali.txt -m ndcg@10 -o model.rw
    rankwright train ranknet train.txt --set hidden=20 --set epochs=50 -o net.rw
    rankwright train lambdarank train.txt -m map --set hidden=0 -o line.rw
    rankwright train ranknet train.txt --set hidden=20 --set init=net.rw -o on.rw

    A line of --preferences names two rows of DATA, counted from 0, the better one first, and may tell the
    probability that it is better. Where Ctrl-C ends the training of boosted trees, those so far are written.
    """
    ranker = made(learner, measure, settings)
    refuse_untaken(ranker, learner, preferences=preferences, base=base, checkpoint=checkpoint)
    extra: dict[str, Any] = {} if checkpoint is None else {"checkpoint": checkpoint}
    if preferences is not None:
        extra["preferences"] = read_preferences(preferences)
    if base is not None:
        extra["base"] = rw.load(base)
    compile_ahead(type(ranker), data)
    queries = read_data(data, quiet, scattered=scattered)
    held_out = None if valid is None else read_data(valid, quiet, queries.n_features, scattered)
    try:
        with training(ranker, quiet) as told:
            ranker.fit(queries, valid=held_out, progress=told, **extra)
    except KeyboardInterrupt:
        if not hasattr(ranker, "scorer_"):
            raise
    ranker.save(output)
    found = {
        "learner": type(ranker).__name__,
        "measure": str(ranker.selection_measure),
        "steps": len(ranker.history_),
        "train": None if queries.labels is None else ranker.score(queries),
        "valid": None if held_out is None else ranker.score(held_out),
        "model": output,
        **{name: value for name, value in ranker.scorer_.training.items() if name in CERTIFICATE},
        **{name.rstrip("_"): getattr(ranker, name) for name in COMMITTEE if hasattr(ranker, name)},
    }
    if as_json:
        history = [{name: shown(value) for name, value in record.items()} for record in ranker.history_]
        plain = {name: shown(value) for name, value in found.items()}
        show_json({**plain, **importance(ranker), "history": history})
    else:
        show(found)
    if "interrupted" in found:
        click.get_current_context().exit(130)


def made(learner: str, measure: str | None, settings: tuple[str, ...]) -> Ranker:
    """The learner of this name with these settings."""
    kind = find(learner)
    known = kind().get_params()
    given: dict[str, Any] = {} if measure is None else {"measure": str(options.read_measure(measure))}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise click.UsageError(f"--set {setting}: settings are written as in epochs=50")
        if name not in known:
            raise click.UsageError(
                f"{kind.__name__} has no parameter {name!r}{nearest(name, known)}; "
                f"see: rankwright learners {learner}"
            )
        given[name] = rw.load(value) if name == "init" and Path(value).is_file() else read_value(value)
    ranker: Ranker = kind(**given)
    return ranker


def read_value(text: str) -> Any:
    """A number, true, false, none, several of them with commas between, or else text.

    >>> read_value("0.1"), read_value("none"), read_value("20,5"), read_value("adam")
    (0.1, None, (20, 5), 'adam')
    """
    if "," in text:
        return tuple(read_value(part) for part in text.split(",") if part)
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


@contextmanager
def training(ranker: Ranker, quiet: bool) -> Iterator[Any]:
    """Progress while it learns: the callback for ``fit``."""
    total = next(
        (int(getattr(ranker, name)) for name in STEPS if isinstance(getattr(ranker, name, None), int)), 0
    )
    done = 0

    def told(record: dict[str, Any]) -> None:
        nonlocal done
        done += 1
        if "share" in record:  # of a budget
            report(round(100 * record["share"]), 100)
        else:
            report(done, max(total, done))

    with step(f"training {type(ranker).__name__}", quiet) as report:
        yield told


def refuse_untaken(ranker: Ranker, learner: str, **given: str | None) -> None:
    """Refuse what this learner's ``fit`` does not take."""
    import inspect

    known = inspect.signature(ranker._fit).parameters
    for name, value in given.items():
        if value is not None and name not in known:
            instead = ", it learns from labels" * (name == "preferences")
            raise click.UsageError(f"{learner} takes no --{name}{instead}")


def importance(ranker: Ranker) -> dict[str, Any]:
    """What each feature is worth to boosted trees; nothing for other learners."""
    if not hasattr(type(ranker), "feature_importances_"):
        return {}
    names = ranker.scorer_.feature_names or range(ranker.n_features_in_)
    shares = getattr(ranker, "feature_importances_").tolist()  # noqa: B009 (not all rankers have it)
    return {"importance": {str(name): share for name, share in zip(names, shares, strict=True)}}


def read_preferences(path: str) -> list[tuple[float, ...]]:
    """Rows of numbers, two to four a line, apart by blanks or commas."""
    rows = []
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        cells = line.partition("#")[0].replace(",", " ").split()
        if not cells:
            continue
        try:
            rows.append(tuple(float(cell) for cell in cells))
        except ValueError:
            rows.append(())
        if not 2 <= len(rows[-1]) <= 4:
            raise InputError(
                f"{path}, line {number}: {json.dumps(line[:40])} is no preference; "
                "give the rows of two documents, the better one first, and its probability if it is known"
            )
    return rows


def shown(value: Any) -> Any:
    """A number as JSON has it, which knows no NaN."""
    return None if isinstance(value, float) and value != value else value


def show(found: dict[str, Any]) -> None:
    """What was learned, in a line or two."""
    steps = found["steps"]
    click.echo(f"{found['learner']} of {steps:,} step{'s' * (steps != 1)} written to {found['model']}")
    figures = [f"{name} {found[name]:.4f}" for name in ("train", "valid") if found[name] is not None]
    if figures:
        click.echo(f"{found['measure']}: {', '.join(figures)}")
    if "gap" in found:
        flat = "; w = 0 is as good, so that this is where the risk falls at first" * found["flat"]
        click.echo(f"C={found['C']:g}: relative duality gap {found['gap']:.2g}{flat}")
    if "interrupted" in found:
        click.echo("interrupted: the model is that of the steps so far")
    if found.get("losses"):
        click.echo(f"trained for {found['losses']}; {found['labels']}")
    if "members" in found:
        click.echo(f"out of fold {found['out_of_fold']:.4f}, by {len(found['members'])} members:")
        for each in sorted(found["members"], key=lambda member: -member["weight"]):
            alone, adds = f"alone {each['alone']:.4f}", f"adds {each['adds']:.4f}"
            click.echo(f"{each['weight']:7.4f} · {each['learner']}, {alone}, {adds}")
    if found.get("left_out"):
        queries = f"{found['left_out']:,} quer{'y' if found['left_out'] == 1 else 'ies'}"
        click.echo(f"left out: {queries} whose documents are all of one kind")
