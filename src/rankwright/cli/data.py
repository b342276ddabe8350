"""``rankwright data``: commands about data."""

from __future__ import annotations

import click

from rankwright.cli.main import Commands

MODULES = {"info": "data_info", "convert": "data_convert"}


@click.group("data", cls=Commands, modules=MODULES, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """What data holds, and other forms for it."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
