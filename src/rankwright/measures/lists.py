"""Measures over many queries: the lists are ranked once, and every measure reads them in that order.

Small inputs use NumPy's sort and the kernels' plain forms, which give the same bits without waiting for a
compiler.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from rankwright.measures.base import Floats, Measure
from rankwright.measures.ranking import (
    AS_RANKED,
    BEST,
    MEAN,
    WORST,
    Codes,
    query_constants,
    query_expected,
    query_values,
    rank_queries,
)
from rankwright.runtime.arrays import Integers
from rankwright.runtime.errors import InputError
from rankwright.runtime.kernels import Kernel
from rankwright.runtime.threads import in_chunks, thread_count

Order = Literal["input", "docid", "average", "worst", "best"]

TABLE = 1024  # whole labels below this are their own number in a table of gains
LABELS_SHOWN = 10
SMALL_DOCUMENTS = 20_000
PLAIN_DOCUMENTS = 50_000  # the plain forms value these in less time than a compiler takes to load …
PLAIN_LIST = 1_000  # … also where a formula looks at all pairs of a list
PLAIN_IN_ALL = 1_000_000  # after so many, in all evaluations together, compiling has been worth its while
TIE_MODES = {"input": AS_RANKED, "docid": AS_RANKED, "worst": WORST, "best": BEST, "average": MEAN}


class Lists:
    """Labelled documents in queries: what measures need to know before anything is ranked.

    ``labels`` lie by query between ``offsets``; NaN is unjudged. ``judged`` are the labels of all judged
    documents between ``judged_offsets``, where those are not the same. ``rows`` says where each label stood
    with the caller, for errors.

    >>> from rankwright.measures import measure
    >>> lists = Lists(np.array([0.0, 1.0, 1.0, 0.0]), np.array([0, 2, 4]))
    >>> lists.ranked(np.array([0.1, 0.2, 0.1, 0.2])).values(measure("ndcg"))
    array([1.        , 0.63092975])
    """

    plain_documents: ClassVar[int] = 0
    """How many documents this process has ranked or valued in plain Python, counted each time."""

    def __init__(
        self,
        labels: Floats,
        offsets: Integers,
        *,
        judged: Floats | None = None,
        judged_offsets: Integers | None = None,
        rows: Integers | None = None,
        n_jobs: int | None = None,
    ):
        self.labels = labels
        self.offsets = offsets
        self.sizes = np.diff(offsets)
        self.judged_offsets = offsets if judged_offsets is None else judged_offsets
        self._rows = rows
        self._n_jobs = n_jobs
        self._levels, self.codes = number_labels(labels)
        self._judged: Floats = labels if judged is None else judged
        self._judged_levels, self._judged_codes = (
            (self._levels, self.codes) if self._judged is labels else number_labels(self._judged)
        )
        self._constants: dict[Measure, Floats] = {}

    def ranked(self, scores: Floats, documents: Sequence[str] | None = None) -> Ranked:
        """The lists in the order of these scores; ``documents`` are ids for the tie rule that needs them."""
        return Ranked(self, scores, documents)

    def constants(self, measure: Measure) -> Floats:
        """The measure's normaliser of each query; 0 says that the query is blank."""
        if measure not in self._constants:
            self.check_labels(measure)
            own, constant = self.forms(query_constants, measure.constant_kernel)
            gains = contiguous(measure.gains(self._judged_levels))
            ranks = self.ranks(measure, measure.cutoff)
            out = np.empty(len(self.sizes))
            self.in_chunks(
                lambda begin, end: own(
                    constant, gains, self._judged_codes, self.judged_offsets, self.offsets, ranks,
                    measure.parameters, begin, end, out,
                )
            )  # fmt: skip
            self._constants[measure] = out
        return self._constants[measure]

    def gains(self, measure: Measure) -> Floats:
        """What each label's number is worth."""
        return contiguous(measure.gains(self._levels))

    def ranks(self, measure: Measure, cutoff: int | None = None) -> Floats:
        """The measure's rank weights, as many as the longest list needs, or down to the cut-off."""
        longest = int(max(self.sizes.max(initial=0), np.diff(self.judged_offsets).max(initial=0)))
        return contiguous(measure.ranks(longest if cutoff is None else min(longest, cutoff)))

    @functools.cached_property
    def is_small(self) -> bool:
        """Whether threads are not worth their while."""
        return len(self.labels) <= SMALL_DOCUMENTS

    def stays_plain(self, *kernels: Kernel) -> bool:
        """Whether kernels are done in their plain form before a compiler is ready."""
        documents = max(len(self.labels), len(self._judged))
        if documents > PLAIN_DOCUMENTS or self.sizes.max(initial=0) > PLAIN_LIST:
            return False
        if all(kernel.is_compiled for kernel in kernels):
            return False
        Lists.plain_documents += documents
        return Lists.plain_documents <= PLAIN_IN_ALL

    def forms(self, *kernels: Kernel) -> list[Callable[..., Any]]:
        """The kernels in the form that suits the data, all in the same."""
        plain = self.stays_plain(*kernels)
        return [kernel.plain if plain else kernel.compiled for kernel in kernels]

    def in_chunks(self, work: Callable[[int, int], Any]) -> None:
        """Call ``work(begin, end)`` over all queries, on threads where that is worth their while."""
        n = len(self.sizes)
        pieces = 1 if self.is_small else thread_count(self._n_jobs)
        inner = np.searchsorted(self.offsets, np.linspace(0, len(self.labels), pieces + 1)[1:-1])
        in_chunks(work, [0, *inner, n], self._n_jobs)

    def check_labels(self, measure: Measure) -> None:
        """Refuse labels that a measure cannot use, by the caller's row."""
        try:
            measure.check_labels(self._levels)
            measure.check_labels(self._judged_levels)
        except InputError:  # now with the caller's row in the message
            measure.check_labels(given_order(self.labels, self._rows))
            measure.check_labels(self._judged)


class Ranked:
    """Lists in the order of their scores, which every measure can read."""

    def __init__(self, lists: Lists, scores: Floats, documents: Sequence[str] | None = None):
        self.lists = lists
        self.scores = scores
        self.documents = documents
        self.order = np.empty(len(scores), np.int64)
        self.tied = np.empty(len(lists.sizes), np.bool_)
        """Which queries have documents with equal scores."""
        if lists.stays_plain(rank_queries):
            self._rank_small()
        else:
            rank = rank_queries.compiled
            lists.in_chunks(lambda begin, end: rank(scores, lists.offsets, begin, end, self.order, self.tied))

    def values(self, measure: Measure, ties: Order | None = None) -> Floats:
        """The measure of each query (NaN: left out of the mean), ties as the measure or ``ties`` has them."""
        constants = self.lists.constants(measure)
        out = self._with_ties(measure, ties or measure.ties)
        unfit = np.flatnonzero(~np.isfinite(out) & (constants != 0.0))
        if len(unfit):
            raise self._unfit(measure, int(unfit[0]), float(out[unfit[0]]))
        if measure.short == "zero" and measure.cutoff is not None:
            out[self.lists.sizes < measure.cutoff] = 0.0
        out[constants == 0.0] = np.nan if measure.blank == "skip" else float(measure.blank)
        return out

    def _unfit(self, measure: Measure, query: int, value: float) -> InputError:
        """What to say of a value that is no finite number, which only a user's measure has."""
        begin, end = self.lists.offsets[query : query + 2]
        ranked = self.lists.labels[self.order[begin:end]].tolist()
        shown = ", ".join(f"{label:g}" for label in ranked[:LABELS_SHOWN])
        return InputError(
            f"query number {query} (from 0): {measure!r} gives {value:g} for the ranked labels [{shown}"
            f"{', …' * (len(ranked) > LABELS_SHOWN)}]; a measure gives a finite number for every list"
        )

    def _with_ties(self, measure: Measure, rule: Order) -> Floats:
        if rule != "average" or measure.additive:
            order = self._by_document if rule == "docid" else self.order
            ranks = self.lists.ranks(measure, measure.cutoff)
            return self._run(query_values, measure.value_kernel, measure, order, ranks, TIE_MODES[rule])
        if measure.midpoint:
            return (self._with_ties(measure, "worst") + self._with_ties(measure, "best")) / 2.0
        if measure.expected_kernel is not None:
            ranks = self.lists.ranks(measure)  # a group of equal scores may reach over the cut-off
            return self._run(query_expected, measure.expected_kernel, measure, self.order, ranks)
        raise InputError(
            f"{measure!r} cannot be averaged over ties: there is no closed form for it; "
            "use ties=input, worst or docid"
        )

    def _run(
        self,
        over_queries: Kernel,
        formula: Kernel,
        measure: Measure,
        order: Integers,
        ranks: Floats,
        *mode: int,
    ) -> Floats:
        lists = self.lists
        run, form = lists.forms(over_queries, formula)
        gains, constants = lists.gains(measure), lists.constants(measure)
        out = np.empty(len(constants))
        lists.in_chunks(
            lambda begin, end: run(
                form, gains, lists.codes, order, self.scores, lists.offsets, constants, ranks, *mode,
                begin, end, out,
            )
        )  # fmt: skip
        return out

    def _rank_small(self) -> None:
        query = np.repeat(np.arange(len(self.lists.sizes)), self.lists.sizes)
        self.order[:] = np.lexsort((-self.scores, query))
        self.tied[:] = False
        self.tied[query[self._ties()]] = True

    def _ties(self) -> Integers:
        """The ranks (counted through all queries) whose document has the score of the one before it."""
        ranked = self.scores[self.order]
        equal = ranked[1:] == ranked[:-1]
        inner = self.lists.offsets[1:-1]
        equal[inner[(inner > 0) & (inner < len(ranked))] - 1] = False
        return np.flatnonzero(equal) + 1

    @functools.cached_property
    def _by_document(self) -> Integers:
        """The order with equal scores by document id, descending by its bytes, as trec_eval has it."""
        later = self._ties()
        if not len(later):
            return self.order
        if self.documents is None:
            raise InputError(
                "ties=docid orders equal scores by document id, and the data has none; "
                "give documents, or choose another tie rule"
            )
        order = self.order.copy()
        for run in np.split(later, np.flatnonzero(np.diff(later) > 1) + 1):
            group = slice(run[0] - 1, run[-1] + 1)
            ids = [self.documents[row].encode("utf-8", "surrogatepass") for row in order[group]]
            order[group] = order[group][sorted(range(len(ids)), key=ids.__getitem__, reverse=True)]
        return order


def number_labels(labels: Floats) -> tuple[Floats, Codes]:
    """The levels there are (unjudged last), and each label's number among them.

    >>> number_labels(np.array([2.0, np.nan, 0.0]))
    (array([ 0.,  1.,  2., nan]), array([2, 3, 0], dtype=int32))
    """
    with np.errstate(invalid="ignore"):
        codes = labels.astype(np.int32)
    whole = codes == labels
    unjudged = None
    if not whole.all():
        unjudged = np.isnan(labels)
        codes[unjudged] = 0
        whole |= unjudged
    highest = int(codes.max(initial=0))
    if not whole.all() or codes.min(initial=0) < 0 or highest >= TABLE:
        levels, numbers = np.unique(labels, return_inverse=True)
        return levels, numbers.astype(np.int32)
    levels = np.arange(highest + 1.0)
    if unjudged is not None:
        codes[unjudged] = highest + 1
        levels = np.append(levels, np.nan)
    return levels, codes


def mean_value(values: Floats, weights: Floats | None = None) -> float:
    """The (weighted) mean of the queries that count, exactly rounded; NaN if none counts.

    >>> mean_value(np.array([1.0, np.nan, 0.5]))
    0.75
    """
    counted = ~np.isnan(values)
    kept = values[counted]
    if weights is None:
        return math.fsum(kept.tolist()) / len(kept) if len(kept) else math.nan
    given = weights[counted]
    total = math.fsum(given.tolist())
    return math.fsum((kept * given).tolist()) / total if total > 0 else math.nan


def given_order(values: Floats, rows: Integers | None) -> Floats:
    """Values by stored row, in the caller's order."""
    if rows is None:
        return values
    given = np.empty_like(values)
    given[rows] = values
    return given


def contiguous(values: Any) -> Floats:
    """A writeable, contiguous float64 array, as kernels take it."""
    return np.require(values, np.float64, ["C", "W"])
