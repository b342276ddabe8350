"""``rankwright learners``: what there is, and which measures go with which."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from rankwright.cli import options
from rankwright.cli.screen import WIDTH, lines_of, show_json

if TYPE_CHECKING:
    from rankwright.learners.base import Ranker


@click.command("learners", short_help="All learners, or one with its parameters.")
@click.argument("learner", required=False)
@click.option("--markdown", is_flag=True, help="The grid of learners and measures, as a page of the docs.")
@options.as_json
@options.shared
def command(learner: str | None, markdown: bool, as_json: bool, quiet: bool) -> None:
    """All learners, with the measures that each accepts; or one of them, with its parameters.

    \b
    rankwright learners
    rankwright learners lambdarank
    rankwright learners --markdown > grid.md
    """
    if learner is not None:
        one = details(find(learner))
        show_json(one) if as_json else show_one(one)
    else:
        from rankwright.learners import known

        found = [details(kind) for kind in known().values()]
        if markdown:
            from rankwright.cli.grid import page

            click.echo(page(found), nl=False)
        else:
            show_json(found) if as_json else show_all(found)


def find(name: str) -> type[Ranker]:
    """The learner of this name, however it is written."""
    import rankwright as rw
    from rankwright.learners import known

    by_name = {written(each): kind for each, kind in {**known(), "Committee": rw.Committee}.items()}
    if written(name) not in by_name:
        raise click.UsageError(
            f"there is no learner {name!r}{nearest(written(name), by_name)}; see: rankwright learners"
        )
    return by_name[written(name)]


def written(name: str) -> str:
    """A learner's name as the command line has it.

    >>> written("Lambda-MART")
    'lambdamart'
    """
    return name.lower().replace("-", "").replace("_", "")


def nearest(name: str, names: Iterable[str]) -> str:
    """A suggestion, where a name is like one that there is."""
    close = difflib.get_close_matches(name, list(names), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def details(kind: type[Ranker]) -> dict[str, Any]:
    """A learner's name, paper, meaning, parameters and the measures that it trains for or is selected by."""
    shared = [each for each in kind.__mro__[1:] if each.__name__.endswith("Parameters")]
    return {
        "learner": kind.__name__,
        "paper": kind.paper,
        "meaning": " ".join(prose(each) for each in (kind, *shared)),
        "measures": accepted(kind),
        "trains_for_them": kind.needs_swap_gains or kind.trains_for_measure,
        "always_for": list(kind.always_for),
        "parameters": {name: repr(value) for name, value in kind().get_params().items()},
    }


def prose(kind: type) -> str:
    """What a class says of itself, without examples."""
    text = (inspect.getdoc(kind) or "").partition(">>>")[0]
    return " ".join(text.replace("``", "").split())


def accepted(kind: type[Ranker]) -> list[str]:
    """The names of the measures that go with a learner; a measure it cannot train for is not among them."""
    from rankwright.measures import BUILT_IN

    return sorted(name for measure in BUILT_IN for name in measure.names if kind.accepts(name))


def show_all(found: list[dict[str, Any]]) -> None:
    """A line or two a learner."""
    rows = [
        [
            each["learner"],
            each["paper"] or "",
            "trains for" if each["trains_for_them"] else "selects by",
            each["meaning"].partition(". ")[0].rstrip("."),
        ]
        for each in found
    ]
    click.echo(lines_of(["learner", "paper", "a measure", "what it is"], rows))
    click.echo(
        "\nOne that trains for a measure takes any with swap gains, one of your own too"
        "\n(StructuredRanker: with a worst ordering); one that selects by it takes any."
        "\nAll of one: rankwright learners ranknet"
        "\nMany within a budget, weighed out of fold as one: rankwright learners committee"
    )


def show_one(found: dict[str, Any]) -> None:
    """All of one learner."""
    paper = f", {found['paper']}" if found["paper"] else ""
    click.echo(f"{found['learner']}{paper}\n")
    click.echo(click.wrap_text(found["meaning"], width=WIDTH))
    verb = "trains for" if found["trains_for_them"] else "selects by"
    click.echo("\n" + click.wrap_text(f"{verb} {', '.join(found['measures'])}", width=WIDTH))
    click.echo("\n" + lines_of(["parameter", "default"], [[*pair] for pair in found["parameters"].items()]))
