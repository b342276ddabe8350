"""The worst ordering of each query: argmax over rankings y of Δ(y*, y) + w·φ(x, y)   (2008, equation 2).

Among documents of one kind the best order is by score (Fact 3.2), for every measure that sees only which
ranks are good. So a ranking is a merge of two sorted lists, and is known by the number of bad documents above
each good one, which never falls from one good document to the next. A pair of a measure and a feature map has
one kernel that finds it, which the loop over queries reaches as a function pointer:

    place(good, bad, scale, constant, k, tables, above) -> Δ

``good`` and ``bad`` are scores in falling order (less the query's highest), ``scale`` what one bad document
above a good one costs the map per unit of score, ``constant`` the measure's normaliser, ``tables[0]`` what
ranks are worth, ``tables[1]`` what the first, second, … good document counts, ``tables[2]`` a map's decay. It
writes the bad documents above each good one to ``above``. Of orderings that are equally bad it takes one with
few bad documents above good ones; documents with equal scores stand in the order of their rows.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwright.measures.base import Floats, Measure
from rankwright.measures.lists import Lists
from rankwright.measures.ranking import Codes, rank_queries
from rankwright.runtime.arrays import Integers
from rankwright.runtime.errors import InputError
from rankwright.runtime.kernels import Kernel, function_type, kernel
from rankwright.structured.feature_maps import Decay, FeatureMap

PLACE = "float64(float64[::1], float64[::1], float64, float64, int64, float64[:, ::1], int64[::1])"
BAD, GOOD, UNJUDGED = 0, 1, 2


class Known(NamedTuple):
    """What stays the same from one set of scores to the next."""

    offsets: Integers
    kinds: Codes
    """Of each document: good, bad or unjudged."""
    scales: Floats
    constants: Floats
    """Each query's normaliser; 0 where it trains nothing."""
    tables: Floats


class Kinds(NamedTuple):
    """How many good and bad documents each query has, and how many documents the longest."""

    good: Integers
    bad: Integers
    longest: int


@dataclasses.dataclass(frozen=True)
class Placing:
    """How one measure's worst orderings are found for one feature map."""

    kernel: Kernel
    constants: Floats
    tables: Floats
    k: int = 0


Builder = Callable[[Any, Any, Kinds], Placing]


def _query_types() -> Any:
    import numba as nb

    known = nb.types.NamedTuple(
        (nb.int64[::1], nb.int32[::1], nb.float64[::1], nb.float64[::1], nb.float64[:, ::1]), Known
    )
    scores = nb.types.Array(nb.float64, 1, "C", readonly=True)
    size, integers = nb.int64, nb.int64[::1]
    return size(
        function_type(PLACE), size, nb.boolean, known, scores, integers, integers, size, size,
        nb.float64[::1], nb.float64[::1],
    )  # fmt: skip


@kernel(_query_types)
def query_worst(
    place: Callable[..., float],
    k: int,
    by_rank: bool,
    known: Known,
    scores: Floats,
    chosen: Integers,
    starts: Integers,
    begin: int,
    end: int,
    losses: Floats,
    coefficients: Floats,
) -> int:
    """Δ of each chosen query's worst ordering and its δφ; returns a row whose score is not finite, or −1.

    What a query writes begins at its ``starts``; ``by_rank`` tells a decay from pairs.
    """
    longest = 0
    for i in range(begin, end):
        longest = max(longest, known.offsets[chosen[i] + 1] - known.offsets[chosen[i]])
    order, alone, tied = np.empty(longest, np.int64), np.zeros(2, np.int64), np.empty(1, np.bool_)
    values, rows = np.empty((2, longest)), np.empty((2, longest), np.int64)
    above = np.empty(longest, np.int64)
    for i in range(begin, end):
        q = chosen[i]
        a, n = known.offsets[q], known.offsets[q + 1] - known.offsets[q]
        mine = coefficients[starts[i] : starts[i] + n]
        mine[:] = 0.0
        losses[i] = 0.0
        for row in range(a, a + n):
            if not np.isfinite(scores[row]):
                return row
        if known.constants[q] == 0.0:
            continue
        # 1. Good and bad documents, each by score.
        alone[1] = n
        rank_queries(scores[a : a + n], alone, 0, 1, order, tied)
        highest = scores[a + order[0]]
        n_good, n_bad = 0, 0
        for r in range(n):
            row = order[r]
            kind = known.kinds[a + row]
            if kind == GOOD:
                values[GOOD, n_good] = scores[a + row] - highest
                rows[GOOD, n_good] = row
                n_good += 1
            elif kind == BAD:
                values[BAD, n_bad] = scores[a + row] - highest
                rows[BAD, n_bad] = row
                n_bad += 1
        # 2. The worst merge of the two.
        losses[i] = place(
            values[GOOD, :n_good], values[BAD, :n_bad], known.scales[q], known.constants[q], k,
            known.tables, above[:n_good],
        )  # fmt: skip
        # 3. φ of the truth minus φ of it.
        good, bad = rows[GOOD, :n_good], rows[BAD, :n_bad]
        if by_rank:
            from_ranks(good, bad, above, known.tables[2], mine)
        else:
            from_pairs(good, bad, above, known.scales[q], mine)
    return -1


@kernel("void(int64[::1], int64[::1], int64[::1], float64, float64[::1])")
def from_pairs(good: Integers, bad: Integers, above: Integers, scale: float, out: Floats) -> None:
    """δφ of maps made of pairs: ``scale``·(x_g − x_b) for each bad document above a good one."""
    b = 0
    for g in range(good.size):
        out[good[g]] = scale * above[g]
        while b < above[g]:
            out[bad[b]] = -scale * (good.size - g)
            b += 1


@kernel("void(int64[::1], int64[::1], int64[::1], float64[::1], float64[::1])")
def from_ranks(good: Integers, bad: Integers, above: Integers, decay: Floats, out: Floats) -> None:
    """δφ of a decay by rank: of the mean of the ideal rankings minus that of the rank it has."""
    of_good, of_bad = 0.0, 0.0
    for r in range(good.size):
        of_good += decay[r] / good.size
    for r in range(good.size, good.size + bad.size):
        of_bad += decay[r] / bad.size
    b = 0
    for g in range(good.size):
        while b < above[g]:
            out[bad[b]] = of_bad - decay[g + b]
            b += 1
        out[good[g]] = of_good - decay[g + b]
    for rest in range(b, bad.size):
        out[bad[rest]] = of_bad - decay[good.size + rest]


class WorstOrderings:
    """The worst ordering of each query at given scores. Made by ``worst_orderings``."""

    graded: ClassVar[bool]
    """Whether the labels' own gains count, or documents are good or bad only."""

    def __init__(self, measure: Measure, feature_map: FeatureMap, lists: Lists, threshold: float):
        lists.check_labels(measure)
        self.measure, self.feature_map, self.lists = measure, feature_map, lists
        self.threshold = threshold
        """The lowest label of a good document."""
        self.trains: NDArray[np.bool_] = np.ones(len(lists.sizes), np.bool_)
        """Whether each query trains anything: it has good and bad documents."""
        if measure.short == "zero" and measure.cutoff is not None:
            self.trains = lists.sizes >= measure.cutoff
        self._offsets = np.require(lists.offsets, np.int64, ["C", "W"])
        self._all = np.arange(len(lists.sizes))

    def at(self, scores: ArrayLike, queries: ArrayLike | None = None) -> tuple[Floats, Floats]:
        """Δ of each query's worst ordering y, and c of each row, with φ(x, y*) − φ(x, y) = Σ c·x.

        ``queries`` asks for some of them only, in this order: then Δ is one a query asked for, and c is one a
        row of theirs, query after query. ``scores`` are one a row always; other queries' are not read.
        Both are 0 where a query trains nothing.
        """
        given = np.ascontiguousarray(scores, np.float64)
        if given.shape != self.lists.labels.shape:
            raise InputError(
                f"the scores have shape {given.shape} for {len(self.lists.labels)} rows; give one a row"
            )
        run = self._run()
        bad: list[int] = []
        if queries is None:
            losses, coefficients = np.empty(len(self._all)), np.empty(len(given))
            starts = self._offsets[:-1]
            self.lists.in_chunks(
                lambda begin, end: bad.append(run(given, self._all, starts, begin, end, losses, coefficients))
            )
        else:
            chosen = np.array(queries, np.int64)
            sizes = self.lists.sizes[chosen]
            losses, coefficients = np.empty(len(chosen)), np.empty(int(sizes.sum()))
            starts = np.cumsum(sizes) - sizes
            bad.append(run(given, chosen, starts, 0, len(chosen), losses, coefficients))
        row = max(bad, default=-1)
        if row >= 0:
            raise InputError(f"row {row}: the score is {given[row]:g}; worst orderings need finite scores")
        return losses, coefficients

    def _run(self) -> Callable[..., int]:
        """The compiled kernel, with what stays the same given to it."""
        raise NotImplementedError


class MergedOrderings(WorstOrderings):
    """Worst orderings of documents that are good or bad."""

    graded = False

    def __init__(
        self, measure: Measure, feature_map: FeatureMap, lists: Lists, threshold: float, build: Builder
    ):
        super().__init__(measure, feature_map, lists, threshold)
        kinds = np.where(np.isnan(lists.labels), UNJUDGED, lists.labels >= threshold).astype(np.int32)
        n_good, n_bad = (_counts(kinds == kind, lists) for kind in (GOOD, BAD))
        placing = build(measure, feature_map, Kinds(n_good, n_bad, int(lists.sizes.max(initial=0))))
        self.trains &= (n_good > 0) & (n_bad > 0) & (placing.constants > 0)
        self._placing = placing
        self._known = Known(
            offsets=self._offsets,
            kinds=kinds,
            scales=feature_map.scales(n_good, n_bad),
            constants=np.where(self.trains, placing.constants, 0.0),
            tables=np.require(placing.tables, np.float64, ["C", "W"]),
        )

    def _run(self) -> Callable[..., int]:
        by_rank = isinstance(self.feature_map, Decay)
        run, place = query_worst.compiled, self._placing.kernel.pointer
        return functools.partial(run, place, self._placing.k, by_rank, self._known)


def _counts(mask: NDArray[np.bool_], lists: Lists) -> Integers:
    """How many rows of each query a mask holds."""
    sums = np.concatenate([[0], np.cumsum(mask)])
    return (sums[lists.offsets[1:]] - sums[lists.offsets[:-1]]).astype(np.int64)


def tables_of(longest: int, rows: int) -> Floats:
    """Empty tables for lists of up to ``longest`` documents, one column wider than they are long."""
    return np.zeros((rows, longest + 1))


@kernel("float64(float64, float64[:, ::1], int64[::1])")
def loss_of(constant: float, tables: Floats, above: Integers) -> float:
    """Δ of a merge: what each good document counts × what its rank is worth, of the truth minus of this."""
    worths, counts = tables[0], tables[1]
    total = 0.0
    for g in range(above.size):
        total += counts[g] * (worths[g] - worths[g + above[g]])
    return min(1.0, total * constant)
