"""``Tree``: what is left of growing, on raw feature values."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from rankwright.runtime.kernels import kernel
from rankwright.runtime.threads import in_chunks
from rankwright.trees.binning import BinnedData, Bins
from rankwright.trees.growth import PARENT, SPLIT, Growth
from rankwright.trees.splitting import BIN, FEATURE, SET

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

ROWS_A_PIECE = 4096


@dataclasses.dataclass(frozen=True, eq=False)
class Tree:
    """A binary tree as arrays over its inner nodes; the root is node 0, a child below 0 is leaf ~child.

    A row goes left where its value is at most the threshold (NaN at a categorical node), and what is missing
    where ``missing_left`` says; in bins, where its bin's bit is set in ``bins_left``.
    """

    feature: NDArray[np.int32]
    threshold: NDArray[np.float32]
    missing_left: NDArray[np.bool_]
    bins_left: NDArray[np.uint64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    gain: NDArray[np.float32]
    values: Floats
    rows: Integers

    @classmethod
    def of_splits(cls, growth: Growth, rows: Integers, values: Floats, bins: Bins) -> Tree:
        """The tree that these splits make: split k is node k."""
        m = len(rows) - 1
        found = growth.splits[:m, SPLIT:]
        feature = found[:, FEATURE].astype(np.int32)
        categorical = bins.categorical[feature]
        threshold = np.full(m, np.nan, np.float32)
        # The last bin of the left side may be the last of all: values on the left, missing on the right.
        numeric = ~categorical
        threshold[numeric] = np.where(
            found[numeric, BIN] > 0, bins.bounds[feature[numeric], found[numeric, BIN] - 1], -np.inf
        )
        left, right = np.empty(m, np.int32), np.empty(m, np.int32)
        child = {0: (left, -1)}
        for k in range(m):
            leaf = int(growth.splits[k, PARENT])
            side, at = child[leaf]
            if at >= 0:
                side[at] = k
            child[leaf], child[k + 1] = (left, k), (right, k)
        for leaf, (side, at) in child.items():
            if at >= 0:
                side[at] = ~leaf
        return cls(
            feature=feature,
            threshold=threshold,
            missing_left=(found[:, SET] & 1).astype(np.bool_),
            bins_left=np.ascontiguousarray(found[:, SET : SET + 4]).view(np.uint64),
            left=left,
            right=right,
            gain=growth.gains[:m].copy(),
            values=np.array(values, np.float64),
            rows=rows,
        )

    def add_to(
        self,
        scores: Floats,
        data: BinnedData,
        rows: NDArray[np.uint32] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        """Add the tree's values to the scores of binned rows, of all or of some."""
        n = len(data) if rows is None else len(rows)
        chosen = np.empty(0, np.uint32) if rows is None else rows
        in_chunks(
            lambda begin, end: add_tree(
                data.columns, chosen, self.feature, self.bins_left, self.left, self.right, self.values,
                begin, end, scores,
            ),
            [*range(0, n, ROWS_A_PIECE), n],
            n_jobs,
        )  # fmt: skip


@kernel(
    "void(uint8[:, ::1], uint32[::1], int32[::1], uint64[:, ::1], int32[::1], int32[::1], float64[::1],"
    " int64, int64, float64[::1])"
)
def add_tree(
    columns: NDArray[np.uint8],
    chosen: NDArray[np.uint32],
    feature: NDArray[np.int32],
    bins_left: NDArray[np.uint64],
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    values: Floats,
    begin: int,
    end: int,
    scores: Floats,
) -> None:
    """Walk the rows from ``begin`` to ``end`` (of ``chosen``, if it names any) down a tree by their bins."""
    for i in range(begin, end):
        row = np.int64(chosen[i]) if chosen.size else np.int64(i)
        at = np.int64(0) if feature.size else np.int64(-1)
        while at >= 0:
            b = np.uint64(columns[feature[at], row])
            goes_left = (bins_left[at, b >> np.uint64(6)] >> (b & np.uint64(63))) & np.uint64(1)
            at = np.int64(left[at] if goes_left != 0 else right[at])
        scores[row] += values[~at]
