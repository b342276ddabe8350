"""Trees on raw values, and the ways to add their values to scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from tests.naive import trees as naive
from tests.trees.growth import JIT_OFF, Problem, leaf_rows, needs_jit, problems, splits_of

from rankwright.trees import tree as tree_module
from rankwright.trees.grower import Shape, spread_values, sum_leaves
from rankwright.trees.tree import add_tree


def naive_tree(tree: Any, known: dict[int, Any], node: int = 0) -> Any:
    """The tree as nested nodes."""
    if node < 0 or not len(tree.feature):
        return float(tree.values[~node if node < 0 else 0])
    feature = int(tree.feature[node])
    codes = known.get(feature)
    sets = [int(word) for word in tree.bins_left[node]]
    chosen = [] if codes is None else [c for b, c in enumerate(codes, 1) if sets[b >> 6] >> (b & 63) & 1]
    return naive.Node(
        feature,
        float(tree.threshold[node]),
        bool(tree.missing_left[node]),
        naive_tree(tree, known, int(tree.left[node])),
        naive_tree(tree, known, int(tree.right[node])),
        None if codes is None else frozenset(chosen),
        frozenset(codes or ()),
    )


@settings(max_examples=10 if JIT_OFF else 60)
@given(problems())
def test_a_tree_sends_rows_where_its_splits_did(problem: Problem) -> None:
    """On raw values, in bins, and by the rows of its leaves."""
    grower, grown = problem.grow()
    values = np.arange(1.0, grown.n_leaves + 1)
    tree, data = grower.tree(grown, values), problem.data
    n = len(problem.X)
    known = {f: data.bins.bounds[f, : data.bins.counts[f] - 1].tolist() for f in problem.categorical}
    nested = naive_tree(tree, known)
    expected = [naive.walk(nested, x) for x in problem.X]
    made = splits_of(grown)
    assert expected == [values[naive.leaf_of(row, made)] for row in data.columns.T]
    for number, rows in enumerate(leaf_rows(grown)):
        assert all(expected[row] == values[number] for row in rows)
    scores = np.full(n, 0.5)
    tree.add_to(scores, data, n_jobs=1)
    assert (scores - 0.5).tolist() == expected
    some = np.arange(0, n, 2, dtype=np.uint32)
    tree.add_to(scores, data, some, n_jobs=1)
    assert (scores[some] - 0.5 == 2 * np.array(expected)[some]).all()
    assert (scores[1::2] - 0.5 == np.array(expected)[1::2]).all()
    spread = np.zeros(n)
    grower.add_values(grown, values, spread)
    inside = sorted(row for rows in leaf_rows(grown) for row in rows)
    assert (spread[inside] == np.array(expected)[inside]).all()
    assert np.count_nonzero(spread) == len(inside)
    assert sorted([*tree.left, *tree.right]) == [
        *range(-grown.n_leaves, 0),
        *range(1, len(tree.feature)),
    ] or (grown.n_leaves == 1)


@settings(max_examples=10 if JIT_OFF else 40)
@given(problems())
def test_leaf_values_are_newton_steps_on_exact_sums(problem: Problem) -> None:
    grower, grown = problem.grow()
    values = grower.newton_values(grown, problem.g, problem.h)
    bounds = grown.growth.values[: grown.n_leaves, 2:4]
    for value, rows, (lowest, highest) in zip(values, leaf_rows(grown), bounds, strict=True):
        g, h = problem.g[rows].astype(float).sum(), problem.h[rows].astype(float).sum()
        step = -g / (h + problem.shape.l2_regularization)
        assert value == pytest.approx(min(max(step, lowest), highest), rel=1e-12, abs=1e-12)
    other = grower.leaf_sums(grown, problem.h, problem.g)
    assert (other[:, ::-1] == grower.leaf_sums(grown, problem.g, problem.h)).all()


def test_pieces_and_threads_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_module, "ROWS_A_PIECE", 7)
    random = np.random.default_rng(0)
    X, g = random.normal(size=(60, 3)).astype(np.float32), random.normal(size=60).astype(np.float32)
    grower, grown = Problem(X, g, np.ones(60, np.float32), Shape(min_samples_leaf=3)).grow()
    tree = grower.tree(grown, random.normal(size=grown.n_leaves))
    scores = np.zeros((3, 60))
    for out, jobs in zip(scores, (1, 2, 3), strict=True):
        tree.add_to(out, grower.data, n_jobs=jobs)
    assert (scores == scores[0]).all() and scores.any()


@needs_jit
def test_both_forms_give_the_same_bits() -> None:
    random = np.random.default_rng(0)
    X, g = random.normal(size=(90, 3)).astype(np.float32), random.normal(size=90).astype(np.float32)
    h = random.random(90, np.float32)
    grower, grown = Problem(X, g, h, Shape(min_samples_leaf=3)).grow()
    tree = grower.tree(grown, random.normal(size=grown.n_leaves))
    leaves = grown.index, grown.begins, grown.rows
    found = []
    for form in ("plain", "compiled"):
        sums, walked, spread = np.zeros((grown.n_leaves, 2)), np.zeros(90), np.zeros(90)
        getattr(sum_leaves, form)(*leaves, g, h, 0, grown.n_leaves, sums)
        getattr(spread_values, form)(*leaves, tree.values, 0, grown.n_leaves, spread)
        getattr(add_tree, form)(
            grower.data.columns, np.empty(0, np.uint32), tree.feature, tree.bins_left, tree.left, tree.right,
            tree.values, 0, 90, walked,
        )  # fmt: skip
        found.append((sums.tobytes(), walked.tobytes(), spread.tobytes()))
    assert found[0] == found[1] and found[0][1] == found[0][2]
