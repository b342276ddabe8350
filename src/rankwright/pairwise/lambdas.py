"""λ's of any measure, after 2006 section 4, 2009 and 2010 sections 4 and 7: one compiled kernel for all.

For a pair with document i more relevant than document j, and |Δ| what swapping their ranks changes,

    λᵢⱼ = σ |Δᵢⱼ| / (1 + exp(σ(sᵢ − sⱼ))),     λᵢ += λᵢⱼ,  λⱼ −= λᵢⱼ
    wᵢⱼ = σ² |Δᵢⱼ| ρ(1 − ρ),   ρ = 1 / (1 + exp(σ(sᵢ − sⱼ))),   wᵢ += wᵢⱼ,  wⱼ += wᵢⱼ

λ = −∂C/∂s has 2006's sign (equation 3): a positive λ pushes its document up. So Σλ = 0 for each query, and a
Newton step is +Σλ/Σw. (2010 has λ = +∂C/∂s in section 2 and the reverse in section 7.)

A query is sorted by score, and then all lies in ranked order: documents that stand below the one in hand are
worked off in vectors of single precision. The measure enters as two function pointers, ``prepare`` once a
query and ``row`` once a document; exp is a polynomial. Sums over a long list are made in blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rankwright.measures.base import PREPARE, ROW, Floats, Measure, Singles
from rankwright.measures.lists import Lists, contiguous
from rankwright.measures.ranking import Codes, rank_queries
from rankwright.pairwise.weightings import Weigh, swap_gains
from rankwright.runtime.arrays import Integers
from rankwright.runtime.errors import InputError
from rankwright.runtime.exponential import exponential
from rankwright.runtime.kernels import function_type, kernel

UNSIGNED_ONE, ZERO, ONE, TWO = np.uint64(1), np.float32(0), np.float32(1), np.float32(2)
NEAR = np.float32(0.01)
LANES = np.uint64(16)
"""Rows are worked off in steps of a vector; the arrays are so much longer than the longest query."""
BLOCK = np.uint64(4096)
"""Documents that are summed in single precision before the sum goes on in double."""
ALL = 2**62
LARGEST = 1e30
"""What a gain may be worth, so that λ's stay within single precision."""


class Known(NamedTuple):
    """What stays the same from step to step."""

    offsets: Integers
    codes: Codes
    """Each label's number among the labels there are, in their order."""
    gains: Floats
    """What each numbered label is worth to the measure."""
    weights: Singles
    """Each document's weight; 0 where it is unjudged, so that it is in no pair."""
    query_weights: Floats
    constants: Floats
    tables: Floats


def _pair_types() -> Any:
    import numba as nb

    singles, size = nb.float32[::1], nb.uint64
    return nb.float64(
        function_type(ROW), size, size, nb.float32, nb.boolean, singles, nb.int32[::1], singles,
        nb.float64[::1], nb.float64[:, ::1], singles, singles, singles,
    )  # fmt: skip


@kernel(inline=True)
def pairs_below(
    i: Any,
    begin: Any,
    length: Any,
    sigma: np.float32,
    near: np.float32,
    slope: np.float32,
    scores: Singles,
    levels: Codes,
    weights: Singles,
    swaps: Singles,
    lambdas: Singles,
    hessians: Singles,
) -> tuple[np.float32, np.float32, np.float32]:
    """The pairs of the document at rank i with ``length`` documents from rank ``begin`` on.

    Returns what is left to add to its own λ and w, and the sum of |λᵢⱼ|.
    """
    score, level, weight = scores[i], levels[i], sigma * weights[i]
    up, bend, total = ZERO, ZERO, ZERO
    for lane in range((length + LANES - UNSIGNED_ONE) // LANES * LANES):
        j = begin + lane
        distance = score - scores[j]
        e = exponential(-sigma * distance)
        divisor = near + slope * abs(distance)
        inverse = ONE / ((ONE + e) * divisor)
        size = abs(swaps[j]) * weights[j] * weight * inverse
        size = size if levels[j] != level else ZERO
        right = size * e
        force = right if levels[j] < level else -size  # on i: up where the pair stands right
        curve = right * inverse * divisor
        lambdas[j] -= force
        hessians[j] += curve
        up += force
        bend += curve
        total += abs(force)
    return up, bend, total


@kernel(_pair_types, fastmath={"reassoc", "contract", "arcp", "nsz"})
def pair_rows(
    row: Callable[..., None],
    n: Any,
    rows: Any,
    sigma: np.float32,
    by_distance: bool,
    scores: Singles,
    levels: Codes,
    weights: Singles,
    gains: Floats,
    tables: Floats,
    swaps: Singles,
    lambdas: Singles,
    hessians: Singles,
) -> float:
    """λ's and w's (those still to be multiplied by σ) of one query in ranked order; returns the sum of |λᵢⱼ|.

    All pairs with one document in the first ``rows``. Behind rank n the last score is repeated, and weights
    and swaps are 0.
    """
    for r in range(n + LANES):
        lambdas[r] = ZERO
        hessians[r] = ZERO
    near, slope = (NEAR, ONE) if by_distance else (ONE, ZERO)
    total = 0.0
    if n <= BLOCK:
        for i in range(rows):
            row(i, n, gains, tables, swaps)
            below = i + UNSIGNED_ONE
            up, bend, size = pairs_below(
                i, below, n - below, sigma, near, slope, scores, levels, weights, swaps, lambdas, hessians
            )
            lambdas[i] += up
            hessians[i] += bend
            total += np.float64(size)
        return total
    # The same for long lists: what a document is pushed by adds up in double precision from block to block.
    for i in range(rows):
        row(i, n, gains, tables, swaps)
        all_up, all_bend = 0.0, 0.0
        for begin in range(i + UNSIGNED_ONE, n, BLOCK):
            length = min(BLOCK, n - begin)
            up, bend, size = pairs_below(
                i, begin, length, sigma, near, slope, scores, levels, weights, swaps, lambdas, hessians
            )
            all_up += np.float64(up)
            all_bend += np.float64(bend)
            total += np.float64(size)
        lambdas[i] += np.float32(all_up)
        hessians[i] += np.float32(all_bend)
    return total


def known_types() -> Any:
    """Numba's type of what is known."""
    import numba as nb

    vector, singles = nb.float64[::1], nb.float32[::1]
    return nb.types.NamedTuple(
        (nb.int64[::1], nb.int32[::1], vector, singles, vector, vector, nb.float64[:, ::1]), Known
    )


def _query_types() -> Any:
    import numba as nb

    singles, known = nb.float32[::1], known_types()
    scores = nb.types.Array(nb.float64, 1, "C", readonly=True)
    return nb.void(
        function_type(PREPARE), function_type(ROW), nb.int64, nb.float64, nb.boolean, nb.boolean, scores,
        scores, known, nb.int64, nb.int64, singles, singles,
    )  # fmt: skip


@kernel(_query_types)
def query_lambdas(
    prepare: Callable[..., None],
    row: Callable[..., None],
    truncation: int,
    sigma: float,
    by_distance: bool,
    by_total: bool,
    scores: Floats,
    keys: Floats,
    known: Known,
    begin: int,
    end: int,
    lambdas: Singles,
    hessians: Singles,
) -> None:
    """λ's and w's of each query, written to its documents' rows; zeros where the query is blank.

    Documents are ranked by ``keys``, which are the scores themselves unless an ordering is drawn by chance.
    """
    longest = 0
    for q in range(begin, end):
        longest = max(longest, known.offsets[q + 1] - known.offsets[q])
    padded = longest + np.int64(LANES)
    order, alone, tied = np.empty(longest, np.int64), np.zeros(2, np.int64), np.empty(1, np.bool_)
    gains, levels, tables = np.empty(longest), np.zeros(padded, np.int32), known.tables.copy()
    ranked, weights, swaps = (
        np.empty(padded, np.float32),
        np.empty(padded, np.float32),
        np.empty(padded, np.float32),
    )
    lams, hess = np.empty(padded, np.float32), np.empty(padded, np.float32)
    for q in range(begin, end):
        a, n = known.offsets[q], known.offsets[q + 1] - known.offsets[q]
        if known.constants[q] == 0.0 or n < 2:
            lambdas[a : a + n] = ZERO
            hessians[a : a + n] = ZERO
            continue
        # 1. Rank the documents, and lay all that is known of them out in that order.
        alone[1] = n
        rank_queries(keys[a : a + n], alone, 0, 1, order, tied)
        best, apart = scores[a + order[0]], False
        for r in range(n):
            at = a + order[r]
            # Differences count, and large scores of little difference would lose it in single precision.
            ranked[r] = np.float32(scores[at] - best)
            apart |= scores[at] != best
            levels[r] = known.codes[at]
            gains[r] = known.gains[known.codes[at]]
            weights[r] = known.weights[at]
        ranked[n : n + np.int64(LANES)] = ranked[n - 1]
        weights[n : n + np.int64(LANES)] = ZERO
        swaps[n : n + np.int64(LANES)] = ZERO
        # 2. All pairs that the truncation leaves.
        prepare(np.uint64(n), gains[:n], known.constants[q], tables)
        total = pair_rows(
            row, np.uint64(n), np.uint64(min(truncation, n - 1)), np.float32(sigma), by_distance and apart,
            ranked, levels, weights, gains[:n], tables, swaps, lams, hess,
        )  # fmt: skip
        # 3. Back to the caller's order.
        factor = known.query_weights[q]
        if by_total and total > 0.0:
            factor *= np.log2(1.0 + 2.0 * total) / (2.0 * total)
        for r in range(n):
            lambdas[a + order[r]] = np.float32(lams[r] * factor)
            hessians[a + order[r]] = np.float32(hess[r] * factor * sigma)


def check_measure(measure: Measure) -> None:
    """Refuse a measure that training on its λ's has no use for."""
    if not measure.has_swap_gains:
        raise InputError(f"{measure!r} has no swap gains, which training on its λ's needs")
    if measure.ties != "input":
        raise InputError(
            f"{measure!r} cannot be trained for: training ranks equal scores in the order of the rows; "
            "use ties=input"
        )


class Lambdas:
    """The λ's of a measure on labelled queries: give it scores, get λ and w.

    ``weights`` of documents enter a pair as their product, ``query_weight`` multiplies all of a query after
    any normalisation. ``truncation`` keeps the pairs that have a document among the first so many of the
    list. Two normalisations of LightGBM's: ``by_distance`` divides |Δ| by 0.01 + |sᵢ − sⱼ|, ``by_total``
    multiplies a query's λ's by log2(1 + Σ|λ|) / Σ|λ|. ``weigh`` puts something else in the place of |Δ|.

    >>> from rankwright.measures import measure
    >>> lists = Lists(np.array([0.0, 1.0]), np.array([0, 2]))
    >>> Lambdas(lists, measure("mrr")).at([0.0, 0.0])
    (array([-0.25,  0.25], dtype=float32), array([0.125, 0.125], dtype=float32))
    """

    def __init__(
        self,
        lists: Lists,
        measure: Measure,
        *,
        weights: Floats | None = None,
        query_weight: Floats | None = None,
        sigma: float = 1.0,
        truncation: int | None = None,
        by_distance: bool = False,
        by_total: bool = False,
        weigh: Weigh = swap_gains,
    ):
        check_measure(measure)
        if not isinstance(sigma, int | float | np.number) or not 0 < sigma < np.inf:
            raise InputError(f"sigma is {sigma!r}; it is a number above 0")
        if truncation is not None and truncation < 1:
            raise InputError(f"truncation is {truncation!r}; it is a number of ranks of at least 1, or None")
        self.lists, self.measure = lists, measure
        self.sigma, self.by_distance, self.by_total = float(sigma), by_distance, by_total
        self.weighting = weigh(measure, lists)
        # A swap of two documents behind the cut-off changes nothing.
        self.truncation = min(truncation or ALL, self.weighting.cutoff or ALL)
        n = len(lists.labels)
        given = np.ones(n) if weights is None else contiguous(weights)
        self.known = Known(
            offsets=np.require(lists.offsets, np.int64, ["C", "W"]),
            codes=np.require(lists.codes, np.int32, ["C", "W"]),
            gains=lists.gains(measure),
            weights=np.where(np.isnan(lists.labels), 0.0, given).astype(np.float32),
            query_weights=np.ones(len(lists.sizes)) if query_weight is None else contiguous(query_weight),
            constants=self.weighting.constants,
            tables=self.weighting.tables,
        )
        largest = max(
            float(np.abs(part).max(initial=0.0)) for part in (self.known.gains, self.known.tables[0])
        )
        if largest * float(self.known.constants.max(initial=0.0)) > LARGEST:
            raise InputError(
                f"{measure!r} has gains of up to {largest:g} on these labels, which single precision cannot "
                "hold; give smaller gains, or a normalised measure"
            )

    def at(
        self,
        scores: ArrayLike,
        out: tuple[Singles, Singles] | None = None,
        keys: Floats | None = None,
    ) -> tuple[Singles, Singles]:
        """λ and w at these scores, one a row as ``lists`` has them; written to ``out`` if it is given.

        Documents are ranked by ``keys`` where those are given, and else by their scores.
        """
        given = np.ascontiguousarray(scores, np.float64)
        if given.shape != self.lists.labels.shape:
            raise InputError(
                f"the scores have shape {given.shape} for {len(self.lists.labels)} rows; give one a row"
            )
        if not np.isfinite(given).all():
            bad = int(np.flatnonzero(~np.isfinite(given))[0])
            raise InputError(f"row {bad}: the score is {given[bad]:g}; λ's need finite scores")
        lambdas, hessians = out or (np.empty(len(given), np.float32), np.empty(len(given), np.float32))
        run, prepare = query_lambdas.compiled, self.weighting.prepare.compiled
        row, by = self.weighting.row.compiled, given if keys is None else keys
        self.lists.in_chunks(
            lambda begin, end: run(
                prepare, row, self.truncation, self.sigma, self.by_distance, self.by_total, given,
                by, self.known, begin, end, lambdas, hessians,
            )
        )  # fmt: skip
        return lambdas, hessians
