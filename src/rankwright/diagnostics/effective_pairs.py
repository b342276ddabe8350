"""How many pairs train, after 2009 section 7: those on which a rule has a force at the present order.

The finer a measure, the more swaps change it, and the more a query teaches: mean NDCG more than NDCG@10, and
that more than AP and far more than RR. 2009 counts, for RR, only pairs with "a non-relevant document ranked
higher than the top relevant document". Those are the swaps that would raise it; swaps that would lower it
(the top relevant document against an irrelevant one below) have a force too, which holds the pair apart.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankwright.data import QuerySet
from rankwright.measures import measure as read_measure
from rankwright.measures.base import PREPARE, ROW, Floats, Measure
from rankwright.measures.lists import Lists
from rankwright.pairwise.forces import Forces
from rankwright.pairwise.rules import Rule
from rankwright.pairwise.rules import rule as read_rule
from rankwright.pairwise.shapes import FORCE, ONE
from rankwright.runtime.arrays import Integers
from rankwright.runtime.errors import InputError
from rankwright.runtime.kernels import function_type, kernel


def _types() -> Any:
    import numba as nb

    offsets = nb.types.Array(nb.int64, 1, "C", readonly=True)
    vector, matrix = nb.float64[::1], nb.float64[:, ::1]
    pointers = [function_type(signature) for signature in (PREPARE, ROW, FORCE)]
    return nb.void(
        *pointers,
        nb.uint64,
        nb.boolean,
        matrix,
        offsets,
        vector,
        matrix,
        vector,
        nb.int64,
        nb.int64,
        nb.int64[::1],
    )


@kernel(_types)
def count_pairs(
    prepare: Callable[..., None],
    row: Callable[..., None],
    force: Callable[..., None],
    reach: Any,
    rising: bool,
    ranked: Floats,
    offsets: Integers,
    constants: Floats,
    empty_tables: Floats,
    parameters: Floats,
    begin: int,
    end: int,
    out: Integers,
) -> None:
    """Each query's pairs with a force, or only those of them whose swap would raise the measure."""
    longest = empty_tables.shape[1]
    pair, swaps, tables = np.zeros((3, longest)), np.empty(longest, np.float32), empty_tables.copy()
    for q in range(begin, end):
        a, b = offsets[q], offsets[q + 1]
        out[q] = 0
        if constants[q] == 0.0:
            continue
        scores, levels, weights = ranked[0, a:b], ranked[1, a:b], ranked[2, a:b]
        n = np.uint64(b - a)
        prepare(n, levels, constants[q], tables)
        for i in range(n):
            to = min(n, i + ONE + reach)
            row(i, n, levels, tables, swaps)
            force(i, to, constants[q], scores, levels, swaps, parameters, pair)
            for j in range(i + ONE, to):
                acts = pair[0, j] * weights[i] * weights[j] != 0.0
                out[q] += acts and (swaps[j] > 0.0 or not rising)


@dataclasses.dataclass(frozen=True, eq=False)
class EffectivePairs:
    """How many pairs train, by query and in all.

    ``distinct`` are the pairs of each query that differ in worth to the measure, ``labelled`` those that
    differ in label: 2009's upper bounds for binary and graded measures.
    """

    measure: Measure | None
    rule: Rule
    per_query: Integers
    distinct: Integers
    labelled: Integers

    @property
    def total(self) -> int:
        """All pairs that train."""
        return int(self.per_query.sum())

    def as_dict(self) -> dict[str, Any]:
        """The totals, as plain data."""
        return {
            "measure": None if self.measure is None else str(self.measure),
            "rule": repr(self.rule),
            "effective": self.total,
            "distinct": int(self.distinct.sum()),
            "labelled": int(self.labelled.sum()),
        }

    def __str__(self) -> str:
        by = "no measure" if self.measure is None else str(self.measure)
        labelled, distinct = int(self.labelled.sum()), int(self.distinct.sum())
        share = f" ({self.total / labelled:.1%})" if labelled else ""
        return (
            f"{by}, {type(self.rule).__name__}: {self.total:,} effective pairs{share}\n"
            f"of {labelled:,} that differ in label, {distinct:,} in worth to the measure"
        )


def effective_pairs(
    ranker: Any,
    queries: QuerySet,
    measure: str | Measure | None = "ndcg@10",
    *,
    rule: str | Rule | Callable[..., None] = "RankNetWeightPairs",
    counting: Literal["forces", "rising"] = "forces",
) -> EffectivePairs:
    """Count the pairs on which a rule has a force, with the documents in a ranker's order.

    ``ranker`` predicts, or is the scores themselves, one a row as the rows were given. ``counting="rising"``
    counts only swaps that would raise the measure: for "mrr" that is 2009's own count.

    >>> queries = QuerySet([[0], [0], [0], [0]], [0, 1, 0, 1], qid=1)
    >>> effective_pairs([4, 3, 2, 1], queries, "mrr").per_query
    array([3])
    >>> effective_pairs([4, 3, 2, 1], queries, "mrr", counting="rising").per_query
    array([2])
    """
    if counting not in ("forces", "rising"):
        raise InputError(f"counting={counting!r} is not known; it is forces or rising")
    if queries.labels is None:
        raise InputError("the data has no labels; give y, one label a row")
    made = read_rule(rule)
    if made.force_kernel is None:
        raise InputError(f"{type(made).__name__} moves single documents; it has no pairs to count")
    scores = ranker.predict(queries) if hasattr(ranker, "predict") else np.asarray(ranker, np.float64)
    lists = Lists(queries.labels, queries.offsets, rows=queries.rows)
    by = None if measure is None else read_measure(measure)
    forces = Forces(made, lists, by, weights=queries.sample_weight)
    pointers, (_, ranked) = forces.pointers(), forces.in_order(queries.in_stored_order(scores))
    counts = np.zeros(queries.n_queries, np.int64)
    lists.in_chunks(
        lambda begin, end: count_pairs.compiled(
            *pointers, np.uint64(made.reach), counting == "rising", ranked, lists.offsets,
            forces.constants, forces.tables, made.parameters, begin, end, counts,
        )
    )  # fmt: skip
    return EffectivePairs(
        forces.measure,
        made,
        counts,
        _differing(forces.levels, queries),
        _differing(queries.labels, queries),
    )


def _differing(values: NDArray[Any], queries: QuerySet) -> Integers:
    """For each query, how many pairs of documents have different values; unjudged ones are in no pair."""
    counts = np.zeros(queries.n_queries, np.int64)
    for q, rows in enumerate(queries.slices()):
        judged = values[rows][~np.isnan(queries.labels[rows])]  # type: ignore[index]
        _, repeated = np.unique(judged, return_counts=True)
        counts[q] = (len(judged) ** 2 - int((repeated**2).sum())) // 2
    return counts
