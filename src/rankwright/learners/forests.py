"""From grown trees to a forest that scores: put together, joined, averaged."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwright.runtime.arrays import Floats, Integers, Singles
from rankwright.runtime.errors import InputError
from rankwright.scorers.forest import ForestScorer, Link
from rankwright.scorers.forest_kernels import Nodes
from rankwright.trees.binning import Bins
from rankwright.trees.tree import Tree


def forest_of(trees: list[Tree], start: Floats, bins: Bins, link: Link = "identity") -> ForestScorer:
    """Grown trees as a scorer; tree t adds to output t mod as many as there are starts."""
    gains = np.concatenate([tree.gain for tree in trees])
    nodes = nodes_of(trees, len(start), bins)
    return ForestScorer(nodes, np.array(start, np.float64), len(bins.counts), link=link, gains=gains)


def nodes_of(trees: list[Tree], outputs: int, bins: Bins) -> Nodes:
    """Trees one after the other; tree t adds to output t mod ``outputs``."""
    feature = np.concatenate([tree.feature for tree in trees])
    categorical = bins.categorical[feature]
    category_set = np.where(categorical, np.cumsum(categorical) - 1, -1).astype(np.int32)
    leaves = [len(tree.values) for tree in trees]
    values = np.zeros((sum(leaves), outputs))
    output = np.repeat(np.arange(len(trees)) % outputs, leaves)
    values[np.arange(len(output)), output] = np.concatenate([tree.values for tree in trees])
    first_code, codes = codes_of(bins)
    return Nodes(
        first_node=np.cumsum([0, *(len(tree.feature) for tree in trees)]),
        first_leaf=np.cumsum([0, *leaves]),
        feature=feature,
        threshold=np.concatenate([tree.threshold for tree in trees]),
        missing_left=np.concatenate([tree.missing_left for tree in trees]),
        category_set=category_set,
        left=np.concatenate([tree.left for tree in trees]),
        right=np.concatenate([tree.right for tree in trees]),
        values=values,
        sets=np.concatenate([tree.bins_left for tree in trees])[categorical],
        first_code=first_code,
        codes=codes,
    )


def codes_of(bins: Bins) -> tuple[Integers, Singles]:
    """The categories of all features one after the other, and where each feature's begin."""
    codes = [
        bins.bounds[f, : bins.counts[f] - 1] if bins.categorical[f] else np.empty(0, np.float32)
        for f in range(len(bins.counts))
    ]
    return np.cumsum([0, *map(len, codes)]), np.concatenate(codes)


def suited(forest: ForestScorer, start: Floats, bins: Bins) -> ForestScorer:
    """A forest to go on from, refused where trees on these bins cannot stand beside its own."""
    if forest.n_features != len(bins.counts) or len(forest.start) != len(start):
        raise InputError(
            f"the trees that there are have {forest.n_features} features and {len(forest.start)} outputs, "
            f"and the data makes {len(bins.counts)} and {len(start)}; fit afresh, with warm_start=False"
        )
    nodes, (first_code, codes) = forest.trees, codes_of(bins)
    if not np.array_equal(first_code, nodes.first_code) or not np.array_equal(codes, nodes.codes):
        raise InputError(
            "the categories of the data are not those of the trees that there are; "
            "fit afresh, with warm_start=False"
        )
    return forest


def joined(scorers: Sequence[ForestScorer]) -> ForestScorer:
    """Forests of the same features, categories and outputs, one behind the other; it starts as the first."""
    forests = [scorer.trees for scorer in scorers]
    together: dict[str, Any] = {}
    for name in Nodes._fields:
        arrays = [getattr(trees, name) for trees in forests]
        if name in ("first_node", "first_leaf"):
            ends = np.cumsum([0, *(array[-1] for array in arrays)])
            arrays = [array[1:] + end for array, end in zip(arrays, ends[:-1], strict=True)]
            together[name] = np.concatenate([[0], *arrays])
        elif name == "category_set":
            sets = np.cumsum([0, *(len(trees.sets) for trees in forests)])
            moved = [np.where(array >= 0, array + at, -1) for array, at in zip(arrays, sets, strict=False)]
            together[name] = np.concatenate(moved).astype(np.int32)
        elif name in ("first_code", "codes"):
            together[name] = arrays[0].copy()
        else:
            together[name] = np.concatenate(arrays)
    gains = [scorer.gains for scorer in scorers if scorer.gains is not None]
    return dataclasses.replace(
        scorers[0],
        trees=Nodes(**together),
        gains=np.concatenate(gains) if len(gains) == len(scorers) else None,
    )


def averaged(scorers: Sequence[ForestScorer]) -> ForestScorer:
    """The mean of forests of the same features, categories and outputs, as one forest of all their trees."""
    both, n = joined(scorers), len(scorers)
    return dataclasses.replace(
        both,
        trees=both.trees._replace(values=both.trees.values / n),
        start=np.mean([scorer.start for scorer in scorers], axis=0),
        gains=None if both.gains is None else both.gains / np.float32(n),
    )
