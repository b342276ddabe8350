"""Partitioning: the rows of a leaf divided between its children, in their order, by all threads together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.runtime.barrier import meet
from rankwright.runtime.kernels import kernel
from rankwright.trees.binning import Bytes
from rankwright.trees.growth import APART, BEGIN, BEST, ROWS, Data, Growth, Mine, Shared, share
from rankwright.trees.splitting import FEATURE, SET


@kernel("uint64(uint8[::1], uint8[::1], uint32[::1], uint64, uint64, uint32[::1])")
def partition(
    column: Bytes,
    goes_left: Bytes,
    index: NDArray[np.uint32],
    first: Any,
    last: Any,
    moved: NDArray[np.uint32],
) -> Any:
    """Move lefts to ``moved`` from ``first`` up, rights from ``last`` down; how many lefts. No branch."""
    one = np.uint64(1)
    left = first
    for i in range(first, last):
        row = index[i]
        moved[left] = row
        moved[last - one - (i - left)] = row
        left += np.uint64(goes_left[np.uint64(column[np.uint64(row)])])
    return left - first


@kernel("void(uint32[::1], uint64, uint64, uint64, uint32[::1], uint64, uint64)")
def place(
    moved: NDArray[np.uint32],
    first: int,
    last: int,
    lefts: int,
    index: NDArray[np.uint32],
    left: int,
    right: int,
) -> None:
    """Put a share's rows in place: lefts from ``left`` on, rights (turned round again) from ``right`` on."""
    for i in range(lefts):
        index[left + i] = moved[first + i]
    one = np.uint64(1)
    for i in range(last - first - lefts):
        index[right + i] = moved[last - one - i]


@kernel()
def split_rows(leaf: int, data: Data, shared: Shared, growth: Growth, mine: Mine) -> Any:
    """Step 1: partition the leaf's rows; how many go left. Leaves them in ``moved`` until they are placed."""
    found = growth.leaves[leaf, BEST:]
    for b in range(256):
        mine.goes_left[b] = np.uint8((found[SET + (b >> 6)] >> np.int64(b & 63)) & np.int64(1))
    begin, n = growth.leaves[leaf, BEGIN], growth.leaves[leaf, ROWS]
    first = begin + share(mine.thread, mine.threads, n)
    last = begin + share(mine.thread + 1, mine.threads, n)
    lefts = partition(
        data.columns[found[FEATURE]],
        mine.goes_left,
        shared.rows,
        np.uint64(first),
        np.uint64(last),
        shared.moved,
    )
    shared.counts[mine.thread * APART] = np.int64(lefts)
    meet(shared.barrier, mine.threads)
    total = np.int64(0)
    for t in range(mine.threads):
        total += shared.counts[t * APART]
    return total


@kernel()
def place_rows(leaf: int, total_left: int, shared: Shared, growth: Growth, mine: Mine) -> None:
    """Step 1, second half: put this thread's share of the leaf's rows in place."""
    begin, n = growth.leaves[leaf, BEGIN], growth.leaves[leaf, ROWS]
    lefts_before, rights_before = np.int64(0), np.int64(0)
    for t in range(mine.thread):
        size = share(t + 1, mine.threads, n) - share(t, mine.threads, n)
        lefts_before += shared.counts[t * APART]
        rights_before += size - shared.counts[t * APART]
    place(
        shared.moved,
        np.uint64(begin + share(mine.thread, mine.threads, n)),
        np.uint64(begin + share(mine.thread + 1, mine.threads, n)),
        np.uint64(shared.counts[mine.thread * APART]),
        shared.rows,
        np.uint64(begin + lefts_before),
        np.uint64(begin + total_left + rights_before),
    )
