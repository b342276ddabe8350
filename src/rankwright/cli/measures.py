"""``rankwright measures``: what there is, and what a measure's parameters are."""

from __future__ import annotations

import dataclasses
import inspect
from typing import TYPE_CHECKING, Any

import click

import rankwright as rw
from rankwright.cli import options
from rankwright.cli.screen import WIDTH, lines_of, show_json
from rankwright.runtime.errors import InputError

if TYPE_CHECKING:
    from rankwright.measures import Measure


@click.command("measures", short_help="All measures, or one with its parameters.")
@click.argument("measure", required=False)
@options.as_json
@options.shared
def command(measure: str | None, as_json: bool, quiet: bool) -> None:
    """All measures; or one of them, with its parameters and what each tool makes of it.

    \b
    rankwright measures
    rankwright measures ndcg
    rankwright measures ndcg@10:trec_eval
    """
    if measure is not None:
        one = details(options.read_measure(measure))
        show_json(one) if as_json else show_one(one)
    else:
        found = everything()
        show_json(found) if as_json else show_all(found)


def everything() -> list[dict[str, Any]]:
    """Each kind of measure: its names in the syntax, its meaning, its parameters, the tools that have it."""
    from rankwright.measures import BUILT_IN

    found = []
    for kind in BUILT_IN:
        names = spellings(kind)
        made = rw.measure(names[0].removesuffix("@k"))
        found.append(
            {
                "syntax": names,
                "meaning": prose(made).partition(". ")[0].rstrip("."),
                "trains": made.has_swap_gains,
                "parameters": list(parameters(made)),
                "conventions": [name.partition(":")[2] for name in conventions(str(made), made)],
            }
        )
    return sorted(found, key=lambda each: str(each["syntax"]))


def spellings(kind: type[Measure]) -> list[str]:
    """The names of a kind of measure, with @k where a cut-off may follow."""
    if "k" not in {field.name for field in dataclasses.fields(kind)}:
        return list(kind.names)
    first, *others = kind.names
    if others and kind.names[first] == kind.names[others[-1]]:  # map and ap@k: the whole list, and cut off
        return [first, *(f"{name}@k" for name in others)]
    return [f"{name}@k" for name in kind.names]


def details(made: Measure) -> dict[str, Any]:
    """One measure with its values of all parameters, and the same by each tool's convention."""
    text = str(made)
    name = text.partition("(")[0].partition(":")[0]
    return {
        "measure": text,
        "meaning": prose(made),
        "trains": made.has_swap_gains,
        "parameters": parameters(made),
        "conventions": conventions(name, made),
    }


def prose(made: Measure) -> str:
    """What its class says of it, without examples."""
    text = (inspect.getdoc(type(made)) or "").partition(">>>")[0]
    return " ".join(text.replace("``", "").split())


def parameters(made: Measure) -> dict[str, str]:
    """The parameters that the syntax knows, and their values."""
    from rankwright.measures.syntax import HIDDEN

    fixed = {key for settings in made.names.values() for key in settings}
    names = [field.name for field in dataclasses.fields(made)]
    return {name: str(getattr(made, name)) for name in names if name not in HIDDEN | fixed}


def conventions(name: str, made: Measure) -> dict[str, str]:
    """What each tool that has this measure means by it."""
    from rankwright.measures.conventions import CONVENTIONS

    meant = {}
    for tool in CONVENTIONS:
        try:
            meant[f"{name}:{tool}"] = str(rw.measure(f"{name}:{tool}").replace())
        except InputError:  # a tool without this measure
            continue
    return meant


def show_all(found: list[dict[str, Any]]) -> None:
    """A line or two a measure."""
    rows = [[", ".join(each["syntax"]), "yes" if each["trains"] else "", each["meaning"]] for each in found]
    click.echo(lines_of(["measure", "trains", "meaning"], rows))
    click.echo(
        "\n@k cuts off at rank k and may be left out. LambdaMART and its like can train for"
        "\nwhat has a yes. Parameters and conventions of one: rankwright measures ndcg"
    )


def show_one(found: dict[str, Any]) -> None:
    """All of one measure."""
    click.echo(f"{found['measure']}\n")
    click.echo(click.wrap_text(found["meaning"], width=WIDTH))
    for header in (["parameter", "value"], ["convention", "means"]):
        pairs = found[f"{header[0]}s"].items()
        if pairs:
            click.echo("\n" + lines_of(header, [[*pair] for pair in pairs]))
