"""λ's of many queries by any rule: the ranked lists are walked once, row by row.

    λᵢ = Σⱼ fᵢⱼ wᵢ wⱼ,   fⱼᵢ = −fᵢⱼ      (pairwise rules)

The rule's force and the measure's swap gains enter one compiled kernel as function pointers, once a row. It
works in float64 throughout and gives the potential too; ``pairwise.lambdas`` is the fast form of the one rule
that learners use by default.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rankwright.measures.base import PREPARE, ROW, VALUE, Measure
from rankwright.measures.lists import Lists, contiguous
from rankwright.pairwise.lambdas import check_measure
from rankwright.pairwise.rules import FAR, Rule
from rankwright.pairwise.shapes import FORCE, ONE, Floats, Singles
from rankwright.runtime.arrays import Integers
from rankwright.runtime.errors import InputError
from rankwright.runtime.kernels import function_type, kernel


@kernel(PREPARE)
def count_prepare(n: int, levels: Floats, constant: float, tables: Floats) -> None:
    """Counting pairs needs no tables."""


@kernel(ROW)
def count_row(i: Any, n: Any, levels: Floats, tables: Floats, out: Singles) -> None:
    """Without a measure: 1 for a pair that stands the wrong way, −1 for one that stands right."""
    for j in range(i + ONE, n):
        way = 1.0 if levels[j] > levels[i] else (-1.0 if levels[j] < levels[i] else 0.0)
        out[j] = np.float32(way)


def _ranked_types() -> Any:
    import numba as nb

    vector, matrix, number, count = nb.float64[::1], nb.float64[:, ::1], nb.float64, nb.uint64
    pointers = [function_type(signature) for signature in (ROW, FORCE)]
    return nb.void(
        *pointers, count, count, count, number, vector, vector, vector, matrix, vector, nb.float32[::1],
        matrix, matrix,
    )  # fmt: skip


@kernel(_ranked_types)
def ranked_forces(
    row: Callable[..., None],
    force: Callable[..., None],
    n: Any,
    rows: Any,
    reach: Any,
    constant: float,
    scores: Floats,
    levels: Floats,
    weights: Floats,
    tables: Floats,
    parameters: Floats,
    swaps: Singles,
    pair: Floats,
    out: Floats,
) -> None:
    """λ's, their derivatives and potentials of one query in ranked order."""
    out[:, :n] = 0.0
    for i in range(rows):
        end = min(n, i + ONE + reach)
        row(i, n, levels, tables, swaps)
        force(i, end, constant, scores, levels, swaps, parameters, pair)
        own, own_stiff, own_cost = 0.0, 0.0, 0.0
        for j in range(i + ONE, end):
            weight = weights[i] * weights[j]
            pull, stiff, cost = weight * pair[0, j], weight * pair[1, j], 0.5 * weight * pair[2, j]
            out[0, j] -= pull
            out[1, j] += stiff
            out[2, j] += cost
            own += pull
            own_stiff += stiff
            own_cost += cost
        out[0, i] += own
        out[1, i] += own_stiff
        out[2, i] += own_cost


def _query_types(*signatures: str, counts: int = 0) -> Callable[[], Any]:
    def types() -> Any:
        import numba as nb

        offsets = nb.types.Array(nb.int64, 1, "C", readonly=True)
        vector, matrix = nb.float64[::1], nb.float64[:, ::1]
        leading = [*map(function_type, signatures), *[nb.uint64] * counts]
        return nb.void(
            *leading, nb.float64, matrix, offsets, vector, matrix, vector, nb.int64, nb.int64, matrix
        )

    return types


@kernel("void(float64, float64[::1], float64[::1], float64[:, ::1])")
def regularise(alpha: float, scores: Floats, weights: Floats, out: Floats) -> None:
    """Draw each document towards the (weighted) mean of the scores."""
    total, mean = 0.0, 0.0
    for i in range(scores.size):
        total += weights[i]
        mean += weights[i] * scores[i]
    if total == 0.0:
        return
    mean /= total
    for i in range(scores.size):
        stiff, far = alpha * weights[i], scores[i] - mean
        out[0, i] -= stiff * far
        out[1, i] += stiff * (1.0 - weights[i] / total)
        out[2, i] += 0.5 * stiff * far * far


@kernel(_query_types(PREPARE, ROW, FORCE, counts=2))
def query_forces(
    prepare: Callable[..., None],
    row: Callable[..., None],
    force: Callable[..., None],
    rows: Any,
    reach: Any,
    alpha: float,
    ranked: Floats,
    offsets: Integers,
    constants: Floats,
    empty_tables: Floats,
    parameters: Floats,
    begin: int,
    end: int,
    out: Floats,
) -> None:
    """Let the documents of each query act on each other; ``ranked`` holds scores, levels and weights."""
    longest = empty_tables.shape[1]
    pair, acting = np.zeros((3, longest)), np.empty((3, longest))
    swaps, tables = np.empty(longest, np.float32), empty_tables.copy()
    for q in range(begin, end):
        a, b = offsets[q], offsets[q + 1]
        if constants[q] == 0.0:
            continue
        scores, levels, weights = ranked[0, a:b], ranked[1, a:b], ranked[2, a:b]
        n = np.uint64(b - a)
        prepare(n, levels, constants[q], tables)
        ranked_forces(
            row, force, n, min(n, rows), reach, constants[q], scores, levels, weights, tables, parameters,
            swaps, pair, acting,
        )  # fmt: skip
        if alpha > 0.0:
            regularise(alpha, scores, weights, acting)
        out[:, a:b] = acting[:, : b - a]


@kernel("int64(float64[::1], int64)")
def ideal_rank(levels: Floats, i: int) -> int:
    """The nearest of the ranks at which the best ordering has documents of this one's worth."""
    first, last = 0, -1
    for level in levels:
        first += level > levels[i]
        last += level >= levels[i]
    # What is unjudged is neither above nor below anything, and stays where it is.
    return min(max(i, first), last) if last >= 0 else i


@kernel(_query_types(VALUE))
def query_moves(
    value: Callable[..., float],
    alpha: float,
    ranked: Floats,
    offsets: Integers,
    constants: Floats,
    tables: Floats,
    parameters: Floats,
    begin: int,
    end: int,
    out: Floats,
) -> None:
    """Move each document to its ideal rank, the others closing up; ``ranked`` as in ``query_forces``."""
    longest = tables.shape[1]
    ranks, moved, acting = tables[0].copy(), np.empty(longest), np.empty((3, longest))
    for q in range(begin, end):
        a, n = offsets[q], offsets[q + 1] - offsets[q]
        if constants[q] == 0.0:
            continue
        scores, levels, weights = ranked[0, a : a + n], ranked[1, a : a + n], ranked[2, a : a + n]
        now, bound = value(levels, constants[q], ranks[:n]), parameters[0] * constants[q]
        total, mean = 0.0, 0.0
        for i in range(n):
            to = ideal_rank(levels, i)
            moved[:n] = levels
            if to < i:
                moved[to + 1 : i + 1] = levels[to:i]
            else:
                moved[i:to] = levels[i + 1 : to + 1]
            moved[to] = levels[i]
            gain = value(moved[:n], constants[q], ranks[:n]) - now
            acting[0, i] = weights[i] * (1.0 if to < i else -1.0) * min(max(gain, -bound), bound)
            mean += acting[0, i]
            total += weights[i]
        for i in range(n):
            acting[0, i] -= mean * weights[i] / total if total > 0.0 else 0.0
            acting[1, i], acting[2, i] = 0.0, -acting[0, i] * scores[i]
        if alpha > 0.0:
            regularise(alpha, scores, weights, acting)
        out[:, a : a + n] = acting[:, :n]


class Acting(NamedTuple):
    """What a rule does to documents, one number a row."""

    lambdas: Floats
    """λ = −∂C/∂s; positive is up."""
    hessians: Floats
    """−∂λ/∂s of the document itself, at the present order."""
    potentials: Floats
    """The document's share of the cost whose gradient −λ is at the present order (half of each pair's)."""


class Forces:
    """A rule at work on labelled queries: give it scores, get λ's.

    ``weights`` of documents enter a pair as their product; ``query_weight`` multiplies all of a query.

    >>> from rankwright.pairwise.rules import rule
    >>> lists = Lists(np.array([0.0, 1.0]), np.array([0, 2]))
    >>> Forces(rule("RankNetWeightPairs"), lists).at([0.0, 0.0]).lambdas
    array([-0.5,  0.5])
    """

    def __init__(
        self,
        rule: Rule,
        lists: Lists,
        measure: Measure | None = None,
        *,
        weights: Floats | None = None,
        query_weight: Floats | None = None,
    ):
        if measure is None and rule.needs_measure:
            raise InputError(f"{rule!r} moves documents by what a measure gains; give it a measure")
        if measure is not None:
            check_measure(measure)
        self.rule, self.lists, self.measure = rule, lists, measure
        given = np.ones(len(lists.labels)) if weights is None else weights
        # What is unjudged is in no pair.
        self.weights = np.where(np.isnan(lists.labels), 0.0, given)
        self.query_weight = query_weight
        if measure is None:
            self.levels, self.constants = contiguous(lists.labels), np.ones(len(lists.sizes))
            self.tables = np.zeros((1, int(lists.sizes.max(initial=0)) + 1))
        else:
            self.levels = lists.gains(measure)[lists.codes]
            self.constants = lists.constants(measure)
            self.tables = measure.tables(int(lists.sizes.max(initial=0)))

    def at(self, scores: ArrayLike) -> Acting:
        """λ's at these scores, one a row as ``lists`` has them."""
        rule, (order, ranked) = self.rule, self.in_order(scores)
        acting, out = np.zeros(ranked.shape), np.empty(ranked.shape)
        act, leading = self._kernel()
        self.lists.in_chunks(
            lambda begin, end: act(
                *leading, rule.alpha, ranked, self.lists.offsets, self.constants,
                self.tables, rule.parameters, begin, end, acting,
            )
        )  # fmt: skip
        out[:, order] = acting
        if self.query_weight is not None:
            out *= np.repeat(self.query_weight, self.lists.sizes)
        return Acting(*out)

    def in_order(self, scores: ArrayLike) -> tuple[Integers, Floats]:
        """The rows in ranked order by query, and what kernels read of them: scores, levels and weights."""
        given = contiguous(scores)
        if given.shape != self.levels.shape:
            raise InputError(
                f"the scores have shape {given.shape} for {len(self.levels)} rows; give one a row"
            )
        bad = np.flatnonzero(~np.isfinite(given))
        if len(bad):
            raise InputError(f"row {bad[0]}: the score is {given[bad[0]]:g}; forces need finite scores")
        order = self.lists.ranked(given).order
        return order, np.stack([given[order], self.levels[order], self.weights[order]])

    def pointers(self) -> list[Any]:
        """What enters a pairwise kernel as function pointers: ``prepare``, ``row`` and ``force``."""
        assert self.rule.force_kernel is not None
        prepare = (self.measure and self.measure.prepare_kernel) or count_prepare
        row = (self.measure and self.measure.row_kernel) or count_row
        return [prepare.compiled, row.compiled, self.rule.force_kernel.compiled]

    def _kernel(self) -> tuple[Callable[..., None], list[Any]]:
        """The compiled kernel, and what enters it first: function pointers, rows and reach."""
        rule, measure = self.rule, self.measure
        if rule.force_kernel is None:
            assert measure is not None
            return query_moves.compiled, [measure.value_kernel.compiled]
        # A swap of two documents behind the cut-off changes nothing.
        cutoff = measure.cutoff if measure is not None and rule.by_gain else None
        return query_forces.compiled, [*self.pointers(), np.uint64(cutoff or FAR), np.uint64(rule.reach)]
