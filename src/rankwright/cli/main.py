"""``rankwright``: finds the command, and says what went wrong in one line.

Exit status: 0 done, 1 could not, 2 wrong use, 130 interrupted, 141 nobody reads the output any more.
"""

from __future__ import annotations

import difflib
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from rankwright import __version__
from rankwright.runtime.errors import RankwrightError


class Commands(click.Group):
    """Commands by the module of ``rankwright.cli`` that holds each, imported when it is needed."""

    def __init__(self, *arguments: Any, modules: dict[str, str], **settings: Any):
        super().__init__(*arguments, **settings)
        self.modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order of ``modules``."""
        return list(self.modules)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command of this name."""
        if name not in self.modules:
            return None
        command: click.Command = importlib.import_module(f"rankwright.cli.{self.modules[name]}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments name, or a suggestion."""
        name = args[0]
        if name not in self.modules and not name.startswith("-"):
            close = difflib.get_close_matches(name, self.modules, n=1)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(self.modules)}"
            raise click.UsageError(f"there is no command {name!r}; {hint}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; end quietly if nobody reads the output any more."""
        try:
            result = super().invoke(ctx)
            if sys.stdout is not None:  # it may have been closed
                sys.stdout.flush()
            return result
        except BrokenPipeError:
            # What Python still holds for the output has to go somewhere when it ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(141)

    def main(self, args: Sequence[str] | None = None, *rest: Any, **settings: Any) -> Any:
        """Run, and leave with an exit status."""
        given = list(sys.argv[1:] if args is None else args)
        settings["standalone_mode"] = False
        try:
            result = super().main(given, *rest, **settings)
        except click.Abort:
            sys.exit(130)
        except Exception as error:
            if "--debug" in given:
                raise
            status, message = _explained(error)
            click.echo(f"rankwright: {' '.join(message.split())}", err=True)
            sys.exit(status)
        sys.exit(result if isinstance(result, int) else 0)


def _explained(error: Exception) -> tuple[int, str]:
    """The exit status, and what to tell the user."""
    if isinstance(error, click.UsageError):
        path = error.ctx.command_path if error.ctx else "rankwright"
        return 2, f"{error.format_message().rstrip('.')} (see: {path} --help)"
    if isinstance(error, click.ClickException):
        return 1, error.format_message()
    if isinstance(error, RankwrightError):
        return 1, str(error)
    if isinstance(error, OSError) and error.filename is not None:
        return 1, f"{error.filename}: {error.strerror}"
    if isinstance(error, OSError) and error.strerror is not None:
        return 1, f"reading or writing failed: {error.strerror}"
    if isinstance(error, MemoryError):
        return 1, f"there is not enough memory ({error}); give less data at a time"
    return 1, (
        f"this is a fault of Rankwright itself ({type(error).__name__}: {error}); "
        "run it again with --debug and report what it prints"
    )


@click.group(
    "rankwright",
    cls=Commands,
    modules={
        "demo": "demo",
        "train": "train",
        "predict": "predict",
        "evaluate": "evaluate",
        "compare": "compare",
        "combine": "combine",
        "diagnose": "diagnose",
        "reproduce": "reproduce",
        "data": "data",
        "measures": "measures",
        "learners": "learners",
        "warm-up": "warm_up",
    },
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="rankwright %(version)s")
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Rankwright learns to rank, and measures how well a ranking does.

    \b
    rankwright demo                                    a first look in a minute
    rankwright train lambdamart train.txt -o model.rw  learn from labelled queries
    rankwright evaluate model.rw test.txt -m ndcg@10   how good is it?
    rankwright compare a.rw b.rw test.txt -m ndcg@10   better, or only luckier?
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
