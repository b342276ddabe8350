"""Histograms: the gradients of a leaf's rows, summed by bin, for every feature.

**One integer add a row and feature.** Gradient g and hessian h of a row are packed in one int64,

    packed = (round(g · g_scale) << 32) + round(h · h_scale)

scaled so that no sum over all rows can overflow either half. A sum of packed numbers holds both sums, the
sibling's histogram is the parent's minus the child's exactly, and no sum depends on its order: the same tree
at any number of threads.

Thirty-one bits are plenty while gradients are alike. Where they are not (weights from 1 to 10,000, ten
million rows), the *wide* form takes two words a row and twice the time: g alone in the first, and in the
second the hessian above a count of 1, so that it knows the rows of a leaf exactly.

**Histograms that stay in the first-level cache.** Features go in blocks of 17, whose histogram is 34 KB.
The rows of a leaf lie scattered; a chunk of them is fetched ahead and copied block by block, so that each
block then adds from memory that lies together:

    rows (row-major)             copy of a chunk              histogram of one block
    r3:  [ block 0 | block 1 ]   block 0: r3 r7 r9 …     →    17 features × 256 bins of int64
    r7:  [ block 0 | block 1 ]   block 1: r3 r7 r9 …     →    the next 34 KB
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.runtime.intrinsics import copy32, prefetch
from rankwright.runtime.kernels import kernel
from rankwright.runtime.threads import in_chunks
from rankwright.trees.binning import Bytes

Integers = NDArray[np.int64]
Singles = NDArray[np.float32]

BLOCK = 17
"""Features a block: 34 KB of histogram."""
CHUNK = 512
"""Rows copied together."""
AHEAD = 32
"""How many rows ahead memory is asked for."""
SUM_CHUNK = 4096
"""Rows of one partial sum: sums of floats are made in fixed chunks, whatever the threads."""
LARGEST = 2**31 - 1
_BLOCK = np.uint64(BLOCK)
_BLOCK_BINS = np.uint64(BLOCK * 256)
_CHUNK = np.uint64(CHUNK)
_AHEAD = np.uint64(AHEAD)
_ONE, _SHIFT, _LINE = np.uint64(1), np.uint64(8), np.uint64(64)


def count_bits(n_rows: int) -> int:
    """The bits of the row count in the second word of the wide form: all others are the hessian's.

    >>> count_bits(10**7)
    24
    """
    return n_rows.bit_length()


def blocks(n_features: int) -> int:
    """How many blocks of features there are."""
    return -(-n_features // BLOCK)


@kernel("void(float32[::1], float32[::1], int64, int64, float64[:, ::1])")
def chunk_sums(
    gradients: Singles, hessians: Singles, begin: int, end: int, sums: NDArray[np.float64]
) -> None:
    """The sums of |g| and h over each chunk of rows from chunk ``begin`` to ``end``."""
    for chunk in range(begin, end):
        g = np.float64(0)
        h = np.float64(0)
        for i in range(chunk * SUM_CHUNK, min((chunk + 1) * SUM_CHUNK, gradients.size)):
            g += abs(gradients[i])
            h += hessians[i]
        sums[chunk, 0] = g
        sums[chunk, 1] = h


@kernel(
    "void(float32[::1], float32[::1], float32, float32, int64, int64, int64[::1])",
    fastmath={"nnan", "ninf", "nsz"},
)
def pack_rows(
    gradients: Singles,
    hessians: Singles,
    g_scale: float,
    h_scale: float,
    begin: int,
    end: int,
    packed: Integers,
) -> None:
    """Pack the gradient and hessian of each row."""
    half = np.float32(0.5)
    for i in range(np.uint64(begin), np.uint64(end)):
        g = gradients[i] * g_scale
        whole = np.int32(g + half) if g > np.float32(0) else np.int32(g - half)
        packed[i] = (np.int64(whole) << 32) + np.int64(np.int32(hessians[i] * h_scale + half))


@kernel("void(float32[::1], float32[::1], float64, float64, int64, int64, int64, int64[::1], int64[::1])")
def pack_rows_wide(
    gradients: Singles,
    hessians: Singles,
    g_scale: float,
    h_scale: float,
    bits: int,
    begin: int,
    end: int,
    packed: Integers,
    packed_wide: Integers,
) -> None:
    """Pack each row in two words: its gradient, and its hessian above a count of 1."""
    for i in range(np.uint64(begin), np.uint64(end)):
        packed[i] = np.int64(np.rint(gradients[i] * g_scale))
        packed_wide[i] = (np.int64(np.rint(hessians[i] * h_scale)) << bits) + np.int64(1)


def pack(
    gradients: Singles, hessians: Singles, packed: Integers, n_jobs: int | None = None
) -> tuple[float, float]:
    """Pack all rows; what one unit of g and of h in the packed sums is worth.

    >>> packed = np.empty(2, np.int64)
    >>> g_unit, h_unit = pack(np.float32([0.5, -1.0]), np.float32([1.0, 1.0]), packed, n_jobs=1)
    >>> float(round((packed.sum() >> 32) * g_unit, 6)), float(round((packed.sum() & 0xFFFFFFFF) * h_unit, 6))
    (-0.5, 2.0)
    """
    totals, edges = _totals(gradients, hessians, n_jobs)
    # Rounding moves each row by at most one half, and the float32 scale by less than 256 in all.
    room = LARGEST - len(gradients) - 256
    g_scale, h_scale = (
        np.float32(min(room / total, 1e30)) if total > 0 else np.float32(1) for total in totals
    )
    in_chunks(
        lambda begin, end: pack_rows(gradients, hessians, g_scale, h_scale, begin, end, packed), edges, n_jobs
    )
    return 1.0 / float(g_scale), 1.0 / float(h_scale)


def pack_wide(
    gradients: Singles,
    hessians: Singles,
    packed: Integers,
    packed_wide: Integers,
    n_jobs: int | None = None,
) -> tuple[float, float]:
    """Pack all rows in the wide form; what one unit of g and of h in the packed sums is worth."""
    totals, edges = _totals(gradients, hessians, n_jobs)
    n = len(gradients)
    bits = count_bits(n)
    scales = [
        np.float64(min(((1 << room) - n) / total, 1e60) if total > 0 else 1.0)
        for room, total in zip((62, 62 - bits), totals, strict=True)
    ]
    in_chunks(
        lambda begin, end: pack_rows_wide(
            gradients, hessians, *scales, bits, begin, end, packed, packed_wide
        ),
        edges,
        n_jobs,
    )
    return 1.0 / float(scales[0]), 1.0 / float(scales[1])


def _totals(
    gradients: Singles, hessians: Singles, n_jobs: int | None
) -> tuple[NDArray[np.float64], list[int]]:
    """The sums of |g| and of h, made in chunks of rows that do not depend on threads, and work's edges."""
    n = len(gradients)
    chunks = -(-n // SUM_CHUNK)
    sums = np.empty((chunks, 2))
    edges = [*range(0, chunks, 32), chunks]
    in_chunks(lambda begin, end: chunk_sums(gradients, hessians, begin, end, sums), edges, n_jobs)
    return sums.sum(axis=0), [min(edge * SUM_CHUNK, n) for edge in edges]


@kernel(
    "void(uint8[::1], uint64, uint32[::1], int64[::1], uint64, uint64, uint64, uint64, int64[::1],"
    " uint8[::1], int64[::1])"
)
def add_rows(
    rows: Bytes,
    stride: Any,
    index: NDArray[np.uint32],
    packed: Integers,
    first: Any,
    last: Any,
    first_block: Any,
    last_block: Any,
    histogram: Integers,
    copied: Bytes,
    amounts: Integers,
) -> None:
    """Add the rows ``index[first:last]`` to the histograms of some blocks of features.

    The readable form: ``for row in index[first:last]: for feature: histogram[feature, rows[row, feature]] +=
    packed[row]``. ``copied`` and ``amounts`` are scratch for one chunk of rows.
    """
    final = last - _ONE
    start = first_block * _BLOCK
    block_bytes = (_CHUNK + np.uint64(4)) * _BLOCK
    for begin in range(first, last, _CHUNK):
        m = min(_CHUNK, last - begin)
        # 1. Fetch ahead and copy the chunk's rows, block by block. (Copies of 32 bytes run over into the
        #    next row's place, which is written after.)
        for i in range(m):
            ahead = np.uint64(index[min(begin + i + _AHEAD, final)]) * stride + start
            prefetch(rows, ahead)
            prefetch(rows, ahead + _LINE)
            row = np.uint64(index[begin + i])
            amounts[i] = packed[row]
            at = row * stride
            for block in range(first_block, last_block):
                copy32(copied, block * block_bytes + i * _BLOCK, rows, at + block * _BLOCK)
        # 2. Add block by block.
        for block in range(first_block, last_block):
            mine = histogram[block * _BLOCK_BINS : (block + _ONE) * _BLOCK_BINS]
            start_of_block = block * block_bytes
            for i in range(m):
                amount = amounts[i]
                at = start_of_block + i * _BLOCK
                for f in range(_BLOCK):
                    mine[(f << _SHIFT) + np.uint64(copied[at + f])] += amount


def scratch(n_features: int) -> tuple[Bytes, Integers]:
    """The scratch that ``add_rows`` needs on each thread."""
    return np.empty((CHUNK + 4) * BLOCK * blocks(n_features) + 64, np.uint8), np.empty(CHUNK, np.int64)
