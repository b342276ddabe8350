"""What all oracles are asked about: scored, labelled and named documents, a list a query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Ranked(NamedTuple):
    """One query: a score, a label and a document id for each of its documents."""

    scores: tuple[float, ...]
    labels: tuple[float, ...]
    documents: tuple[str, ...]


def sizes(queries: Sequence[Ranked]) -> list[int]:
    return [len(query.labels) for query in queries]


def joined(queries: Sequence[Ranked]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores, labels and query numbers of all documents, one after the other."""
    scores = np.concatenate([np.asarray(query.scores, float) for query in queries])
    labels = np.concatenate([np.asarray(query.labels, float) for query in queries])
    return scores, labels, np.repeat(np.arange(len(queries)), sizes(queries))
