"""What a measure is: an immutable value made of three plain parts.

1. **Gains.** What each label is worth, as a float64 (``gains``): 2^label − 1, 1 where relevant, …
2. **Ranks.** What each rank is worth (``ranks``): 1/log2(rank + 1) and 0 behind the cut-off, 1/rank, …
3. **A formula** that joins them, as kernels without parameters, so that one compiled kernel serves all
   measures through function pointers:

   ``constant(n, judged, ranks, parameters)``  once a query: its normaliser; 0 says that the query is blank
   ``value(gains, constant, ranks)``           the measure of the gains in ranked order
   ``prepare(n, gains, constant, tables)``     after each sort: fills rows of scratch; ``tables[0]`` is ranks
   ``row(i, n, gains, tables, out)``           ``out[j]`` for j > i: the measure after swapping ranks i and j,
                                               minus before; called for i = 0, 1, 2, … in order

Ranks count from zero inside kernels. "Unjudged" is the label NaN. Tables are at least one column wider than
the list is long, so that a kernel may write one entry behind the last rank.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
import operator
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwright.runtime.arrays import as_array, as_numbers
from rankwright.runtime.errors import InputError
from rankwright.runtime.kernels import Kernel

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Blank = Literal["skip", 0, 1]
Ties = Literal["input", "docid", "average", "worst"]

CONSTANT = "float64(int64, float64[::1], float64[::1], float64[::1])"
VALUE = "float64(float64[::1], float64, float64[::1])"
EXPECTED = "float64(float64[::1], int64[::1], float64, float64[::1])"
PREPARE = "void(uint64, float64[::1], float64, float64[:, ::1])"
ROW = "void(uint64, uint64, float64[::1], float64[:, ::1], float32[::1])"

NO_PARAMETERS: Floats = np.zeros(1)
ONE = np.uint64(1)
"""For index arithmetic in kernels: an unsigned index plus a plain 1 would be a float."""
HIGHEST_GAIN = 2.0**1000
"""The highest gain: a sum of millions of them is a finite float64."""
SMALL = 500
"""Documents up to which plain Python is quicker than waiting for a compiler."""
M = TypeVar("M", bound="Measure")


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class Measure:
    """How good an ordering is. Made by ``rankwright.measure("ndcg@10")`` or by its class.

    ``blank``: what a query without anything to find counts: "skip" leaves it out of the mean, 0 or 1 is its
    value. ``ties``: how documents with equal scores stand ("input": in the order given; "docid": by id,
    descending, as trec_eval has it; "average": the expected value; "worst"). ``short``: "zero" makes a query
    with fewer than k documents count 0.
    """

    blank: Blank = "skip"
    ties: Ties = "input"
    short: Literal["as-is", "zero"] = "as-is"
    convention: str | None = dataclasses.field(default=None, compare=False)

    names: ClassVar[dict[str, dict[str, Any]]] = {}
    """The names this class is known by in the syntax, and the parameters each name stands for."""
    additive: ClassVar[bool] = False
    """Whether the value is a sum over ranks of gain × rank weight: then ties average by averaging gains."""
    midpoint: ClassVar[bool] = False
    """Whether the mean over the orders of tied documents lies midway between their worst and best order."""
    graded: ClassVar[bool] = False
    """Whether more than "relevant or not" enters."""
    scratch: ClassVar[int] = 0
    """How many rows of scratch ``prepare`` fills behind ``tables[0]``."""

    constant_kernel: ClassVar[Kernel]
    value_kernel: ClassVar[Kernel]
    expected_kernel: ClassVar[Kernel | None] = None
    """The mean over the orders of tied documents, where neither of the two above gives it:
    ``expected(gains, ends, constant, ranks)``, where ``ends[r]`` is the rank behind the group of rank r."""
    prepare_kernel: ClassVar[Kernel | None] = None
    row_kernel: ClassVar[Kernel | None] = None

    def __post_init__(self) -> None:
        if self.blank not in ("skip", 0, 1) or isinstance(self.blank, bool):
            raise InputError(f"blank={self.blank!r} is not known; blank is skip, 0 or 1")
        if self.ties not in ("input", "docid", "average", "worst"):
            raise InputError(f"ties={self.ties!r} is not known; ties is input, docid, average or worst")
        if self.short not in ("as-is", "zero"):
            raise InputError(f"short={self.short!r} is not known; short is as-is or zero")
        k = self.cutoff
        if k is not None:
            if not isinstance(k, numbers.Integral) or isinstance(k, bool) or k < 1:
                raise InputError(f"the cut-off k is {k!r}; it is a whole number of at least 1")
            object.__setattr__(self, "k", int(k))
        threshold = getattr(self, "threshold", 1)
        if not is_number(threshold) or threshold <= 0:
            raise InputError(
                f"threshold={threshold!r} is not known; it is the lowest relevant label, above 0"
            )

    @property
    def cutoff(self) -> int | None:
        """The k of ``@k``; None for the whole list."""
        return getattr(self, "k", None)

    @property
    def has_swap_gains(self) -> bool:
        """Whether learners that need the gain of a swap (LambdaRank, LambdaMART) can train for it."""
        return self.row_kernel is not None

    def gains(self, labels: Floats) -> Floats:
        """What each label is worth to this measure; unjudged labels (NaN) are worth nothing."""
        raise NotImplementedError

    def ranks(self, n: int) -> Floats:
        """What each of the first n ranks is worth."""
        raise NotImplementedError

    @property
    def parameters(self) -> Floats:
        """Numbers that ``constant`` needs beyond gains and ranks."""
        return NO_PARAMETERS

    def value(self, labels: ArrayLike, judged: ArrayLike | None = None) -> float:
        """The measure of one query.

        ``labels`` are in ranked order; ``judged`` are all judged labels of the query, where they are others.

        >>> from rankwright.measures import measure
        >>> round(measure("ndcg@10").value([0, 2, 1]), 4)
        0.659
        """
        ranked = as_labels(labels)
        known = ranked if judged is None else as_labels(judged)
        for each in (ranked, known):
            self.check_labels(each)
        n, longest = len(ranked), max(len(ranked), len(known))
        form = operator.attrgetter("plain" if longest <= SMALL else "compiled")
        constant = form(self.constant_kernel)(n, self.gains(known), self.ranks(longest), self.parameters)
        if constant == 0.0:
            return float("nan") if self.blank == "skip" else float(self.blank)
        if self.short == "zero" and self.cutoff is not None and n < self.cutoff:
            return 0.0
        return float(form(self.value_kernel)(self.gains(ranked), constant, self.ranks(n)))

    def swap_gains(self, labels: ArrayLike) -> NDArray[np.float32]:
        """The matrix of gains: the measure after swapping ranks i and j (j > i), minus before.

        >>> from rankwright.measures import measure
        >>> measure("mrr").swap_gains([0, 1])
        array([[0. , 0.5],
               [0. , 0. ]], dtype=float32)
        """
        if self.prepare_kernel is None or self.row_kernel is None:
            raise InputError(f"{self!r} has no swap gains")
        given = as_labels(labels)
        self.check_labels(given)
        ranked = self.gains(given)
        n = len(ranked)
        form = operator.attrgetter("plain" if n * n <= SMALL else "compiled")
        prepare, row = form(self.prepare_kernel), form(self.row_kernel)
        tables = self.tables(n)
        constant = form(self.constant_kernel)(n, ranked, self.ranks(n), self.parameters)
        out = np.zeros((n, n), np.float32)
        counts = self.short != "zero" or self.cutoff is None or n >= self.cutoff
        if constant != 0.0 and counts:
            prepare(n, ranked, constant, tables)
            line = np.zeros(n, np.float32)
            for i in range(n):
                row(i, n, ranked, tables, line)
                out[i, i + 1 :] = line[i + 1 :]
        return out

    def tables(self, n: int) -> Floats:
        """The tables for queries of up to n documents: the rank weights, then empty rows of scratch."""
        tables = np.zeros((1 + self.scratch, n + 1))
        tables[0, :n] = self.ranks(n)
        return tables

    def check_labels(self, labels: Floats) -> None:
        """Refuse labels that this measure cannot use, naming the first row at fault."""
        bad = np.flatnonzero((labels < 0) | np.isinf(labels))
        if len(bad):
            row = int(bad[0])
            raise InputError(
                f"row {row}: label {labels[row]:g} cannot be used by {self!r}; "
                "labels are finite and not negative (NaN stands for unjudged)"
            )

    def replace(self: M, **changes: Any) -> M:
        """The same measure with some parameters changed.

        >>> from rankwright.measures import measure
        >>> measure("ndcg@10").replace(k=5)
        ndcg@5
        """
        return dataclasses.replace(self, **{"convention": None, **changes})

    def __repr__(self) -> str:
        from rankwright.measures.syntax import spell

        return spell(self)

    __str__ = __repr__


def as_labels(labels: ArrayLike) -> Floats:
    """Labels as a contiguous float64 array of one dimension."""
    array = np.ascontiguousarray(as_numbers(as_array(labels, "labels"), "labels"), dtype=np.float64)
    if array.ndim != 1:
        raise InputError(f"labels have {array.ndim} dimensions; give one list of labels")
    return array


def cut(weights: Floats, k: int | None) -> Floats:
    """Rank weights with those behind the cut-off set to 0."""
    if k is not None:
        weights[k:] = 0.0
    return weights


def reciprocal_ranks(n: int, k: int | None = None) -> Floats:
    """1, 1/2, 1/3, … and 0 behind the cut-off."""
    return cut(1.0 / np.arange(1.0, n + 1.0), k)


def relevant(labels: Floats, threshold: float) -> Floats:
    """1 where the label reaches the threshold, else 0 (unjudged too)."""
    return (labels >= threshold).astype(np.float64)


def judged_relevant(labels: Floats, threshold: float) -> Floats:
    """1 where the label reaches the threshold, 0 where it does not, −1 where there is none."""
    return np.where(np.isnan(labels), -1.0, relevant(labels, threshold))


def is_number(value: object) -> bool:
    """Whether a parameter is a finite number (and not a truth value)."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)


def number_table(values: object, what: str, names: Sequence[str]) -> tuple[float, ...]:
    """A table given by the user, as a tuple of floats that are not negative and whose sums are finite."""
    if not isinstance(values, Sequence) or isinstance(values, str) or not values:
        raise InputError(
            f"{what}={values!r} is not known; it is {', '.join(names)} or a table, as in 1/0.5/0.25"
        )
    if not all(is_number(value) and 0 <= value <= HIGHEST_GAIN for value in values):
        raise InputError(f"{what} is {values!r}; it takes numbers that are neither negative nor above 1e301")
    return tuple(float(value) for value in values)
