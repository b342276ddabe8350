"""Real data that lies beside the repository and is not part of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def shared_data(name: str) -> Path:
    """The folder or file of this name; the test is skipped where it is absent, and with the JIT off."""
    if os.environ.get("NUMBA_DISABLE_JIT") == "1":
        pytest.skip("plain kernels take minutes over real data; the compiled ones are tested on it")
    path = Path(__file__).resolve().parents[2] / "shared" / "data" / name
    if not path.exists():
        pytest.skip(f"../shared/data/{name} is not here; it holds data that cannot be given away")
    return path
