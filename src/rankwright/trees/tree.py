"""``Tree``: what is left of growing, on raw feature values."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from rankwright.trees.binning import Bins
from rankwright.trees.growing import PARENT, SPLIT, Growth
from rankwright.trees.splitting import BIN, FEATURE, SET

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclasses.dataclass(frozen=True, eq=False)
class Tree:
    """A binary tree as arrays over its inner nodes; the root is node 0, a child below 0 is leaf ~child.

    A row goes left where its value is at most the threshold, or, at a categorical node (threshold NaN), where
    its category is one of ``categories`` (bits by bin); ``missing_left`` says where missing values go.
    """

    feature: NDArray[np.int32]
    threshold: NDArray[np.float32]
    missing_left: NDArray[np.bool_]
    categories: NDArray[np.uint64]
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
            categories=np.where(categorical[:, None], found[:, SET : SET + 4], 0).astype(np.int64).view(np.uint64),
            left=left,
            right=right,
            gain=growth.gains[:m].copy(),
            values=np.array(values, np.float64),
            rows=rows,
        )
