"""``rankwright data info``: what data files hold."""

from __future__ import annotations

import click

from rankwright.cli import options
from rankwright.cli.screen import show_json
from rankwright.cli.sources import read_data


@click.command("info")
@click.argument("files", nargs=-1, required=True, metavar="DATA...")
@options.as_json
@options.shared
def command(files: tuple[str, ...], as_json: bool, quiet: bool) -> None:
    """What data files hold: queries, documents, labels, and what is odd about them.

    \b
    rankwright data info train.txt vali.txt test.txt
    """
    found = {path: read_data(path, quiet).describe() for path in files}
    if as_json:
        show_json({path: description.as_dict() for path, description in found.items()})
    else:
        click.echo("\n\n".join(f"{path}\n{description}" for path, description in found.items()))
