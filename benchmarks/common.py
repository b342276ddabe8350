"""What the benchmarks share: interleaved timing, tables and JSON."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np


def interleaved(functions: Mapping[str, Callable[[], Any]], repeats: int = 7) -> dict[str, float]:
    """The median seconds of each function, all run in turn so that they share the machine's moods."""
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    for function in functions.values():
        function()
    for _ in range(repeats):
        for name, function in functions.items():
            begin = time.perf_counter()
            function()
            seconds[name].append(time.perf_counter() - begin)
    return {name: float(np.median(values)) for name, values in seconds.items()}


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows of the same keys as text in columns."""
    heads = list(rows[0])
    cells = [heads] + [[_shown(row[head]) for head in heads] for row in rows]
    widths = [max(len(line[column]) for line in cells) for column in range(len(heads))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in cells]
    return "\n".join(
        line.rstrip() for line in [lines[0], "  ".join("-" * width for width in widths), *lines[1:]]
    )


def _shown(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def write_json(path: str | Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Rows, with the command, the machine and the date that they belong to."""
    main = sys.modules["__main__"]
    spec = getattr(main, "__spec__", None)
    about = {
        "title": (main.__doc__ or "").strip().partition("\n")[0],
        "command": " ".join(["python -m", spec.name if spec else "?", *_without_json(sys.argv[1:])]),
        "machine": f"{_processor()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "date": time.strftime("%Y-%m-%d"),
    }
    Path(path).write_text(json.dumps({**about, "rows": list(rows)}, indent=1) + "\n")


def _without_json(arguments: list[str]) -> list[str]:
    """The command as a reader would type it: without where the figures and data lay."""
    shown, skip = [], False
    for argument in arguments:
        if not skip and argument != "--json":
            shown.append(Path(argument).name if "/" in argument else argument)
        skip = argument == "--json"
    return shown


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def arguments(description: str | None) -> argparse.ArgumentParser:
    """A parser with the options that all benchmarks have."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", metavar="PATH", help="write the figures there too")
    parser.add_argument("--repeats", type=int, default=7, help="how often each is run (default: %(default)s)")
    return parser
