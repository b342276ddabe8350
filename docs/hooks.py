"""What the site adds to the pages: the API's list of names, and the line on which code begins."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import rankwright as rw

ROOT = Path(__file__).resolve().parents[1]
CODE = re.compile(r"`(rankwright(?:\.\w+)+)`")
FOLDERS = {
    "data": "Data",
    "measures": "Measures",
    "learners": "Learners",
    "ensembles": "Ensembles",
    "scorers": "Scorers",
    "evaluation": "Evaluation",
    "diagnostics": "Diagnostics",
    "pairwise": "λ's and pairs",
    "structured": "Max-margin",
    "report": "Reports",
    "runtime": "Errors and warnings",
}


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Called by MkDocs with each page."""
    if page.file.src_uri == "api.md":
        return markdown + api()
    if page.file.src_uri == "papers.md":
        return CODE.sub(lambda found: f"`{located(found[1])}`", markdown)
    return markdown


def api() -> str:
    """Every public name under the folder that it lives in."""
    homes: dict[str, list[str]] = {}
    for name in rw.__all__:
        if not name.startswith("__"):
            value = getattr(rw, name)
            home = getattr(value, "__module__", None) or value.__name__
            if not home.startswith("rankwright."):
                home = value.__name__
            homes.setdefault(home.split(".")[1], []).append(f"{home}.{name}" if callable(value) else home)
    lines = []
    for folder, title in FOLDERS.items():
        if folder in homes:
            lines += [f"## {title}", "", *(f"::: {name}" for name in homes.pop(folder)), ""]
    if homes:
        raise ValueError(f"docs/hooks.py has no title for {sorted(homes)}")
    return "\n".join(lines)


def located(name: str) -> str:
    """Where a function, class or module begins: ``pairwise/lambdas.py:78 pairs_below``."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        path = ROOT / "src" / Path(*parts[:end])
        path = path.with_suffix(".py") if path.with_suffix(".py").exists() else path / "__init__.py"
        if path.exists():
            break
    shown = path.relative_to(ROOT / "src" / "rankwright").as_posix()
    if end == len(parts):
        return shown
    line = line_of(ast.parse(path.read_text(encoding="utf-8")), parts[end:])
    if line is None:
        raise ValueError(f"docs/papers.md names {name}, and {shown} has no such thing")
    return f"{shown}:{line} {'.'.join(parts[end:])}"


def line_of(node: ast.AST, names: list[str]) -> int | None:
    """The line on which a possibly nested definition begins; None where there is none."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    for child in ast.iter_child_nodes(node):
        if isinstance(child, kinds) and child.name == names[0]:
            return child.lineno if len(names) == 1 else line_of(child, names[1:])
    return None
