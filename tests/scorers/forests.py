"""What the tests of forests share: random trees as nested nodes, and the same as a scorer."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.naive import trees as naive

from rankwright.scorers import ForestScorer
from rankwright.scorers.forest_kernels import Nodes

CODES = {2: [-1.0, 0.0, 2.5, 7.0], 4: [float(code) for code in range(255)]}
"""The categories of features 2 and 4; all others are numbers."""
FEATURES = 6
THRESHOLDS = [-np.inf, -1.0, 0.0, 0.5, 2.0, np.inf]


def random_tree(random: Any, leaves: int, outputs: int, lopsided: bool = False) -> Any:
    """A tree of so many leaves, in nested nodes."""
    if leaves == 1:
        return tuple(random.normal(size=outputs).tolist())
    left = int(random.choice([1, leaves - 1])) if lopsided else int(random.integers(1, leaves))
    feature, missing_left = int(random.integers(FEATURES)), bool(random.integers(2))
    below = [random_tree(random, n, outputs, lopsided) for n in (left, leaves - left)]
    if feature in CODES:
        chosen = [code for code in CODES[feature] if random.integers(2)]
        return naive.Node(feature, np.nan, missing_left, *below, frozenset(chosen), frozenset(CODES[feature]))
    threshold = float(random.choice(THRESHOLDS)) if random.integers(2) else float(np.float32(random.normal()))
    return naive.Node(feature, threshold, missing_left, *below)


def random_rows(random: Any, n: int) -> Any:
    """Rows with values at the thresholds, between them, missing, and of no known category."""
    X = random.choice([np.nan, 0.0, -0.0, 0.5, 2.0, *random.normal(size=6)], (n, FEATURES)).astype(np.float32)
    for feature, codes in CODES.items():
        X[:, feature] = random.choice([*codes, np.nan, -7.5, 0.25, 1e9], n)
    return X


def nodes_of(trees: list[Any], random: Any, outputs: int) -> Nodes:
    """The arrays of nested trees; the numbers of leaves are shuffled."""
    parts: dict[str, list[Any]] = {name: [] for name in Nodes._fields}
    first_node, first_leaf, sets = [0], [0], []
    for tree in trees:
        # Children stand behind their parents, in any order.
        waiting, order = [tree], []
        while waiting:
            node = waiting.pop(int(random.integers(len(waiting))))
            if isinstance(node, naive.Node):
                order.append(node)
                waiting += [node.left, node.right]
        place = {id(node): k for k, node in enumerate(order)}
        numbers = random.permutation(len(order) + 1).tolist()
        values = np.zeros((len(order) + 1, outputs))

        def child_of(child: Any, numbers: Any = numbers, place: Any = place, values: Any = values) -> int:
            if isinstance(child, naive.Node):
                return place[id(child)]
            leaf = numbers.pop()
            values[leaf] = child
            return ~leaf

        if not order:
            child_of(tree)
        for node in order:
            parts["feature"].append(node.feature)
            parts["threshold"].append(node.threshold)
            parts["missing_left"].append(node.missing_left)
            parts["left"].append(child_of(node.left))
            parts["right"].append(child_of(node.right))
            parts["category_set"].append(-1 if node.categories is None else len(sets))
            if node.categories is not None:
                bins = [b for b, code in enumerate(CODES[node.feature], 1) if code in node.categories]
                bins += [0] * node.missing_left
                sets.append([sum(1 << (b & 63) for b in bins if b >> 6 == word) for word in range(4)])
        parts["values"].append(values)
        first_node.append(first_node[-1] + len(order))
        first_leaf.append(first_leaf[-1] + len(values))
    codes = [CODES.get(feature, []) for feature in range(FEATURES)]
    return Nodes(
        first_node=np.array(first_node, np.int64),
        first_leaf=np.array(first_leaf, np.int64),
        feature=np.array(parts["feature"], np.int32),
        threshold=np.array(parts["threshold"], np.float32),
        missing_left=np.array(parts["missing_left"], np.bool_),
        category_set=np.array(parts["category_set"], np.int32),
        left=np.array(parts["left"], np.int32),
        right=np.array(parts["right"], np.int32),
        values=np.concatenate([np.zeros((0, outputs)), *parts["values"]]),
        sets=np.array(sets, np.uint64).reshape(-1, 4),
        first_code=np.cumsum([0, *map(len, codes)]),
        codes=np.array([code for of_feature in codes for code in of_feature], np.float32),
    )


def random_forest(
    seed: int, leaves: list[int], outputs: int = 1, link: Any = "identity", lopsided: bool = False
) -> tuple[ForestScorer, list[Any]]:
    """A scorer, and its trees in nested nodes."""
    random = np.random.default_rng(seed)
    trees = [random_tree(random, n, outputs, lopsided) for n in leaves]
    start = random.normal(size=outputs)
    return ForestScorer(nodes_of(trees, random, outputs), start, FEATURES, link=link), trees


def naive_outputs(scorer: ForestScorer, trees: list[Any], X: Any) -> Any:
    """What each row's leaves add up to, tree after tree."""
    out = []
    for x in X:
        total = scorer.start.tolist()
        for tree in trees:
            total = [a + b for a, b in zip(total, naive.walk(tree, x), strict=True)]
        out.append(total)
    return np.array(out).reshape(len(X), len(scorer.start))
