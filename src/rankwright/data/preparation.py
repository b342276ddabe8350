"""The papers' preparations: each takes a query set and gives another.

x is a feature of a document, min, max, mean and σ are over the documents of its query; missing values stay
missing and count in none of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from rankwright.data.queries import QuerySet, keep_documents
from rankwright.runtime.arrays import BLOCK, Floats, Integers
from rankwright.runtime.errors import InputError

PAIRS_AT_ONCE = 1 << 22


def count_features(queries: QuerySet) -> tuple[int, ...]:
    """The features that look like counts: whole numbers, none negative, some of them above 1.

    >>> count_features(QuerySet([[3, 0.5, -1], [0, 2.0, 4]], qid=1))
    (0,)
    """
    highest = np.full(queries.n_features, -np.inf, np.float32)
    counts = np.ones(queries.n_features, bool)
    for begin in range(0, len(queries), BLOCK):
        block = queries.features[begin : begin + BLOCK]
        highest = np.fmax(highest, np.fmax.reduce(block))
        counts &= (((block >= 0) & (block == np.floor(block))) | np.isnan(block)).all(axis=0)
    return tuple(np.flatnonzero(counts & (highest > 1)).tolist())


def log_counts(queries: QuerySet, features: Sequence[int] | None = None) -> QuerySet:
    """Counts replaced by their logs (2005, section 6.1): x becomes log(1 + x).

    ``features`` are numbers of features; by default those that ``count_features`` finds. Give the same ones
    for training and test data, which may look different.

    >>> log_counts(QuerySet([[0], [3]], qid=1), [0]).features.ravel().tolist()
    [0.0, 1.3862943649291992]
    """
    chosen = np.array(count_features(queries) if features is None else features, np.int64)
    outside = chosen[(chosen < 0) | (chosen >= queries.n_features)]
    if len(outside):
        raise InputError(
            f"there is no feature {outside[0]}; their numbers go from 0 to {queries.n_features - 1}"
        )
    negative = np.argwhere(queries.features[:, chosen] < 0)
    if len(negative):
        row, column = negative[0]
        given = row if queries.rows is None else queries.rows[row]
        value = queries.features[row, chosen[column]]
        raise InputError(
            f"row {given}, feature {chosen[column]}: {value:g} is no count; leave the feature out"
        )
    changed = queries.features.copy()
    changed[:, chosen] = np.log1p(changed[:, chosen].astype(np.float64))
    return queries._with(features=changed)


def scale_within_queries(queries: QuerySet) -> QuerySet:
    """Each feature scaled to [0, 1] within each query (2008, section 4.1): (x − min) / (max − min).

    A feature that is constant within a query becomes 0 there.

    >>> scale_within_queries(QuerySet([[2], [6], [3], [9]], qid=[1, 1, 1, 2])).features.ravel().tolist()
    [0.0, 1.0, 0.25, 0.0]
    """

    def scale(block: Floats, starts: Integers, query_of: Integers) -> Floats:
        lowest, highest = np.fmin.reduceat(block, starts), np.fmax.reduceat(block, starts)
        return _divided(block - lowest[query_of], (highest - lowest)[query_of])

    return _by_queries(queries, scale)


def standardise_within_queries(queries: QuerySet) -> QuerySet:
    """Each feature brought to mean 0 and variance 1 within each query: (x − mean) / σ.

    A feature that is constant within a query becomes 0 there. σ divides by the number of values.

    >>> standardise_within_queries(QuerySet([[2], [6]], qid=1)).features.ravel().tolist()
    [-1.0, 1.0]
    """

    def standardise(block: Floats, starts: Integers, query_of: Integers) -> Floats:
        constant = np.fmin.reduceat(block, starts) == np.fmax.reduceat(block, starts)
        known = ~np.isnan(block)
        counts = np.maximum(np.add.reduceat(known, starts, dtype=np.int64), 1)
        centred = block - (np.add.reduceat(np.where(known, block, 0.0), starts) / counts)[query_of]
        squares = np.add.reduceat(np.where(known, centred, 0.0) ** 2, starts)
        # Rounding leaves the mean of equal values a little off: what is constant is known better.
        return _divided(centred, np.where(constant, 0.0, np.sqrt(squares / counts))[query_of])

    return _by_queries(queries, standardise)


def drop_zero_documents(queries: QuerySet) -> QuerySet:
    """Documents whose features are all 0 left out (2008, section 4.1).

    >>> len(drop_zero_documents(QuerySet([[0, 0], [0, 1]], qid=1)))
    1
    """
    kept = np.empty(len(queries), bool)
    for begin in range(0, len(queries), BLOCK):
        kept[begin : begin + BLOCK] = (queries.features[begin : begin + BLOCK] != 0).any(axis=1)
    return keep_documents(queries, kept)


def drop_contradictions(
    queries: QuerySet, cosine: float = 0.99, relevant: float = 1, keep_good: bool = False
) -> QuerySet:
    """Good and bad documents of one query that look alike left out, both of them (2008, section 4.1).

    A good document (label of at least ``relevant``) and a bad one look alike where the cosine of the angle
    between their features is above ``cosine``. Missing features count as 0; unjudged documents are neither.
    With ``keep_good`` only the bad ones go: the paper does not say whether both do.

    >>> queries = QuerySet([[1, 0], [2, 0], [0, 1]], [1, 0, 0], qid=1)
    >>> drop_contradictions(queries).features.tolist()
    [[0.0, 1.0]]
    """
    labels = _labels(queries)
    kept = np.ones(len(queries), bool)
    for rows in queries.slices():
        of_query = labels[rows]
        good, bad = np.flatnonzero(of_query >= relevant), np.flatnonzero(of_query < relevant)
        if not (len(good) and len(bad)):
            continue
        directions = _directions(queries.features[rows])
        step = max(1, PAIRS_AT_ONCE // len(bad))
        for begin in range(0, len(good), step):
            some = good[begin : begin + step]
            alike = directions[some] @ directions[bad].T > cosine
            if not keep_good:
                kept[rows.start + some[alike.any(axis=1)]] = False
            kept[rows.start + bad[alike.any(axis=0)]] = False
    return keep_documents(queries, kept)


def prepare_2008(queries: QuerySet) -> QuerySet:
    """The data of 2008, section 4.1: scaled within queries, then without zeros, then without contradictions.

    >>> prepare_2008(QuerySet([[1, 3], [2, 1], [1, 1]], [1, 0, 0], qid=1)).features.tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    return drop_contradictions(drop_zero_documents(scale_within_queries(queries)))


def sample_unlabelled(
    queries: QuerySet, share: float = 0.02, label: float = 0, random_state: int | None = 0
) -> QuerySet:
    """A share of the unlabelled documents as examples of low relevance (2005, section 6.1).

    The share is of all unlabelled documents (label NaN), each as likely as another. They get ``label``; the
    other unlabelled documents are left out.

    >>> queries = QuerySet([[0]] * 101, [1] + [float("nan")] * 100, qid=1)
    >>> sample_unlabelled(queries, share=0.02).labels
    array([1., 0., 0.])
    """
    if not 0 <= share <= 1:
        raise InputError(f"share is {share!r}; it is a fraction between 0 and 1")
    labels = _labels(queries)
    unlabelled = np.flatnonzero(np.isnan(labels))
    drawn = np.random.default_rng(random_state).choice(
        unlabelled, size=round(share * len(unlabelled)), replace=False
    )
    changed = labels.copy()
    changed[drawn] = label
    return keep_documents(queries._with(labels=changed), ~np.isnan(changed))


def binarise(queries: QuerySet, threshold: float = 1) -> QuerySet:
    """Labels of at least ``threshold`` become 1, those below it 0; unjudged documents stay unjudged.

    >>> binarise(QuerySet([[0]] * 3, [0, 1, 2], qid=1), threshold=2).labels
    array([0., 0., 1.])
    """
    if not np.isfinite(threshold):
        raise InputError(f"threshold is {threshold!r}; it is the lowest label that becomes 1")
    labels = _labels(queries)
    return queries._with(labels=np.where(np.isnan(labels), np.nan, labels >= threshold))


def _labels(queries: QuerySet) -> Floats:
    if queries.labels is None:
        raise InputError("the data has no labels; give one a row")
    return queries.labels


def _by_queries(queries: QuerySet, change: Callable[[Floats, Integers, Integers], Floats]) -> QuerySet:
    """Features changed a block of whole queries at a time, computed in float64."""
    changed = np.empty_like(queries.features)
    for first, last in _blocks(queries.offsets):
        offsets = queries.offsets[first : last + 1]
        rows = slice(int(offsets[0]), int(offsets[-1]))
        query_of = np.repeat(np.arange(last - first), np.diff(offsets))
        changed[rows] = change(queries.features[rows].astype(np.float64), offsets[:-1] - offsets[0], query_of)
    return queries._with(features=changed)


def _blocks(offsets: Integers) -> Iterator[tuple[int, int]]:
    """Neighbouring queries of about BLOCK rows together; a longer query is a block of its own."""
    n = len(offsets) - 1
    first = 0
    while first < n:
        last = int(np.searchsorted(offsets, offsets[first] + BLOCK, side="right")) - 1
        last = max(first + 1, min(last, n))
        yield first, last
        first = last


def _divided(values: Floats, by: Floats) -> Floats:
    """The quotient, and 0 where the divisor is 0; what is missing stays so."""
    quotient = np.where(np.isnan(values), np.nan, 0.0)
    return np.divide(values, by, out=quotient, where=by > 0)


def _directions(features: NDArray[np.float32]) -> Floats:
    """Rows at length 1; a row of zeros, which points nowhere, stays one."""
    vectors = np.nan_to_num(features.astype(np.float64), nan=0.0)
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return vectors / np.where(lengths > 0, lengths, 1.0)[:, None]
