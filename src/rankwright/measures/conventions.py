"""The tools' conventions by name: what "ndcg@10" means to each of them."""

from __future__ import annotations

from typing import Any

from rankwright.runtime.errors import InputError

CONVENTIONS: dict[str, dict[str, dict[str, Any]]] = {}


def settings(name: str, k: int | None, convention: str) -> dict[str, Any]:
    """The parameters that a tool's convention gives to the measure of this name."""
    if convention not in CONVENTIONS:
        raise InputError(f"there is no convention {convention!r}; there are {', '.join(sorted(CONVENTIONS))}")
    table = CONVENTIONS[convention]
    if name not in table:
        raise InputError(f"{convention} has no measure {name!r}; it has {', '.join(sorted(table))}")
    return table[name]
