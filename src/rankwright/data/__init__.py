"""Data: query sets and the formats they come in."""

from __future__ import annotations

from rankwright.data.queries import QuerySet

__all__ = ["QuerySet"]
