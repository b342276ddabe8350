"""Scorers: what a fitted learner leaves behind. One file a core; ``load`` reads any of them from its file."""

from __future__ import annotations

from rankwright.scorers.base import Scorer
from rankwright.scorers.files import load
from rankwright.scorers.forest import ForestScorer
from rankwright.scorers.linear import LinearScorer
from rankwright.scorers.network import NetworkScorer
from rankwright.scorers.transform import QueryScaling, Standardising, Transform

CORES: tuple[type[Scorer], ...] = (LinearScorer, NetworkScorer, ForestScorer)

__all__ = [
    "CORES",
    "ForestScorer",
    "LinearScorer",
    "NetworkScorer",
    "QueryScaling",
    "Scorer",
    "Standardising",
    "Transform",
    "load",
]
