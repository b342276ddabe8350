"""Data: query sets and the formats they come in."""

from __future__ import annotations

from rankwright.data import preparation, synthetic
from rankwright.data.letor import read_letor
from rankwright.data.letor_writing import write_letor
from rankwright.data.parquet import read_parquet
from rankwright.data.queries import QuerySet
from rankwright.data.rankings import Rankings
from rankwright.data.trec import Qrels, Run, read_qrels, read_run, write_run

__all__ = [
    "Qrels",
    "QuerySet",
    "Rankings",
    "Run",
    "preparation",
    "read_letor",
    "read_parquet",
    "read_qrels",
    "read_run",
    "synthetic",
    "write_letor",
    "write_run",
]
