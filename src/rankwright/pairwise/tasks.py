"""The cross entropy of all pairs of a data set, query by query: what RankNet of any kind minimises."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwright.measures.base import Floats, Singles
from rankwright.pairwise.cross_entropy import ONE, label_slopes, listed_slopes
from rankwright.pairwise.pairs import Pairs, Rows, by_label
from rankwright.runtime.arrays import Integers
from rankwright.runtime.errors import InputError
from rankwright.runtime.kernels import kernel

TIES = ("out", "half")
SCRATCH_LINES = 4
Counts = NDArray[np.uint64]


class Task(NamedTuple):
    """The pairs: all those of different labels (``by_label``), or those listed.

    By label, ``ends`` and ``weights`` are of documents in padded order, highest labels first within a query.
    Listed pairs are by stored row: ``first`` is that of each query, ``begins`` its first pair.
    """

    sigma: np.float32
    query_weights: Floats
    by_label: bool
    ties: bool
    ends: Rows
    weights: Singles
    first: Counts
    begins: Counts
    better: Rows
    worse: Rows
    targets: Singles
    pair_weights: Singles


def task_types() -> Any:
    """Numba's type of a task."""
    import numba as nb

    rows, singles, counts = nb.uint32[::1], nb.float32[::1], nb.uint64[::1]
    return nb.types.NamedTuple(
        (nb.float32, nb.float64[::1], nb.boolean, nb.boolean, rows, singles,
         counts, counts, rows, rows, singles, singles), Task,
    )  # fmt: skip


def _slope_types() -> Any:
    import numba as nb

    singles, size = nb.float32[::1], nb.uint64
    return nb.float64(task_types(), size, size, size, size, singles, nb.float32[:, ::1], singles)


@kernel(_slope_types)
def query_slopes(
    task: Task, q: Any, n: Any, start: Any, stop: Any, scores: Singles, scratch: Singles, slopes: Singles
) -> float:
    """The slopes of query q's n documents, which lie from ``start`` to ``stop`` in padded order; its cost."""
    slopes[n : stop - start] = np.float32(0)
    if task.by_label:
        weights, ends = task.weights[start:stop], task.ends[start:stop]
        cost = label_slopes(n, scores, weights, ends, task.sigma, task.ties, scratch, slopes)
    else:
        cost = listed_slopes(
            task.first[q], n, task.begins[q], task.begins[q + ONE], scores,
            task.better, task.worse, task.targets, task.pair_weights, task.sigma, slopes,
        )  # fmt: skip
    for i in range(n):
        slopes[i] *= np.float32(task.query_weights[q])
    return cost * task.query_weights[q]


def task_of_labels(
    labels: Floats,
    offsets: Integers,
    starts: Integers,
    weights: Floats,
    query_weights: Floats,
    *,
    sigma: float = 1.0,
    ties: str = "out",
) -> tuple[Task, Floats]:
    """The task of all pairs of labels, and the weight of each query's pairs.

    The judged documents of query q, in the order of ``by_label``, lie from ``starts[q]`` on.
    """
    ends, own = np.zeros(starts[-1], np.uint32), np.zeros(starts[-1], np.float32)
    total = np.zeros(len(query_weights))
    for query, (begin, end) in enumerate(itertools.pairwise(offsets)):
        rows, below = by_label(labels[begin:end])
        inner = slice(starts[query], starts[query] + len(rows))
        given = weights[begin + rows]
        ends[inner], own[inner] = below, given
        rest = np.concatenate([np.cumsum(given[::-1])[::-1], [0.0]])
        total[query] = query_weights[query] * (given * (rest[1:] if ties == "half" else rest[below])).sum()
    return _task(query_weights, sigma, ties, by_label=True, ends=ends, weights=own), total


def task_of_pairs(
    pairs: Pairs, offsets: Integers, query_weights: Floats, *, sigma: float = 1.0
) -> tuple[Task, Floats]:
    """The task of listed pairs, and the weight of each query's pairs."""
    sums = np.concatenate([[0.0], np.cumsum(pairs.weights, dtype=np.float64)])
    task = _task(
        query_weights, sigma, "out",
        first=offsets[:-1].astype(np.uint64), begins=pairs.offsets.astype(np.uint64),
        better=pairs.better, worse=pairs.worse, targets=pairs.targets, pair_weights=pairs.weights,
    )  # fmt: skip
    return task, np.diff(sums[pairs.offsets]) * query_weights


def check_pairs(total: Floats) -> Integers:
    """The queries that have pairs; refused if none has."""
    found = np.flatnonzero(total)
    if not len(found):
        raise InputError(
            "there are no pairs to learn from: no query has two documents with different labels (and "
            "weights above 0); give graded labels, preferences, or ties='half'"
        )
    return found


def check_settings(ties: Any, sigma: Any) -> None:
    """Refuse settings of pairs that there are not."""
    if ties not in TIES:
        raise InputError(f"ties is {ties!r}; it is one of {', '.join(TIES)}")
    if not isinstance(sigma, int | float) or not 0 < sigma < np.inf:
        raise InputError(f"sigma is {sigma!r}; it is a number above 0")


def _task(query_weights: Floats, sigma: float, ties: str, **fields: Any) -> Task:
    rows, singles, counts = np.zeros(0, np.uint32), np.zeros(0, np.float32), np.zeros(0, np.uint64)
    empty = Task(
        np.float32(sigma), query_weights, False, ties == "half", rows, singles, counts, counts, rows, rows,
        singles, singles,
    )  # fmt: skip
    return empty._replace(**fields)
