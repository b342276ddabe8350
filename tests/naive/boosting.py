"""LambdaMART as 2010 section 7 has it in its box, query by query and pair by pair, in float64.

    for k = 1 to N:
        yᵢ = λᵢ,  wᵢ = ∂yᵢ/∂F(xᵢ)        for all documents of all queries
        {R_l}                             a tree of L leaves on {xᵢ, yᵢ}, by least squares
        γ_l = Σ yᵢ / Σ wᵢ                 over the documents of leaf l
        F(xᵢ) += η Σ_l γ_l I(xᵢ ∈ R_l)

With λ the way up (−∂C/∂s) and w = ∂²C/∂s² summed over both kinds of pairs, γ is a Newton step downhill. (To
the letter, with λ = ∂C/∂s and w the difference of the two sums, the box trains the reverse ranker.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from tests.naive import lambdas, trees


class Tree(NamedTuple):
    splits: list[trees.Split]
    rows: list[list[int]]
    values: list[float]
    margin: float
    """How far the closest choice was from going the other way: of a split, or of the order of two scores."""


def gradients(
    labels: Any, queries: Sequence[range], scores: Any, change: Callable[..., float], sigma: float
) -> tuple[Any, Any]:
    """λ and w of all documents."""
    lam, w = np.zeros(len(labels)), np.zeros(len(labels))
    for rows in queries:
        lam[rows], w[rows] = lambdas.lambdas(labels[rows], scores[rows], change, sigma=sigma)
    return lam, w


def split_margin(bins: Any, g: Any, h: Any, made: Any, options: trees.Options) -> float:
    """The least difference between the best split of all leaves and one that parts rows differently."""
    leaves, closest = [trees.Leaf(list(range(len(g))))], np.inf
    for parent, split in made:
        rivals = {}
        for number, leaf in enumerate(leaves):
            for rival in trees.splits(bins, g, h, leaf, options):
                left, right = trees.divided(bins, g, h, leaf, rival, options)
                rivals[number, min(tuple(left.rows), tuple(right.rows))] = rival.gain
        gains = sorted(rivals.values(), reverse=True)
        if len(gains) > 1:
            closest = min(closest, (gains[0] - gains[1]) / gains[0])
        left, right = trees.divided(bins, g, h, leaves[parent], split, options)
        leaves[parent] = left
        leaves.append(right)
    return float(closest)


def score_margin(queries: Sequence[range], scores: Any, paths: Any) -> float:
    """The least distance of two scores of a query that came about in different leaves."""
    gaps = [
        abs(scores[i] - scores[j]) for rows in queries for i in rows for j in rows if paths[i] != paths[j]
    ]
    return float(min(gaps, default=np.inf))


def lambdamart(
    bins: Any,
    labels: Any,
    queries: Sequence[range],
    change: Callable[..., float],
    *,
    steps: int,
    rate: float,
    sigma: float,
    options: trees.Options,
) -> tuple[list[Tree], Any]:
    """The trees and the final scores."""
    n = len(labels)
    scores, made, ones, paths = np.zeros(n), [], np.ones(n), [()] * n
    for _ in range(steps):
        lam, w = gradients(labels, queries, scores, change, sigma)
        splits, leaves = trees.grow(bins, -lam, ones, list(range(n)), options)
        values = [rate * lam[leaf.rows].sum() / w[leaf.rows].sum() for leaf in leaves]
        closest = min(split_margin(bins, -lam, ones, splits, options), score_margin(queries, scores, paths))
        made.append(Tree([split for _, split in splits], [leaf.rows for leaf in leaves], values, closest))
        for number, (leaf, value) in enumerate(zip(leaves, values, strict=True)):
            scores[leaf.rows] += value
            for row in leaf.rows:
                paths[row] = (*paths[row], number)
    return made, scores
