"""``rankwright data info``: what data files hold."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import click

from rankwright.cli import options
from rankwright.cli.screen import show_json
from rankwright.cli.sources import feature_names, read_data

if TYPE_CHECKING:
    from rankwright.data.description import Description
    from rankwright.data.queries import QuerySet


@click.command("info", short_help="What data files hold, and what is odd about them.")
@click.argument("files", nargs=-1, required=True, metavar="DATA...")
@options.scattered
@options.as_json
@options.shared
def command(files: tuple[str, ...], scattered: bool, as_json: bool, quiet: bool) -> None:
    """What data files hold: queries, documents, labels, and what is odd about them.

    \b
    rankwright data info train.txt vali.txt test.txt
    """
    found = {path: described(read_data(path, quiet, scattered=scattered)) for path in files}
    if as_json:
        show_json({path: description.as_dict() for path, description in found.items()})
    else:
        click.echo("\n\n".join(f"{path}\n{description}" for path, description in found.items()))


def described(queries: QuerySet) -> Description:
    """What is in the data, with features named as ``--feature`` knows them."""
    found = queries.describe()
    if queries.feature_names is not None:
        return found
    names = feature_names(queries)
    return dataclasses.replace(
        found,
        constant=tuple(names[int(column)] for column in found.constant),
        missing_features=tuple(names[int(column)] for column in found.missing_features),
    )
