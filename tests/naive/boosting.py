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


def squares(y: Any, scores: Any) -> list[tuple[Any, Any]]:
    """2010 section 5: what is left of the labels."""
    return [(y - scores[0], np.ones(len(y)))]


def two_classes(y: Any, weights: Any, sigma: float, scores: Any) -> list[tuple[Any, Any]]:
    """2010 equations 14 and 15: ȳ and |ȳ|(2σ − |ȳ|), for y = ±1."""
    response = 2 * y * sigma / (1 + np.exp(2 * y * sigma * scores[0]))
    return [(weights * response, weights * np.abs(response) * (2 * sigma - np.abs(response)))]


def classes(y: Any, n_classes: int, scores: Any) -> list[tuple[Any, Any]]:
    """Friedman 2001, algorithm 6: [y = k] − Pₖ, and Pₖ(1 − Pₖ) K / (K − 1)."""
    found = []
    for k in range(n_classes):
        p = np.exp(scores[k]) / np.exp(scores).sum(axis=0)
        found.append(((y == k) - p, p * (1 - p) * n_classes / (n_classes - 1)))
    return found


def thresholds(y: Any, n_classes: int, scores: Any) -> list[tuple[Any, Any]]:
    """A two-class problem for each k: whether the label is above it."""
    found = []
    for k in range(n_classes - 1):
        p = 1 / (1 + np.exp(-scores[k]))
        found.append(((y > k) - p, p * (1 - p)))
    return found


def boosted(
    bins: Any,
    start: Sequence[float],
    found: Callable[[Any], list[tuple[Any, Any]]],
    *,
    steps: int,
    rate: float,
    options: trees.Options,
    weights: Any = None,
    second_order: bool = False,
) -> tuple[list[Tree], Any]:
    """Trees, one an output and step, on the responses and curvatures ``found`` at the scores so far."""
    n, made = len(bins), []
    scores = np.tile(np.array(start, float)[:, None], (1, n))
    for _ in range(steps):
        for output, (response, curvature) in enumerate(found(scores.copy())):
            h = curvature if second_order else (np.ones(n) if weights is None else weights)
            splits, leaves = trees.grow(bins, -response, h, list(range(n)), options)
            values = [rate * response[leaf.rows].sum() / curvature[leaf.rows].sum() for leaf in leaves]
            closest = split_margin(bins, -response, h, splits, options)
            made.append(Tree([split for _, split in splits], [leaf.rows for leaf in leaves], values, closest))
            for leaf, value in zip(leaves, values, strict=True):
                scores[output, leaf.rows] += value
    return made, scores


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
