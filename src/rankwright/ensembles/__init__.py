"""Rankers made of rankers: the best combination of some, and a committee of many."""

from __future__ import annotations

from rankwright.ensembles.combine import blend, combine
from rankwright.ensembles.committee import Committee

__all__ = ["Committee", "blend", "combine"]
