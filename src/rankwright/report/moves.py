"""Where documents moved: their ranks in every system, for the documents that any system has near its top."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.evaluation import Comparison
from rankwright.measures.lists import Ranked
from rankwright.runtime.arrays import Integers

DEPTH = 10
"""So many ranks of each system are shown; documents of another's, wherever they stand."""
NOWHERE = 0
"""The rank of a document that a system did not retrieve."""


@dataclasses.dataclass(frozen=True, eq=False)
class Moves:
    """The documents of each query between ``offsets``: label (NaN: unjudged), name, and ``ranks[system]``."""

    offsets: Integers
    labels: NDArray[np.float64]
    documents: list[str]
    ranks: NDArray[np.int32]

    def rows(
        self, query: int, systems: tuple[int, int], names: list[str], depth: int
    ) -> list[dict[str, Any]]:
        """What the figure of one query needs: a row a document and system."""
        rows = []
        for place in range(self.offsets[query], self.offsets[query + 1]):
            ranks = [int(self.ranks[system, place]) for system in systems]
            if not any(0 < rank <= depth for rank in ranks):
                continue
            label = self.labels[place]
            about = {
                "document": self.documents[place],
                "label": "?" if np.isnan(label) else f"{label:g}",
                "kind": "relevant" if label > 0 else "not relevant",
            }
            for system, rank in zip(systems, ranks, strict=True):
                shown = depth + 1 if rank == NOWHERE else min(rank, depth + 1)
                told = "–" if rank == NOWHERE else rank
                rows.append({**about, "system": names[system], "rank": shown, "place": told})
        return rows


def moves(comparison: Comparison, queries: Integers, depth: int = DEPTH) -> Moves | None:
    """The moves within some queries (by number); None where nothing tells which documents are the same.

    >>> import rankwright as rw
    >>> found = rw.compare({"a": [2, 1, 3], "b": [1, 2, 3]}, [1, 0, 2], "mrr", qid=[1, 1, 1])
    >>> moves(found, np.array([0])).ranks.tolist()
    [[1, 2, 3], [1, 3, 2]]
    """
    results = [next(iter(each.values())) for each in comparison.evaluations.values()]
    ranked = [result.ranked for result in results]
    first = ranked[0]
    aligned = all(
        np.array_equal(each.lists.offsets, first.lists.offsets) and each.documents == first.documents
        for each in ranked
    ) and all(result.query_ids == results[0].query_ids for result in results)
    if not aligned and any(each.documents is None for each in ranked):
        return None
    lists = [_order(each) for each in ranked]
    numbers = [{query: number for number, query in enumerate(result.query_ids)} for result in results]
    offsets, labels, documents, ranks = [0], [], [], []
    for query in queries.tolist():
        places = [known[results[0].query_ids[query]] for known in numbers]
        found = (_aligned if aligned else _by_name)(ranked, lists, places, depth)
        for document, label, where in found:
            documents.append(document)
            labels.append(label)
            ranks.append(where)
        offsets.append(len(documents))
    return Moves(
        np.array(offsets, np.int64),
        np.array(labels, np.float64),
        documents,
        np.array(ranks, np.int32).reshape(len(documents), len(ranked)).T.copy(),
    )


def _order(ranked: Ranked) -> Integers:
    """The rank of each stored document within its query, from 1."""
    ranks = np.empty(len(ranked.order), np.int64)
    starts = np.repeat(ranked.lists.offsets[:-1], ranked.lists.sizes)
    ranks[ranked.order] = np.arange(len(ranks)) - starts + 1
    return ranks


def _aligned(
    ranked: list[Ranked], ranks: list[Integers], places: list[int], depth: int
) -> list[tuple[str, float, list[int]]]:
    """All systems rank the same documents, stored in the same places."""
    lists = ranked[0].lists
    begin, end = lists.offsets[places[0]], lists.offsets[places[0] + 1]
    of_query = np.array([each[begin:end] for each in ranks])
    near = np.flatnonzero((of_query <= depth).any(axis=0))
    near = near[np.argsort(of_query[0, near])]
    names = ranked[0].documents
    return [
        (
            f"document {at + 1}" if names is None else names[begin + at],
            float(lists.labels[begin + at]),
            of_query[:, at].tolist(),
        )
        for at in near.tolist()
    ]


def _by_name(
    ranked: list[Ranked], ranks: list[Integers], places: list[int], depth: int
) -> list[tuple[str, float, list[int]]]:
    """Systems that retrieved documents of their own, which are the same where their ids are."""
    where: dict[str, tuple[float, list[int]]] = {}
    for system, (each, of_all, place) in enumerate(zip(ranked, ranks, places, strict=True)):
        assert each.documents is not None
        for at in range(each.lists.offsets[place], each.lists.offsets[place + 1]):
            known = where.setdefault(
                each.documents[at], (float(each.lists.labels[at]), [NOWHERE] * len(ranked))
            )
            known[1][system] = int(of_all[at])
    return [
        (document, label, of_systems)
        for document, (label, of_systems) in where.items()
        if any(0 < rank <= depth for rank in of_systems)
    ]
