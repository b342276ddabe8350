"""Real data that lies beside the repository and is not part of it."""

from __future__ import annotations

from pathlib import Path

import pytest


def shared_data(name: str) -> Path:
    """The folder or file of this name; the test is skipped where it is absent."""
    path = Path(__file__).resolve().parents[2] / "shared" / "data" / name
    if not path.exists():
        pytest.skip(f"../shared/data/{name} is not here; it holds data that cannot be given away")
    return path
