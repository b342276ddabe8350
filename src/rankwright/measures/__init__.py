"""Measures: how good an ordering is. One file a measure; ``measure("ndcg@10")`` makes one."""

from __future__ import annotations

from rankwright.measures.auc import AUC
from rankwright.measures.average_precision import AveragePrecision
from rankwright.measures.base import Measure
from rankwright.measures.bpref import Bpref
from rankwright.measures.err import ERR
from rankwright.measures.ndcg import NDCG
from rankwright.measures.pairs import Pairs
from rankwright.measures.precision import Precision
from rankwright.measures.rbp import RBP
from rankwright.measures.recall import Recall
from rankwright.measures.reciprocal_rank import ReciprocalRank
from rankwright.measures.syntax import parse
from rankwright.measures.wta import WTA

BUILT_IN: tuple[type[Measure], ...] = (
    NDCG,
    AveragePrecision,
    ReciprocalRank,
    ERR,
    Precision,
    Recall,
    WTA,
    Pairs,
    AUC,
    Bpref,
    RBP,
)


def measure(text: str) -> Measure:
    """A measure from its syntax.

    >>> measure("ndcg@10")
    ndcg@10
    """
    return parse(text)
