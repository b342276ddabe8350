"""``rankwright diagnose``: commands about what a model, or a way to train one, has reached."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

import rankwright as rw
from rankwright.cli.main import Commands

MODULES = {
    "optimality": "diagnose_optimality",
    "conservative": "diagnose_conservative",
    "pairs": "diagnose_pairs",
}

measure = click.option(
    "--measure",
    "-m",
    metavar="MEASURE",
    help="A measure, as `rankwright measures` lists them; the model's own.",
)


def rule(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--rule`` and ``--set``: a λ rule by its name, and its parameters."""
    name = click.option(
        "--rule",
        default="RankNetWeightPairs",
        show_default=True,
        metavar="NAME",
        help="SpringSmooth, LocalGradient, LocalCost, DiscreteBounded, StepPotential or Spring.",
    )
    settings = click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="NAME=VALUE",
        help="A parameter of the rule, as in margin=0.5.",
    )
    return name(settings(function))


def read_rule(name: str, settings: tuple[str, ...]) -> Any:
    """The rule that the command line names."""
    values: dict[str, Any] = {}
    for text in settings:
        key, equals, value = text.partition("=")
        if not equals:
            raise click.UsageError(f"--set {text!r} is not a parameter; as in --set margin=0.5")
        values[key] = _value(value)
    return rw.rule(name, **values)


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False, "none": None}.get(text.lower(), text)


@click.group("diagnose", cls=Commands, modules=MODULES, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Is a model at an optimum, and do λ's have a cost?"""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
