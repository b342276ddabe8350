"""Measures of the user's own."""

from __future__ import annotations

from rankwright.measures.base import Measure

REGISTERED: dict[str, Measure] = {}
