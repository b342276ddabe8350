"""Randomness over queries: the bootstrap and the signs of Fisher's randomisation test.

Every block of resamples has its own stream, keyed by its number, so the numbers do not depend on threads and
the first thousand resamples are the same however many follow. Only raw words of the generator are used, which
are the same on every machine and in every version of NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.measures.base import Floats
from rankwright.runtime.errors import InputError
from rankwright.runtime.threads import in_chunks

BLOCK = 64  # resamples that share a stream
HALF = np.uint64(32)


def t_interval(values: Floats, weights: Floats | None, level: float) -> tuple[float, float]:
    """A confidence interval of the (weighted) mean after Student's t; NaN for fewer than two values.

    >>> low, high = t_interval(np.array([0.0, 1.0, 2.0]), None, 0.95)
    >>> round(low, 4), round(high, 4)
    (-1.4841, 3.4841)
    """
    from scipy.special import stdtrit

    n = len(values)
    if n < 2:
        return math.nan, math.nan
    shares = np.full(n, 1 / n) if weights is None else weights / weights.sum()
    mean = float((values * shares).sum())
    error = math.sqrt(n / (n - 1) * float(((shares * (values - mean)) ** 2).sum()))
    reach = float(stdtrit(n - 1, (1 + level) / 2)) * error
    return mean - reach, mean + reach


def bootstrap_means(
    values: Floats, weights: Floats | None, n_resamples: int, random_state: int, n_jobs: int | None = None
) -> Floats:
    """The mean of each resample of the values; ``weights`` are positive.

    >>> bootstrap_means(np.array([0.0, 1.0]), None, 4, random_state=0)
    array([0. , 0.5, 0.5, 1. ])
    """
    n = len(values)

    def means(block: int) -> Floats:
        # The upper half of a word, scaled: for any n of queries, even to within n in 2³².
        drawn = ((_words(random_state, block, BLOCK * n) >> HALF) * np.uint64(n)) >> HALF
        places = drawn.reshape(BLOCK, n).astype(np.int64)
        if weights is None:
            return values[places].mean(axis=1)
        given = weights[places]
        return (values[places] * given).sum(axis=1) / given.sum(axis=1)

    return _in_blocks(means, n_resamples, random_state, n_jobs)


def signed_sums(
    values: NDArray[np.int64], n_resamples: int, random_state: int, n_jobs: int | None = None
) -> NDArray[np.int64]:
    """The sum of the values with random signs, for each resample.

    >>> signed_sums(np.array([1, 1]), 4, random_state=0)
    array([ 2,  0,  0, -2])
    """
    n = len(values)
    words = -(-n // 64)

    def sums(block: int) -> NDArray[np.int64]:
        drawn = _words(random_state, block, BLOCK * words).astype("<u8").view(np.uint8)
        signs = np.unpackbits(drawn.reshape(BLOCK, words * 8), axis=1, count=n, bitorder="little")
        return np.where(signs, values, -values).sum(axis=1)

    return _in_blocks(sums, n_resamples, random_state, n_jobs)


def check_resampling(n_resamples: int, random_state: int) -> None:
    """Refuse a number of resamples and a seed that are none."""
    if n_resamples < 1:
        raise InputError(f"n_resamples is {n_resamples!r}; give a whole number of at least 1")
    if not 0 <= random_state < 2**63:
        raise InputError(f"random_state is {random_state!r}; give a whole number from 0")


def _in_blocks(
    resample: Callable[[int], NDArray[Any]], n_resamples: int, random_state: int, n_jobs: int | None
) -> NDArray[Any]:
    check_resampling(n_resamples, random_state)
    blocks = range(-(-n_resamples // BLOCK) + 1)
    drawn = in_chunks(lambda block, _: resample(block), blocks, n_jobs)
    return np.concatenate(drawn)[:n_resamples]


def _words(random_state: int, block: int, count: int) -> NDArray[np.uint64]:
    key = np.array([random_state, block], np.uint64)
    return np.random.Philox(key=key).random_raw(count)
