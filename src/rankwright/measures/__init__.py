"""Measures: how good an ordering is. One file a measure; ``measure("ndcg@10")`` makes one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, overload

from rankwright.measures.auc import AUC
from rankwright.measures.average_precision import AveragePrecision
from rankwright.measures.base import Blank, Measure
from rankwright.measures.bpref import Bpref
from rankwright.measures.custom import own_measure
from rankwright.measures.err import ERR
from rankwright.measures.ndcg import NDCG
from rankwright.measures.pairs import Pairs
from rankwright.measures.precision import Precision
from rankwright.measures.rbp import RBP
from rankwright.measures.recall import Recall
from rankwright.measures.reciprocal_rank import ReciprocalRank
from rankwright.measures.syntax import parse
from rankwright.measures.wta import WTA
from rankwright.runtime.errors import InputError

BUILT_IN: tuple[type[Measure], ...] = (
    NDCG,
    AveragePrecision,
    ReciprocalRank,
    ERR,
    Precision,
    Recall,
    WTA,
    Pairs,
    AUC,
    Bpref,
    RBP,
)


@overload
def measure(source: str | Measure) -> Measure: ...
@overload
def measure(
    source: Callable[..., Any],
    *,
    name: str | None = ...,
    blank: Blank = ...,
    prepare: Callable[..., Any] | None = ...,
    row: Callable[..., Any] | None = ...,
    tables: int = ...,
) -> Measure: ...
@overload
def measure(
    *,
    name: str | None = ...,
    blank: Blank = ...,
    prepare: Callable[..., Any] | None = ...,
    row: Callable[..., Any] | None = ...,
    tables: int = ...,
) -> Callable[[Callable[..., Any]], Measure]: ...


def measure(source: Any = None, **about: Any) -> Any:
    """A measure from its syntax, or from a function of your own.

    >>> measure("ndcg@10(gain=linear)")
    ndcg@10(gain=linear)

    A function of the labels in ranked order (a float64 array; unjudged documents are NaN) is a measure, known
    by its name from then on:

    >>> @measure
    ... def first_two(labels):
    ...     return float((labels[:2] > 0).any())
    >>> measure("first_two").value([0, 1, 0])
    1.0

    In the decorator's brackets there may be ``name``, ``blank``, and for speed in training a ``row`` of swap
    gains: ``row(i, n, labels, tables, out)`` writes to ``out[j]``, for each j > i, the measure after swapping
    ranks i and j (counted from 0), minus before. Rows are asked for i = 0, 1, 2, … in order.
    ``prepare(n, labels, constant, tables)`` is called before them and may fill ``tables[1]``, ``tables[2]``
    and so on, as many rows of scratch as ``tables`` says; ``tables[0]`` holds the ranks 1, 2, 3, …

    >>> def top_row(i, n, labels, tables, out):
    ...     for j in range(i + 1, n):
    ...         out[j] = labels[j] - labels[i] if i == 0 else 0.0
    >>> @measure(row=top_row)
    ... def top_label(labels):
    ...     return labels[0]
    >>> top_label.swap_gains([0, 2])
    array([[0., 2.],
           [0., 0.]], dtype=float32)
    """
    if isinstance(source, str | Measure):
        if about:
            raise InputError(f"{source!r} is a measure already; write its parameters as in ndcg@10(blank=0)")
        return parse(source) if isinstance(source, str) else source
    if source is None:
        return functools.partial(own_measure, **about)
    return own_measure(source, **about)
