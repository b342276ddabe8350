"""Scorers: what a fitted learner leaves behind. One file a core; ``load`` reads any of them from its file."""

from __future__ import annotations

from rankwright.scorers.base import Scorer
from rankwright.scorers.compose import Stack, Sum
from rankwright.scorers.files import load
from rankwright.scorers.forest import ForestScorer
from rankwright.scorers.kernel import KernelScorer
from rankwright.scorers.linear import LinearScorer
from rankwright.scorers.network import NetworkScorer
from rankwright.scorers.quadratic import QuadraticScorer
from rankwright.scorers.torch import TorchScorer
from rankwright.scorers.transform import QueryScaling, Standardising, Transform

CORES: tuple[type[Scorer], ...] = (
    LinearScorer,
    QuadraticScorer,
    NetworkScorer,
    KernelScorer,
    ForestScorer,
    TorchScorer,
    Sum,
    Stack,
)

__all__ = [
    "CORES",
    "ForestScorer",
    "KernelScorer",
    "LinearScorer",
    "NetworkScorer",
    "QuadraticScorer",
    "QueryScaling",
    "Scorer",
    "Stack",
    "Standardising",
    "Sum",
    "TorchScorer",
    "Transform",
    "load",
]
