"""Preparing trees for scoring by masks: tests by tree and kind, and where their rows go."""

from __future__ import annotations

import numpy as np

from rankwright.scorers.forest_kernels import (
    RIGHT_ABOVE,
    RIGHT_OUTSIDE,
    RIGHT_UNLESS_BELOW,
    TILE,
    Nodes,
    Tests,
    Words,
)

KINDS = 3


def pack(trees: Nodes) -> Tests:
    """The trees' tests and the places of their children."""
    n_trees = len(trees.first_node) - 1
    sizes = np.diff(trees.first_node)
    tree = np.repeat(np.arange(n_trees), sizes)
    own = np.arange(len(tree)) - trees.first_node[tree]
    by_missing = np.where(trees.missing_left, RIGHT_ABOVE, RIGHT_UNLESS_BELOW)
    group = tree * KINDS + np.where(trees.category_set >= 0, RIGHT_OUTSIDE, by_missing)
    order = np.lexsort((trees.feature, group))
    first = np.searchsorted(group[order], np.arange(n_trees * KINDS + 1))
    places = [np.where(child >= 0, child, sizes[tree] + ~child) for child in (trees.left, trees.right)]
    return Tests(
        first=first[KINDS * np.arange(n_trees)[:, None] + np.arange(KINDS + 1)],
        node=own[order].astype(np.uint32),
        feature=trees.feature[order].astype(np.uint32),
        threshold=trees.threshold[order],
        category_set=trees.category_set[order],
        left=places[0].astype(np.uint32),
        right=places[1].astype(np.uint32),
    )


def bits_of_numbers(leaves: int) -> Words:
    """For each bit that numbers below ``leaves`` have: which of 0 to 63 have it, as words of ones or none.

    >>> bits_of_numbers(3)[:, :4] > 0
    array([[False,  True, False,  True],
           [False, False,  True,  True]])
    """
    bits = np.arange((leaves - 1).bit_length())[:, None]
    return -(np.arange(TILE) >> bits & 1).astype(np.uint64)
