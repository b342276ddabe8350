"""Pairs of documents of one query, each with its target P̄ and its weight (2005 sections 3 and 4).

Pairs come from labels (higher before lower, P̄ = 1; ties left out or P̄ = ½), or are given as preferences,
which need not be complete, nor agree with each other.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.measures.base import Floats, Singles
from rankwright.pairwise.probabilities import check_probabilities
from rankwright.runtime.arrays import Integers
from rankwright.runtime.errors import InputError

Rows = NDArray[np.uint32]
EXAMPLE = "give rows (better, worse), (better, worse, probability) or (better, worse, probability, weight)"


@dataclasses.dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs by query: those of query q lie between ``offsets[q]`` and ``offsets[q + 1]``.

    ``better`` and ``worse`` are stored rows, ``targets`` the probability P̄ that the one is above the other.
    """

    offsets: Integers
    better: Rows
    worse: Rows
    targets: Singles
    weights: Singles

    def __len__(self) -> int:
        """How many pairs there are."""
        return len(self.better)


def pairs_of_labels(
    labels: Floats, offsets: Integers, *, ties: bool = False, weights: Floats | None = None
) -> Pairs:
    """All pairs of a query whose labels differ; with ``ties`` those of equal labels too, with P̄ = ½.

    ``weights`` of documents multiply to that of their pair. Unjudged documents (NaN) are in no pair.

    >>> found = pairs_of_labels(np.array([0.0, 2.0, 1.0]), np.array([0, 3]))
    >>> list(zip(found.better.tolist(), found.worse.tolist()))
    [(1, 2), (1, 0), (2, 0)]
    """
    better, worse, targets, counts = [], [], [], [0]
    for begin, end in itertools.pairwise(offsets):
        rows, ends = by_label(labels[begin:end])
        first = np.repeat(np.arange(len(ends)), len(ends) - ends)
        second = _ranges(ends, len(ends))
        half = np.zeros(len(first), bool)
        if ties:
            levels = np.arange(1, len(ends) + 1)
            tied = np.repeat(np.arange(len(ends)), ends - levels)
            half = np.append(half, np.ones(len(tied), bool))
            first, second = np.append(first, tied), np.append(second, _ranges(levels, ends))
        better.append((begin + rows[first]).astype(np.uint32))
        worse.append((begin + rows[second]).astype(np.uint32))
        targets.append(np.where(half, np.float32(0.5), np.float32(1)))
        counts.append(len(first))
    high, low = np.concatenate(better), np.concatenate(worse)
    joint = np.ones(len(high)) if weights is None else weights[high] * weights[low]
    return Pairs(np.cumsum(counts), high, low, np.concatenate(targets), joint.astype(np.float32))


def pairs_of_preferences(
    preferences: Any, offsets: Integers, rows: Integers | None = None, weights: Floats | None = None
) -> Pairs:
    """Pairs from rows (better, worse[, probability[, weight]]), which name documents by their given rows.

    ``rows`` says where each stored row stood with the caller.

    >>> found = pairs_of_preferences([(2, 0), (1, 2, 0.8)], np.array([0, 3]))
    >>> found.better, found.targets
    (array([2, 1], dtype=uint32), array([1. , 0.8], dtype=float32))
    """
    table = _table(preferences)
    n = int(offsets[-1])
    stored = np.arange(n) if rows is None else np.argsort(rows)
    ends = table[:, :2]
    bad = np.flatnonzero(((ends != np.floor(ends)) | (ends < 0) | (ends >= n)).any(axis=1))
    if len(bad):
        unknown = [value for value in ends[bad[0]] if not (value == np.floor(value) and 0 <= value < n)]
        raise InputError(
            f"preference {bad[0]}: there is no document {unknown[0]:g}; "
            f"documents are named by their rows, 0 to {n - 1}"
        )
    high, low = stored[ends[:, 0].astype(np.int64)], stored[ends[:, 1].astype(np.int64)]
    query = np.searchsorted(offsets, high, side="right") - 1
    other = np.searchsorted(offsets, low, side="right") - 1
    for wrong, cause in (
        (high == low, "a document is preferred to itself"),
        (
            query != other,
            "its documents belong to different queries; only documents of one query are compared",
        ),
        (~(table[:, 3] >= 0) | np.isinf(table[:, 3]), "its weight is not a finite number of at least 0"),
    ):
        if wrong.any():
            raise InputError(f"preference {np.flatnonzero(wrong)[0]}: {cause}")
    targets = check_probabilities(table[:, 2], "preferences")
    joint = table[:, 3] if weights is None else table[:, 3] * weights[high] * weights[low]
    order = np.argsort(query, kind="stable")
    counts = np.bincount(query, minlength=len(offsets) - 1)
    return Pairs(
        np.concatenate([[0], np.cumsum(counts)]),
        high[order].astype(np.uint32),
        low[order].astype(np.uint32),
        targets[order].astype(np.float32),
        joint[order].astype(np.float32),
    )


def by_label(labels: Floats) -> tuple[Integers, Integers]:
    """The judged documents of one query, highest labels first, and where the lower labels begin for each.

    >>> by_label(np.array([0.0, 1.0, np.nan, 1.0]))
    (array([1, 3, 0]), array([2, 2, 3]))
    """
    rows = np.argsort(-labels, kind="stable")
    judged = len(labels) - int(np.isnan(labels).sum())  # NaN is sorted to the end
    rows = rows[:judged]
    falling = -labels[rows]
    return rows, np.searchsorted(falling, falling, side="right")


def _table(preferences: Any) -> Floats:
    try:
        table = np.asarray(preferences, dtype=np.float64)
    except (TypeError, ValueError):
        width = {len(row) for row in preferences if hasattr(row, "__len__")}
        if not width or not width <= {2, 3, 4}:
            raise InputError(f"the preferences are no table of numbers; {EXAMPLE}") from None
        try:
            table = np.array([[*row, *(1.0, 1.0)[len(row) - 2 :]] for row in preferences], dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"the preferences are no table of numbers ({error}); {EXAMPLE}") from error
    if table.size == 0:
        raise InputError("there are no preferences; give at least one pair")
    if table.ndim != 2 or not 2 <= table.shape[1] <= 4:
        raise InputError(f"the preferences have shape {table.shape}; {EXAMPLE}")
    return np.column_stack([table, np.ones((len(table), 4 - table.shape[1]))])


def _ranges(begins: Integers, ends: Any) -> Integers:
    """begin, begin + 1, …, end − 1 of each, one after the other."""
    sizes = np.broadcast_to(ends, begins.shape) - begins
    starts = np.cumsum(sizes) - sizes
    return np.arange(int(sizes.sum())) + np.repeat(begins - starts, sizes)
