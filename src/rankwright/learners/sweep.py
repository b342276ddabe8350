"""Every change of order along a line of scores, and what each does to a measure (2010 section 7.1).

Scores start at p and move by d: s(t) = p + t·d. Documents i and j of a query change places where
t = −(pᵢ − pⱼ)/(dᵢ − dⱼ); between such crossings nothing changes. So the mean of a measure over all t is known
once each query has been valued between and at its crossings.

    1. A query's order just behind the lowest t, and its measure.
    2. Its crossings, sorted.
    3. At a crossing documents are tied, and stand as their rows do; behind it they have changed places. The
       measure is valued anew where ranks that count have changed.
    4. The changes of all queries, sorted and added up, are the mean at and behind every crossing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rankwright.data import QuerySet
from rankwright.measures.base import VALUE, Floats, Measure
from rankwright.measures.lists import Lists, contiguous
from rankwright.pairwise.lambdas import function_type
from rankwright.runtime.arrays import Integers
from rankwright.runtime.errors import InputError
from rankwright.runtime.kernels import kernel
from rankwright.runtime.threads import in_chunks

PAIRS_A_CHUNK = 1 << 20
CLOSE = 1e-9
"""Means that differ by less, of the best one, count as equal: sums of many changes are known no better."""


class Lined(NamedTuple):
    """Queries whose scores lie on lines: start, direction, and each document's gain."""

    start: Floats
    direction: Floats
    gains: Floats
    offsets: Integers
    constants: Floats
    ranks: Floats
    weights: Floats


class Changes(NamedTuple):
    """Where on the line the weighted sum of a measure changes, by how much at that point, and behind it."""

    where: Floats
    at: Floats
    behind: Floats


@kernel()
def order_behind(start: Floats, direction: Floats, low: float, order: Integers) -> None:
    """The order of a query's documents just behind 0 or −∞: by the greater power of t, then row."""
    first, later, sign = start, direction, 1.0
    if low != 0.0:
        first, later, sign = direction, start, -1.0
    for i in range(order.size):
        place = i
        while place > 0:
            j = order[place - 1]
            a, b = sign * first[i], sign * first[j]
            if not (a > b or (a == b and later[i] > later[j])):
                break
            order[place] = j
            place -= 1
        order[place] = i


@kernel()
def crossings(
    start: Floats, direction: Floats, low: float, high: float, where: Floats, pairs: Integers
) -> int:
    """The pairs that change places between ``low`` and ``high``, and where; how many there are."""
    found, n = 0, start.size
    for i in range(n):
        for j in range(i + 1, n):
            slope = direction[i] - direction[j]
            if slope != 0.0:
                t = -((start[i] - start[j]) / slope)
                if low < t < high:
                    where[found] = t
                    pairs[found] = i * n + j
                    found += 1
    return found


@kernel()
def stand(rank: Integers, at: Integers, gains: Floats, ranked: Floats) -> None:
    """Put the gains in the order of their documents' ranks."""
    for document in range(rank.size):
        at[rank[document]] = document
    for r in range(rank.size):
        ranked[r] = gains[at[r]]


@kernel()
def sweep_query(
    value: Callable[..., float],
    start: Floats,
    direction: Floats,
    gains: Floats,
    constant: float,
    ranks: Floats,
    weight: float,
    low: float,
    high: float,
    scratch: tuple[Floats, Integers],
    found: int,
    changes: Changes,
) -> tuple[int, float]:
    """Add a query's changes from place ``found`` on; how many there are then, its value behind ``low``."""
    where, pairs = scratch
    n = start.size
    counted = min(n, ranks.size)
    at, rank, ranked = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
    order_behind(start, direction, low, at)
    for r in range(n):
        rank[at[r]] = r
        ranked[r] = gains[at[r]]
    first = value(ranked[:counted], constant, ranks[:counted]) * weight
    m = crossings(start, direction, low, high, where, pairs)
    order = np.argsort(where[:m])
    before, begin = first, 0
    while begin < m:
        t = where[order[begin]]
        end = begin + 1
        while end < m and where[order[end]] == t:
            end += 1
        # Neighbours that change places as the only ones here need two assignments; others are counted out.
        i, j = pairs[order[begin]] // n, pairs[order[begin]] % n
        there = after = before
        if end == begin + 1 and abs(rank[i] - rank[j]) == 1 and at[rank[i]] == i and at[rank[j]] == j:
            by_row = rank[i] < rank[j]
            rank[i], rank[j] = rank[j], rank[i]
            at[rank[i]], at[rank[j]] = i, j
            if gains[i] != gains[j]:
                ranked[rank[i]], ranked[rank[j]] = gains[i], gains[j]
                if min(rank[i], rank[j]) < counted:
                    after = value(ranked[:counted], constant, ranks[:counted]) * weight
                    there = before if by_row else after
        else:
            # i < j: who stands above by its row is i; first those who come to stand so, then the others.
            for behind in range(2):
                for k in range(begin, end):
                    i, j = pairs[order[k]] // n, pairs[order[k]] % n
                    i_falls = direction[i] < direction[j]
                    if i_falls == (behind == 1):
                        rank[i] += 1 if i_falls else -1
                        rank[j] += -1 if i_falls else 1
                stand(rank, at, gains, ranked)
                if behind == 0:
                    there = value(ranked[:counted], constant, ranks[:counted]) * weight
            after = value(ranked[:counted], constant, ranks[:counted]) * weight
        if there != before or after != before:
            changes.where[found], changes.at[found] = t, there - before
            changes.behind[found] = after - before
            found += 1
        before, begin = after, end
    return found, first


def _sweep_types() -> Any:
    import numba as nb

    floats = nb.float64[::1]
    lined = nb.types.NamedTuple((floats, floats, floats, nb.int64[::1], floats, floats, floats), Lined)
    changes = nb.types.NamedUniTuple(floats, 3, Changes)
    bounds = nb.float64, nb.float64, nb.int64, nb.int64
    return nb.int64(function_type(VALUE), lined, *bounds, floats, changes)


@kernel(_sweep_types)
def sweep_queries(
    value: Callable[..., float],
    lined: Lined,
    low: float,
    high: float,
    begin: int,
    end: int,
    firsts: Floats,
    changes: Changes,
) -> int:
    """The changes of some queries, and each one's value behind ``low``; how many changes there are."""
    longest = 0
    for q in range(begin, end):
        longest = max(longest, lined.offsets[q + 1] - lined.offsets[q])
    pairs = longest * (longest - 1) // 2
    scratch = np.empty(pairs), np.empty(pairs, np.int64)
    found = 0
    for q in range(begin, end):
        a, b = lined.offsets[q], lined.offsets[q + 1]
        if lined.constants[q] == 0.0 or lined.weights[q] == 0.0:
            firsts[q] = 0.0
            continue
        found, firsts[q] = sweep_query(
            value, lined.start[a:b], lined.direction[a:b], lined.gains[a:b], lined.constants[q], lined.ranks,
            lined.weights[q], low, high, scratch, found, changes,
        )  # fmt: skip
    return found


class Profile(NamedTuple):
    """The mean of a measure along the line, but for a constant: between and at the points where it changes.

    ``between[k]`` holds before ``where[k]`` (the last: behind them all), ``at[k]`` at it.
    """

    where: Floats
    between: Floats
    at: Floats
    low: float
    high: float

    def candidates(self, most: int) -> list[float]:
        """Points to stand at, the best first: middles of stretches (widest first), then single points."""
        edges = np.concatenate([[self.low], self.where, [self.high]])
        best = max(self.between.max(), self.at.max(initial=-np.inf))
        near = best - CLOSE * max(1.0, abs(best))
        stretches = np.flatnonzero(self.between >= near)
        widths = np.minimum(edges[stretches + 1] - edges[stretches], 1e300)
        stretches = stretches[np.argsort(-widths, kind="stable")][:most]
        points = self.where[np.flatnonzero(self.at >= near)[:most]]
        return [_middle(edges[k], edges[k + 1]) for k in stretches] + points.tolist()


def _middle(low: float, high: float) -> float:
    if np.isinf(low) and np.isinf(high):
        return 0.0
    if np.isinf(low):
        return float(high - max(1.0, abs(high)))
    if np.isinf(high):
        return float(low + max(1.0, abs(low)))
    return float(low + (high - low) / 2.0)


def profile(
    start: Floats,
    direction: Floats,
    measure: Measure,
    queries: QuerySet,
    whole_line: bool = False,
    n_jobs: int | None = None,
) -> Profile:
    """The mean measure of the scores start + t·direction (by stored row), for t from 0 to 1 or for all t.

    Memory and time grow with the square of a query's documents, and with the crossings that change anything.

    >>> from rankwright.measures import measure
    >>> queries = QuerySet([[0], [0]], [0, 1], qid=1)
    >>> found = profile(np.array([1.0, 0.0]), np.array([0.0, 4.0]), measure("mrr"), queries)
    >>> found.where, found.between, found.at
    (array([0.25]), array([0.5, 1. ]), array([0.5]))
    """
    if measure.ties != "input":
        raise InputError(f"{measure!r}: a sweep orders equal scores as their rows stand; use ties=input")
    assert queries.labels is not None
    lists = Lists(queries.labels, queries.offsets, rows=queries.rows, n_jobs=n_jobs)
    weights = np.ones(len(lists.sizes)) if queries.query_weight is None else np.array(queries.query_weight)
    if measure.short == "zero" and measure.cutoff is not None:
        weights[lists.sizes < measure.cutoff] = 0.0
    constants = lists.constants(measure)
    counted = weights.sum() if measure.blank != "skip" else weights[constants != 0.0].sum()
    lined = Lined(
        contiguous(start), contiguous(direction),
        lists.gains(measure)[lists.codes], np.array(lists.offsets), constants,
        lists.ranks(measure, measure.cutoff), weights / max(counted, 1e-300),
    )  # fmt: skip
    low, high = (-np.inf, np.inf) if whole_line else (0.0, 1.0)
    pairs = lists.sizes * (lists.sizes - 1) // 2
    firsts = np.zeros(len(pairs))

    def one(begin: int, end: int) -> Changes:
        room = Changes(*(np.empty(int(pairs[begin:end].sum())) for _ in Changes._fields))
        found = sweep_queries(measure.value_kernel.compiled, lined, low, high, begin, end, firsts, room)
        return Changes(*(array[:found].copy() for array in room))

    parts = in_chunks(one, _chunks(pairs), n_jobs)
    return _added_up(parts, float(np.add.accumulate(firsts)[-1]), low, high)


def _chunks(pairs: Integers) -> list[int]:
    """Queries in chunks of about so many pairs."""
    bounds = np.searchsorted(np.cumsum(pairs), np.arange(0, int(pairs.sum()) + 1, PAIRS_A_CHUNK), "right")
    return np.unique([0, *bounds, len(pairs)]).tolist()


def _added_up(parts: list[Changes], first: float, low: float, high: float) -> Profile:
    """All changes in their order on the line, those of one point together."""
    where, at, behind = (np.concatenate([*field, np.empty(0)]) for field in zip(*parts, strict=True))
    order = np.argsort(where, kind="stable")
    where, at, behind = where[order], at[order], behind[order]
    groups = np.flatnonzero(np.diff(where, prepend=-np.inf) > 0)
    between = first + np.concatenate([[0.0], np.cumsum(behind)])
    here = between[groups] + (np.add.reduceat(at, groups) if len(groups) else 0.0)
    return Profile(where[groups], np.append(between[groups], between[-1]), here, low, high)
