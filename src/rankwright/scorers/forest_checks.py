"""Checks of trees that come from a file: the kernels check no index, so a hostile one must not reach them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankwright.runtime.errors import InputError
from rankwright.scorers.forest_kernels import Integers, Nodes


def check_nodes(trees: Nodes, n_features: int) -> None:
    """Refuse trees with an index out of place, a cycle, a node or leaf without its parent, or odd numbers."""
    n_nodes, n_leaves = len(trees.feature), len(trees.values)
    for name in ("threshold", "missing_left", "category_set", "left", "right"):
        if len(getattr(trees, name)) != n_nodes:
            raise InputError(
                f"its trees have {n_nodes} features of nodes but {len(getattr(trees, name))} of {name}"
            )
    _check_bounds("first_node", trees.first_node, n_nodes, 0)
    _check_bounds("first_leaf", trees.first_leaf, n_leaves, 1)
    if len(trees.first_node) != len(trees.first_leaf):
        raise InputError("its trees have different numbers in first_node and first_leaf")
    if not np.array_equal(np.diff(trees.first_leaf), np.diff(trees.first_node) + 1):
        raise InputError("a tree of it has not one leaf more than it has nodes")
    if (trees.missing_left.view(np.uint8) > 1).any():
        raise InputError("its array 'missing_left' holds more than yes and no")
    _check_children(trees)
    _refuse(((trees.feature < 0) | (trees.feature >= n_features)), "reads a feature that is not there")
    categorical = trees.category_set >= 0
    _refuse(
        (trees.category_set < -1) | (trees.category_set >= len(trees.sets)), "names a set that is not there"
    )
    _refuse(~categorical & np.isnan(trees.threshold), "has no threshold")
    if not np.isfinite(trees.values).all() or trees.values.shape[1] < 1:
        raise InputError("its leaf values are not finite numbers")
    _check_codes(trees, categorical)


def _check_bounds(name: str, bounds: Integers, end: int, least: int) -> None:
    # The differences of hostile bounds could overflow and look small: so each must lie inside first.
    inside = (
        len(bounds) > 0 and bounds[0] == 0 and bounds[-1] == end and bounds.min() >= 0 and bounds.max() <= end
    )
    if not inside or (np.diff(bounds) < least).any():
        raise InputError(f"its array {name!r} does not divide {end} into trees")


def _check_children(trees: Nodes) -> None:
    """Each node but the root, and each leaf, is the child of exactly one node, which stands before it."""
    sizes = np.diff(trees.first_node)
    tree = np.repeat(np.arange(len(sizes)), sizes)
    own = np.arange(len(tree)) - trees.first_node[tree]
    child = np.concatenate([trees.left, trees.right]).astype(np.int64)
    tree, own = np.tile(tree, 2), np.tile(own, 2)
    inner = child >= 0
    if (child[inner] <= own[inner]).any() or (child[inner] >= sizes[tree[inner]]).any():
        raise InputError("a node of its trees has a child that does not stand behind it")
    if (~child[~inner] > sizes[tree[~inner]]).any():
        raise InputError("a node of its trees names a leaf that is not there")
    nodes = trees.first_node[tree[inner]] + child[inner]
    leaves = trees.first_leaf[tree[~inner]] + ~child[~inner]
    if len(np.unique(nodes)) != len(nodes) or len(np.unique(leaves)) != len(leaves):
        raise InputError("a node or leaf of its trees has two parents")


def _check_codes(trees: Nodes, categorical: NDArray[np.bool_]) -> None:
    codes, first = trees.codes, trees.first_code
    if first[0] != 0 or first[-1] != len(codes) or (np.diff(first) < 0).any() or (np.diff(first) > 255).any():
        raise InputError("its array 'first_code' does not divide the codes among the features")
    rising = np.diff(codes) > 0
    rising[first[1:-1][(first[1:-1] > 0) & (first[1:-1] < len(codes))] - 1] = True
    if not np.isfinite(codes).all() or not rising.all():
        raise InputError("the codes of its categories are not finite and rising")
    without = np.diff(first)[trees.feature[categorical]] == 0
    if without.any():
        raise InputError("a node of its trees asks for the category of a feature that has none")


def _refuse(bad: NDArray[np.bool_], what: str) -> None:
    at = np.flatnonzero(bad)
    if len(at):
        raise InputError(f"node {at[0]} of its trees {what}")
