"""The papers' artificial data (2005, section 5.1; 2006, section 6.3.1), and data of a web search's shape.

The same seed gives the same bits on every machine and with every NumPy: random numbers are made from the raw
stream of PCG64, whose output NumPy does not change, and everything after uses only the operations that IEEE
754 rounds in one way (+, −, ·, /, √, comparisons), one at a time and in a fixed order. So there is no matrix
product here, no sum by NumPy and no function of the C library; ``_exp`` stands in for e^x.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from rankwright.data.queries import QuerySet
from rankwright.runtime.arrays import Floats, Integers, Singles
from rankwright.runtime.errors import InputError

WEB_LEVELS = (0.5639, 0.29, 0.1244, 0.0153, 0.0064)
"""The shares of the labels 0 to 4 in 10,000 documents of MSLR-WEB10K."""

HIDDEN = 10
ROWS_AT_ONCE = 16384

COUNTS, SPARSE, CONTINUOUS, SMALL = range(4)
KINDS = np.repeat([COUNTS, SPARSE, CONTINUOUS, SMALL], [45, 30, 41, 20])
LATENT = 10
OF_QUERY = 0.5  # the standard deviation, beside 1, of the part of a latent property that its query shares

Levels = int | Sequence[float]


def random_net(
    n_queries: int = 1000,
    documents: int = 50,
    features: int = 50,
    levels: Levels = 6,
    random_state: int = 0,
) -> QuerySet:
    """Documents labelled by a random two-layer net (2005, section 5.1).

    Features are uniform in [−1, 1]. The net has ten hidden units (tanh); its weights and the hidden units'
    thresholds are uniform in [−1, 1] too. Its outputs over all the data are cut into ``levels`` labels: as
    many bins of equal count, or bins of the given shares. Split the queries to get training and test data.

    >>> random_net(n_queries=2, features=300)
    QuerySet(2 queries, 100 documents, 300 features)
    """
    X, stream = _uniform_features(n_queries, documents, features, random_state)
    first = stream.uniform(HIDDEN * features).reshape(HIDDEN, features)
    thresholds, second = stream.uniform(HIDDEN), stream.uniform(HIDDEN)

    def net(x: Floats) -> Floats:
        output = np.zeros(x.shape[1])
        for unit in range(HIDDEN):
            output += second[unit] * _tanh(_dot(first[unit], x) + thresholds[unit])
        return output

    return _labelled(X, documents, _over_rows(net, X), levels)


def random_polynomial(
    n_queries: int = 1000,
    documents: int = 50,
    features: int = 50,
    levels: Levels = 6,
    random_state: int = 0,
) -> QuerySet:
    """Documents labelled by a random cubic polynomial (2005, section 5.1).

    Features are uniform in [−1, 1]. The target is the mean of three terms, each scaled to mean 0 and
    variance 1 over the data, for random permutations P, Q and R of the features:

        Σ wᵢ xᵢ  (w uniform in [−1, 1])      Σ xᵢ x_P(i)      Σ xᵢ x_Q(i) x_R(i)

    ``levels`` are as for ``random_net``. 2006 (section 6.3.1) takes five levels with the shares of real data:

    >>> random_polynomial(n_queries=20, levels=WEB_LEVELS).describe().labels
    {0.0: 564, 1.0: 290, 2.0: 124, 3.0: 16, 4.0: 6}
    """
    X, stream = _uniform_features(n_queries, documents, features, random_state)
    weights = stream.uniform(features)
    p, q, r = stream.permutation(features), stream.permutation(features), stream.permutation(features)
    terms: list[Callable[[Floats], Floats]] = [
        lambda x: _dot(weights, x),
        lambda x: _added(x[i] * x[p[i]] for i in range(features)),
        lambda x: _added(x[i] * x[q[i]] * x[r[i]] for i in range(features)),
    ]
    scaled = [_standardised(_over_rows(term, X)) for term in terms]
    return _labelled(X, documents, (scaled[0] + scaled[1] + scaled[2]) / 3.0, levels)


def web_search(n_queries: int = 1000, random_state: int = 0) -> QuerySet:
    """Data of the shape of MSLR-WEB10K: 136 features, about 120 documents a query, labels 0 to 4.

    Of the features 45 are heavy-tailed counts, 30 mostly 0, 41 continuous and 20 small whole numbers. They
    show, each with its own noise, ten hidden properties of a document, on which its relevance depends by
    sums, products and thresholds, with noise by document and by query.

    >>> web_search(n_queries=20).n_features
    136
    """
    _check_whole(n_queries=n_queries)
    _check_seed(random_state)
    world = _Stream(random_state, 0)
    of_queries = _Stream(random_state, 1)
    sizes = 1 + np.floor(30.0 * _added(of_queries.normal(n_queries) ** 2 for _ in range(4))).astype(np.int64)
    query_of = np.repeat(np.arange(n_queries), sizes)
    latent = [_latent(_Stream(random_state, 2 + k), n_queries, query_of) for k in range(LATENT)]
    relevance = _relevance(latent, world)
    X = np.empty((len(query_of), len(KINDS)), np.float32)
    kinds = KINDS[world.permutation(len(KINDS))]
    for column, kind in enumerate(kinds):
        stream = _Stream(random_state, 1000 + column)
        shown = _shown(latent, n_queries, query_of, world, stream)
        X[:, column] = _feature(int(kind), shown, world)
        relevance += 0.02 * shown
    noise = _Stream(random_state, 2000)
    relevance += 2.5 * noise.normal(n_queries)[query_of] + 2.4 * noise.normal(len(query_of))
    return QuerySet(X, _binned(relevance, WEB_LEVELS), qid=query_of)


def topic_distillation(
    n_queries: int = 75,
    documents: int = 74_170,
    good: int = 444,
    features: int = 44,
    random_state: int = 0,
) -> QuerySet:
    """Data of the shape of LETOR's TD2004: very few good documents among very many, labels 0 and 1.

    ``documents`` and ``good`` are of all queries together, spread over them evenly. Features are in [0, 1],
    many of them 0; each shows, with noise, one hidden property, and the good documents are those that have
    most of it, with noise too. TD2003's shape is 50 queries, 49,171 documents, 516 of them good.

    >>> queries = topic_distillation(n_queries=3, documents=200, good=10, features=4)
    >>> queries, queries.labels.sum()
    (QuerySet(3 queries, 200 documents, 4 features), np.float64(10.0))
    """
    _check_whole(n_queries=n_queries, documents=documents, good=good, features=features)
    _check_seed(random_state)
    if documents < n_queries or good > documents:
        raise InputError(
            f"{documents} documents, {good} of them good, cannot be spread over {n_queries} queries; "
            "give more documents"
        )
    world = _Stream(random_state, 0)
    query_of = np.arange(documents) * n_queries // documents
    hidden, noise = world.normal(documents), world.normal(documents)
    X = np.empty((documents, features), np.float32)
    for column in range(features):
        shown = 0.4 * hidden + _Stream(random_state, 1000 + column).normal(documents)
        X[:, column] = np.minimum(np.maximum(shown - 0.5, 0.0) / 5.0, 1.0)
    relevance, labels = hidden + 0.5 * noise, np.zeros(documents)
    wanted = np.bincount(np.arange(good) * n_queries // good, minlength=n_queries)
    ends = np.searchsorted(query_of, np.arange(n_queries + 1))
    for query in range(n_queries):
        begin, end = int(ends[query]), int(ends[query + 1])
        best = np.argsort(-relevance[begin:end], kind="stable")[: wanted[query]]
        labels[begin + best] = 1.0
    return QuerySet(X, labels, qid=query_of)


class _Stream:
    """Random numbers that are the same everywhere, from the bits of PCG64."""

    def __init__(self, seed: int, number: int = 0):
        self._bits = np.random.PCG64([seed, number])

    def raw(self, n: int) -> NDArray[np.uint64]:
        """Whole numbers of 64 random bits."""
        return np.asarray(self._bits.random_raw(n), np.uint64)

    def uniform(self, n: int) -> Floats:
        """Uniform in [−1, 1)."""
        return (self.raw(n) >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1.0

    def normal(self, n: int) -> Floats:
        """Nearly normal, mean 0 and variance 1: the sum of four whole numbers of 16 bits."""
        bits = self.raw(n)
        low = np.uint64(0xFFFF)
        total = (
            (bits & low)
            + (bits >> np.uint64(16) & low)
            + (bits >> np.uint64(32) & low)
            + (bits >> np.uint64(48))
        )
        return (total.astype(np.float64) - 131070.0) * (1.0 / math.sqrt((2.0**32 - 1.0) / 3.0))

    def permutation(self, n: int) -> Integers:
        """The numbers 0 to n − 1 in random order."""
        return np.argsort(self.raw(n), kind="stable").astype(np.int64)


def _uniform_features(
    n_queries: int, documents: int, features: int, random_state: int
) -> tuple[Singles, _Stream]:
    _check_whole(n_queries=n_queries, documents=documents, features=features)
    _check_seed(random_state)
    stream = _Stream(random_state, 1)
    X = np.empty((n_queries * documents, features), np.float32)
    for begin in range(0, len(X), ROWS_AT_ONCE):
        block = X[begin : begin + ROWS_AT_ONCE]
        block[:] = stream.uniform(block.size).reshape(block.shape)
    return X, _Stream(random_state, 0)


def _check_whole(**numbers: int) -> None:
    for name, number in numbers.items():
        if not isinstance(number, int | np.integer) or number < 1:
            raise InputError(f"{name} is {number!r}; it is a whole number of at least 1")


def _check_seed(random_state: int) -> None:
    if not isinstance(random_state, int | np.integer) or random_state < 0:
        raise InputError(f"random_state is {random_state!r}; it is a whole number, not negative")


def _over_rows(target: Callable[[Floats], Floats], X: Singles) -> Floats:
    """A function of the features, which it takes as float64 by column, for all rows."""
    out = np.empty(len(X))
    for begin in range(0, len(X), ROWS_AT_ONCE):
        block = X[begin : begin + ROWS_AT_ONCE]
        out[begin : begin + len(block)] = target(np.ascontiguousarray(block.T, dtype=np.float64))
    return out


def _labelled(X: Singles, documents: int, values: Floats, levels: Levels) -> QuerySet:
    return QuerySet(X, _binned(values, levels), qid=np.arange(len(X)) // documents)


def _binned(values: Floats, levels: Levels) -> Floats:
    """Labels 0, 1, … by rank among all values: bins of equal count (to within one) or of given shares."""
    n = len(values)
    if isinstance(levels, int | np.integer):
        _check_whole(levels=levels)
        ends = np.arange(1, levels) * n // levels
    else:
        shares = [float(share) for share in levels]
        if not shares or not all(math.isfinite(share) and share >= 0 for share in shares) or sum(shares) <= 0:
            raise InputError(
                f"levels are {levels!r}; give their number, or a share of the documents for each"
            )
        whole = math.fsum(shares)
        ends = np.array(
            [round(n * (math.fsum(shares[: level + 1]) / whole)) for level in range(len(shares) - 1)]
        )
    labels = np.empty(n)
    labels[np.argsort(values, kind="stable")] = np.searchsorted(ends, np.arange(n), side="right")
    return labels


def _added(terms: Iterator[Floats]) -> Floats:
    """The sum of some arrays in their order."""
    total = next(terms).copy()
    for term in terms:
        total += term
    return total


def _dot(weights: Floats, x: Floats) -> Floats:
    return _added(weight * column for weight, column in zip(weights, x, strict=True))


def _standardised(values: Floats) -> Floats:
    """Mean 0 and variance 1, from sums that are exact before they are rounded."""
    n = len(values)
    centred = values - math.fsum(values.tolist()) / n
    variance = math.fsum((centred * centred).tolist()) / n
    return centred / math.sqrt(variance) if variance > 0 else centred


def _exp(x: Floats) -> Floats:
    """e^x for |x| up to about 40, to 10⁻⁵ of itself: the series of e^(x/64), squared six times."""
    small = x * (1.0 / 64.0)
    total = np.ones_like(x)
    for n in range(8, 0, -1):
        total *= small
        total *= 1.0 / n
        total += 1.0
    for _ in range(6):
        total *= total
    return total


def _tanh(x: Floats) -> Floats:
    return 1.0 - 2.0 / (_exp(2.0 * np.clip(x, -20.0, 20.0)) + 1.0)


def _latent(stream: _Stream, n_queries: int, query_of: Integers) -> Floats:
    """A hidden property of documents, in part shared by those of one query."""
    return OF_QUERY * stream.normal(n_queries)[query_of] + stream.normal(len(query_of))


def _relevance(latent: list[Floats], world: _Stream) -> Floats:
    """What depends on the hidden properties: linear, by products of pairs, and beyond a threshold."""
    weights = world.normal(LATENT)
    weights /= math.sqrt(math.fsum((weights * weights).tolist()))
    total = _dot(weights, np.array(latent))
    signs = np.where(world.uniform(LATENT) < 0.0, -0.25, 0.25)
    total += _added(signs[k] * latent[k] * latent[k - 1] for k in range(LATENT))
    return total + np.maximum(latent[2], 0.0) * latent[3] + np.where(latent[4] > 0.5, latent[5], 0.0)


def _shown(
    latent: list[Floats], n_queries: int, query_of: Integers, world: _Stream, stream: _Stream
) -> Floats:
    """What a feature shows: about three hidden properties with noise, of variance 1."""
    weights = world.normal(LATENT) * (world.uniform(LATENT) < -0.4)
    of_document, of_query = 0.95 + 0.55 * world.uniform(1)[0], 0.5 + 0.5 * world.uniform(1)[0]
    variance = of_document * of_document + of_query * of_query
    total = of_document * stream.normal(len(query_of)) + of_query * stream.normal(n_queries)[query_of]
    for weight, values in zip(weights.tolist(), latent, strict=True):
        if weight:
            total += weight * values
            variance += weight * weight * (1.0 + OF_QUERY * OF_QUERY)
    return total / math.sqrt(variance)


def _feature(kind: int, shown: Floats, world: _Stream) -> Floats:
    """What is shown, as a feature of one of four kinds."""
    first, second = world.uniform(2).tolist()
    scale = _exp(np.array([2.3 + 4.6 * first]))[0]  # 0.1 to 1000
    if kind == COUNTS:
        return np.floor(_exp(1.4 * shown + 1.5 * (1.0 + second)))
    if kind == SPARSE:
        beyond = shown - (0.9 + 0.8 * second)  # 54 to 96 % of the values are 0
        values = np.where(beyond > 0.0, scale * _exp(beyond), 0.0)
        return np.ceil(values) if first > 0.0 else values
    if kind == CONTINUOUS:
        return 1.0 / (1.0 + _exp(-2.0 * shown)) if second > 0.3 else scale * shown
    highest = math.floor(16.0 + 13.0 * first)
    return np.clip(np.rint(highest * (0.5 + shown / 4.0)), 0.0, float(highest))
