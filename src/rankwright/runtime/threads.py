"""Threads: how many, and one kernel over chunks of the work.

A kernel that runs in chunks writes only to its own part of the output, or its caller adds up the chunks'
results in the order of the chunks; so the answer is the same at any number of threads.
"""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from rankwright.runtime.errors import InputError


def thread_count(n_jobs: int | None = None) -> int:
    """The number of threads for ``n_jobs``: None means all cores this process may use.

    >>> thread_count(3)
    3
    """
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        return available
    if n_jobs == 0:
        raise InputError("n_jobs is 0; give a number of threads, or None for all cores")
    return n_jobs if n_jobs > 0 else max(1, available + 1 + n_jobs)


def in_chunks(work: Callable[[int, int], Any], bounds: Sequence[int], n_jobs: int | None = None) -> list[Any]:
    """Call ``work(begin, end)`` for each pair of neighbours in ``bounds``, on threads; results in order.

    >>> in_chunks(lambda begin, end: end - begin, [0, 3, 10], n_jobs=2)
    [3, 7]
    """
    pieces = [(int(a), int(b)) for a, b in itertools.pairwise(bounds) if b > a]
    threads = min(thread_count(n_jobs), len(pieces))
    if threads <= 1:
        return [work(a, b) for a, b in pieces]
    return list(_pool(threads).map(lambda piece: work(*piece), pieces))


def together(work: Callable[[int], Any], threads: int) -> list[Any]:
    """Call ``work(0)``, ``work(1)``, … all at once, each on a thread of its own; results in order.

    Unlike chunks, they may wait for each other (``runtime.barrier``).

    >>> together(lambda thread: thread * thread, 3)
    [0, 1, 4]
    """
    if threads == 1:
        return [work(0)]
    with ThreadPoolExecutor(threads, thread_name_prefix="rankwright") as pool:
        return list(pool.map(work, range(threads)))


@functools.cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="rankwright")


# A forked child has none of its parent's threads: it makes its own.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)
