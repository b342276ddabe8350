"""``rankwright data convert``: LETOR text to Parquet and back."""

from __future__ import annotations

from pathlib import Path

import click

from rankwright.cli import options
from rankwright.cli.screen import step
from rankwright.cli.sources import read_data
from rankwright.runtime.errors import InputError


@click.command("convert", short_help="Data in another form: Parquet or LETOR text.")
@click.argument("source")
@click.argument("target")
@click.option("--force", is_flag=True, help="Overwrite TARGET.")
@options.scattered
@options.shared
def command(source: str, target: str, force: bool, scattered: bool, quiet: bool) -> None:
    """Write SOURCE as TARGET: Parquet if it ends in .parquet, else LETOR text (.gz, .xz, .bz2, .zst too).

    \b
    rankwright data convert train.txt train.parquet
    rankwright data convert train.parquet train.txt.zst
    """
    if Path(target).exists() and not force:
        raise InputError(f"{target} is there already; give another name, or --force to overwrite it")
    queries = read_data(source, quiet, scattered=scattered)
    with step(f"writing {Path(target).name}", quiet):
        if Path(target).suffix == ".parquet":
            queries.to_parquet(target)
        else:
            queries.to_letor(target)
