"""Whole trees against the naive twin, at any number of threads, within their limits."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import trees as naive
from tests.trees.growth import JIT_OFF, Problem, in_plain_form, leaf_rows, needs_jit, problems, splits_of

from rankwright.trees import growing
from rankwright.trees.grower import Grower, Shape
from rankwright.trees.splitting import FEATURE

SINGLE = 2e-6
"""What sums in single precision may be off, of the scores that a gain is the difference of."""
EXAMPLES = 30 if JIT_OFF else 60


def arrays_of(grown: Any) -> tuple[Any, ...]:
    """All there is to a grown tree."""
    m = grown.n_leaves - 1
    growth = grown.growth
    return grown.n_leaves, growth.splits[:m].tolist(), growth.gains[:m].tobytes(), leaf_rows(grown)


def squared(values: Any) -> float:
    return float(np.sum((values - values.mean()) ** 2)) if len(values) else 0.0


@settings(max_examples=EXAMPLES)
@given(problems())
def test_each_split_is_as_good_as_the_naive_best(problem: Problem) -> None:
    """Played again split by split: where sums tie or nearly do, either choice is right."""
    _, grown = problem.grow()
    options, bins = problem.options, problem.data.columns.T
    g, h = problem.g.astype(np.float64), problem.h.astype(np.float64)
    start = list(range(len(g))) if problem.rows is None else problem.rows.tolist()
    leaves = [naive.Leaf(start)]
    slack = SINGLE * (1 + float(np.sum(np.abs(g))) ** 2 / max(h[start].sum(), 1e-3))
    # Guessed rows may come out on the other side of the minimum; what exact counts allow is checked exactly.
    best = lambda leaf: max((s.gain for s in naive.splits(bins, g, h, leaf, options)), default=0.0)  # noqa: E731
    for parent, split in splits_of(grown):
        rows = leaves[parent].rows
        left, right = naive.divided(bins, g, h, leaves[parent], split, options)
        assert min(len(left.rows), len(right.rows)) >= options.min_rows
        assert options.depth is None or leaves[parent].depth < options.depth
        if options.exact_counts:
            assert split.gain >= max(map(best, leaves)) - slack
        before = naive.score(g[rows].sum(), h[rows].sum(), leaves[parent], options.l2)
        after = sum(
            naive.score(g[side.rows].sum(), h[side.rows].sum(), leaves[parent], options.l2)
            for side in (left, right)
        )
        assert split.gain == pytest.approx(after - before, abs=slack) and split.gain > options.min_gain
        leaves[parent] = left
        leaves.append(right)
    assert [leaf.rows for leaf in leaves] == leaf_rows(grown)
    if options.exact_counts and grown.n_leaves < options.leaves:
        assert max(map(best, leaves)) <= options.min_gain + slack


@settings(max_examples=EXAMPLES // 2)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_the_tree_is_the_naive_one(seed: int, exact: bool, some: bool) -> None:
    """Random values, some missing, categories, any limits: no two splits gain nearly the same."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(50, 4)).astype(np.float32)
    X[random.random(50) < 0.3, 1] = np.nan
    X[:, 2] = random.integers(0, 5, 50)
    shape = Shape(
        max_leaf_nodes=8,
        min_samples_leaf=int(random.integers(1, 6)),
        l2_regularization=float(random.choice([0, 2])),
        max_depth=random.choice([None, 3]),
        exact_counts=exact,
    )
    h = random.uniform(0.5, 1, 50).astype(np.float32) if exact else np.ones(50, np.float32)
    rows = np.flatnonzero(random.random(50) < 0.8).astype(np.uint32) if some else None
    problem = Problem(X, random.normal(size=50).astype(np.float32), h, shape, (2,), rows=rows)
    _, grown = problem.grow()
    _, leaves = problem.grow_naively()
    # (Two features may part a few rows alike, and then either may be on the left.)
    assert {*map(tuple, leaf_rows(grown))} == {tuple(leaf.rows) for leaf in leaves}


@settings(max_examples=8 if JIT_OFF else 25)
@given(problems(), st.integers(0, 2**60))
def test_the_tree_does_not_depend_on_threads(problem: Problem, seed: int) -> None:
    first, *others = (problem.grow(jobs, seed=seed)[1] for jobs in (1, 2, 3, 4))
    for grown in others:
        assert arrays_of(grown) == arrays_of(first)


def large(exact_counts: bool = False) -> Problem:
    """Enough rows to be summed by rows, on features of three blocks."""
    random = np.random.default_rng(3)
    n, n_features = (growing.BY_ROWS + 100, 2) if JIT_OFF else (5 * growing.BY_ROWS, 37)
    X = random.choice([np.nan, *random.normal(size=200)], (n, n_features)).astype(np.float32)
    shape = Shape(max_leaf_nodes=3 if JIT_OFF else 31, min_samples_leaf=5, exact_counts=exact_counts)
    h = random.uniform(0.1, 1, n).astype(np.float32)
    return Problem(X, (X[:, 0] > 0) - random.normal(size=n).astype(np.float32), h, shape)


@pytest.mark.parametrize("exact_counts", [False, True])
def test_large_leaves_are_summed_by_rows_on_several_threads(exact_counts: bool) -> None:
    problem = large(exact_counts)
    first, *others = (problem.grow(jobs)[1] for jobs in ((1, 2) if JIT_OFF else (1, 2, 3, 4)))
    for grown in others:
        assert arrays_of(grown) == arrays_of(first)


@needs_jit
@pytest.mark.parametrize("exact_counts", [False, True])
@pytest.mark.parametrize("monotone", [None, [0, 1, 0, -1]])
def test_both_forms_grow_the_same_tree(exact_counts: bool, monotone: Any, monkeypatch: Any) -> None:
    """Bit for bit, where no two splits are as good: compilers may add a gain up in another way."""
    for seed in range(4):
        random = np.random.default_rng(seed)
        X = random.normal(size=(120, 4)).astype(np.float32)
        X[random.random(120) < 0.2, 1] = np.nan
        X[:, 2] = random.integers(0, 7, 120)
        shape = Shape(
            max_leaf_nodes=10, min_samples_leaf=8, exact_counts=exact_counts, monotone=monotone,
            l2_regularization=0.5, features_per_node=3, random_bins=seed == 3,
        )  # fmt: skip
        g, h = random.normal(size=120), random.uniform(0.5, 1, 120)
        problem = Problem(X, g.astype(np.float32), h.astype(np.float32), shape, (2,))
        grower, grown = problem.grow(seed=seed)
        with monkeypatch.context() as patch:
            in_plain_form(patch)
            _, plain = problem.grow(2, seed=seed)
        assert grown.n_leaves > 3
        assert arrays_of(grown) == arrays_of(plain)
        assert np.array_equal(*(grower.newton_values(g, problem.g, problem.h) for g in (grown, plain)))


@settings(max_examples=EXAMPLES)
@given(problems())
def test_a_split_never_increases_the_squared_error(problem: Problem) -> None:
    problem = dataclasses.replace(
        problem,
        h=np.ones(len(problem.g), np.float32),
        shape=dataclasses.replace(problem.shape, monotone=None),
    )
    _, grown = problem.grow()
    g, bins = problem.g.astype(np.float64), problem.data.columns.T
    leaves = [list(range(len(g))) if problem.rows is None else problem.rows.tolist()]
    for parent, split in splits_of(grown):
        rows = np.array(leaves[parent])
        goes = np.isin(bins[rows, split.feature], sorted(split.left))
        assert squared(g[rows[goes]]) + squared(g[rows[~goes]]) <= squared(g[rows]) + 1e-9
        leaves[parent] = rows[goes]
        leaves.append(rows[~goes])


def test_equal_gradients_are_not_split() -> None:
    """No split gains anything: what is left of the difference of two scores is a rounding."""
    X = np.random.default_rng(0).normal(size=(300, 5)).astype(np.float32)
    for value in (0.0, 0.1, -0.7, 12345.678):
        problem = Problem(
            X, np.full(300, value, np.float32), np.ones(300, np.float32), Shape(min_samples_leaf=1)
        )
        assert problem.grow()[1].n_leaves == 1


@pytest.mark.parametrize("exact_counts", [False, True])
@pytest.mark.parametrize("least", [1, 3, 10, 25, 26])
def test_min_samples_leaf_is_held_to_and_reached(exact_counts: bool, least: int) -> None:
    """The best cut leaves 10 rows; hessians that differ a hundredfold mislead a guess."""
    random = np.random.default_rng(least)
    X = np.arange(50, dtype=np.float32).reshape(-1, 1)
    g = np.where(np.arange(50) < 10, -5, 1) + random.normal(size=50) * 0.01
    h = random.choice([0.01, 1.0], 50) if exact_counts else np.where(np.arange(50) < 10, 1, 0.01)
    shape = Shape(min_samples_leaf=least, exact_counts=exact_counts, max_leaf_nodes=50, min_hessian=0)
    _, grown = Problem(X, g.astype(np.float32), h.astype(np.float32), shape).grow()
    assert grown.rows.min() >= least
    if exact_counts:
        assert grown.n_leaves == 1 if least > 25 else grown.n_leaves > 1


def test_a_side_of_exactly_the_minimum_is_found() -> None:
    """Rows told from hessians are divided and multiplied: a rounding must not cost the minimum."""
    for n in (40, 47, 52) if JIT_OFF else range(30, 90):
        X = np.arange(n, dtype=np.float32).reshape(-1, 1)
        for least in range(1, 8):
            shape = Shape(min_samples_leaf=least, max_leaf_nodes=2)
            for left in (least, n - least):
                g = np.where(np.arange(n) < left, -1, 1).astype(np.float32)
                _, grown = Problem(X, g, np.ones(n, np.float32), shape).grow()
                assert grown.rows.tolist() == [left, n - left]


def test_a_leaf_that_was_guessed_too_large_is_searched_again() -> None:
    """One row has nearly all of the hessian: the guess takes it for most of the rows."""
    X = np.arange(20, dtype=np.float32).reshape(-1, 1)
    g = np.r_[-10, np.linspace(-1, 1, 19)].astype(np.float32)
    h = np.r_[10, np.ones(19)].astype(np.float32)
    _, grown = Problem(X, g, h, Shape(min_samples_leaf=5, max_leaf_nodes=2)).grow()
    assert grown.n_leaves == 2 and grown.rows.min() >= 5


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_max_depth(depth: int) -> None:
    X = np.random.default_rng(0).normal(size=(60, 2)).astype(np.float32)
    g = np.random.default_rng(1).normal(size=60).astype(np.float32)
    shape = Shape(max_depth=depth, max_leaf_nodes=50, min_samples_leaf=1)
    _, grown = Problem(X, g, np.ones(60, np.float32), shape).grow()
    assert grown.n_leaves == 2**depth or depth == 3
    depths = [0]
    for parent, _ in splits_of(grown):
        depths[parent] += 1
        depths.append(depths[parent])
    assert max(depths) == depth


def test_min_gain_and_min_hessian_and_leaves() -> None:
    X = np.arange(8, dtype=np.float32).reshape(-1, 1)
    g = np.float32([-3, -1, 1, 1, 1, 1, 1, 1])
    h = np.float32([0.5, 0.5, 1, 1, 1, 1, 1, 1])
    grow = lambda **limits: Problem(X, g, h, Shape(min_samples_leaf=1, **limits)).grow()[1]  # noqa: E731
    first = float(grow(max_leaf_nodes=2).growth.gains[0])
    assert first == pytest.approx(16 / 1 + 36 / 6 - 4 / 7, rel=1e-5)
    assert grow(max_leaf_nodes=2, min_gain=first * 1.01).n_leaves == 1
    assert grow(max_leaf_nodes=2, min_gain=first * 0.99).n_leaves == 2
    assert grow(max_leaf_nodes=8, min_hessian=1.0).rows.tolist() == [2, 6]
    assert grow(max_leaf_nodes=8, min_hessian=0.5).n_leaves == 3
    assert float(grow(max_leaf_nodes=2, l2_regularization=1.0).growth.gains[0]) == pytest.approx(
        16 / 2 + 36 / 7 - 4 / 8, rel=1e-5
    )


def test_rows_without_gradient_and_hessian_do_not_hinder_others() -> None:
    X = np.arange(8, dtype=np.float32).reshape(-1, 1)
    g, h = np.float32([0, 0, -1, -1, 1, 1, 0, 0]), np.float32([0, 0, 1, 1, 1, 1, 0, 0])
    shape = Shape(min_samples_leaf=1, min_hessian=0.0, exact_counts=True)
    _, grown = Problem(X, g, h, shape).grow()
    assert leaf_rows(grown) == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_nothing_to_learn_gives_one_leaf() -> None:
    X = np.arange(8, dtype=np.float32).reshape(-1, 1)
    nothing = np.zeros(8, np.float32)
    for exact in (False, True):
        shape = Shape(min_samples_leaf=1, min_hessian=0.0, exact_counts=exact)
        grower, grown = Problem(X, nothing, nothing, shape).grow()
        assert leaf_rows(grown) == [list(range(8))]
        assert grower.newton_values(grown, nothing, nothing).tolist() == [0.0]


def test_features_that_are_not_allowed_are_not_used() -> None:
    random = np.random.default_rng(0)
    X, g = random.normal(size=(60, 20)).astype(np.float32), random.normal(size=60).astype(np.float32)
    problem = Problem(X, g, np.ones(60, np.float32), Shape(min_samples_leaf=2))
    allowed = np.zeros(20, np.bool_)
    allowed[[3, 18]] = True
    grower, grown = problem.grow(features=allowed)
    assert {split.feature for _, split in splits_of(grown)} == {3, 18}
    again = grower.grow(problem.g, problem.h)
    assert len({split.feature for _, split in splits_of(again)}) > 2  # nothing stays behind


@pytest.mark.parametrize("per_node", [1, 5, 20, 30])
def test_each_node_looks_at_so_many_features(per_node: int) -> None:
    """Counted where they are drawn; over many seeds each feature has its turn."""
    random = np.random.default_rng(0)
    X, g = random.normal(size=(40, 20)).astype(np.float32), random.normal(size=40).astype(np.float32)
    shape = Shape(min_samples_leaf=2, max_leaf_nodes=4, features_per_node=per_node)
    grower = Grower(Problem(X, g, g, shape).data, shape, 1)
    chosen, seeds = np.zeros(20), 10 if JIT_OFF else 60
    allowed = np.ones(20, np.bool_)
    allowed[7] = False
    for seed in range(seeds):
        grower.grow(g, np.ones(40, np.float32), seed=seed, features=allowed)
        drawn = grower._shared.allowed[:2].astype(bool)
        assert (drawn.sum(axis=1) == min(per_node, 19)).all() and not drawn[:, 7].any()
        chosen += drawn.sum(axis=0)
    if not JIT_OFF:
        expected = 2 * seeds * min(per_node, 19) / 19
        assert np.abs(np.delete(chosen, 7) - expected).max() <= 5 * np.sqrt(expected)


def test_random_bins() -> None:
    """One threshold a feature, drawn anew for each node and seed; all that is allowed comes up."""
    X = np.arange(10, dtype=np.float32).reshape(-1, 1)
    g = np.linspace(-1, 1, 10).astype(np.float32)
    shape = Shape(min_samples_leaf=1, max_leaf_nodes=2, random_bins=True)
    grower = Grower(Problem(X, g, g, shape).data, shape, 1)
    sizes = [int(grower.grow(g, np.ones(10, np.float32), seed=seed).rows[0]) for seed in range(200)]
    assert set(sizes) == {*range(1, 11)}  # 10: the bin that was drawn has nothing on its left
    assert sizes[:20] == [
        int(grower.grow(g, np.ones(10, np.float32), seed=seed).rows[0]) for seed in range(20)
    ]


@settings(max_examples=EXAMPLES // 2)
@given(problems(), st.sampled_from([1, 2, 3]))
def test_random_trees_hold_to_their_limits_on_any_threads(problem: Problem, per_node: int) -> None:
    shape = dataclasses.replace(problem.shape, random_bins=True, features_per_node=per_node)
    problem = dataclasses.replace(problem, shape=shape)
    first, second = (problem.grow(jobs, seed=5)[1] for jobs in (1, 2))
    assert arrays_of(first) == arrays_of(second)
    if first.n_leaves > 1:
        assert first.rows.min() >= shape.min_samples_leaf


def test_missing_goes_to_the_side_that_gains_more() -> None:
    X = np.float32([1, 1, 2, 2, np.nan, np.nan]).reshape(-1, 1)
    for like, expected in ((-1, {0, 1}), (1, {1})):
        g = np.float32([-1, -1, 1, 1, like, like])
        shape = Shape(min_samples_leaf=1, max_leaf_nodes=2)
        grower, grown = Problem(X, g, np.ones(6, np.float32), shape).grow()
        [(_, split)] = splits_of(grown)
        assert split.left == expected
        tree = grower.tree(grown, np.zeros(2))
        assert tree.threshold.tolist() == [1.5] and tree.missing_left.tolist() == [like < 0]


def test_missing_alone_may_be_a_side() -> None:
    X = np.float32([1, 2, 3, np.nan, np.nan]).reshape(-1, 1)
    g = np.float32([1, 1, 1, -1, -1])
    grower, grown = Problem(X, g, np.ones(5, np.float32), Shape(min_samples_leaf=1, max_leaf_nodes=2)).grow()
    tree = grower.tree(grown, np.zeros(2))
    # Either way round: all values or none of them go left.
    if tree.missing_left[0]:
        assert leaf_rows(grown) == [[3, 4], [0, 1, 2]] and tree.threshold.tolist() == [-np.inf]
    else:
        assert leaf_rows(grown) == [[0, 1, 2], [3, 4]] and tree.threshold.tolist() == [np.inf]


@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("missing_is", [-1, 1])
def test_a_direction_does_not_keep_missing_from_being_a_side(direction: int, missing_is: int) -> None:
    X = np.float32([1, 2, 3, np.nan, np.nan]).reshape(-1, 1)
    g = np.float32([-missing_is] * 3 + [missing_is] * 2)
    shape = Shape(min_samples_leaf=1, max_leaf_nodes=2, monotone=[direction])
    _, grown = Problem(X, g, np.ones(5, np.float32), shape).grow()
    assert sorted(leaf_rows(grown)) == [[0, 1, 2], [3, 4]]


def test_what_was_never_missing_goes_with_the_most_rows() -> None:
    X = np.arange(10, dtype=np.float32).reshape(-1, 1)
    for cut in (3, 5, 7):
        g = np.where(np.arange(10) < cut, -1, 1).astype(np.float32)
        shape = Shape(min_samples_leaf=1, max_leaf_nodes=2)
        grower, grown = Problem(X, g, np.ones(10, np.float32), shape).grow()
        assert grower.tree(grown, np.zeros(2)).missing_left.tolist() == [cut >= 5]


@pytest.mark.parametrize("categories", [3, 255, 300])
def test_categories_of_like_gradient_go_together(categories: int) -> None:
    random = np.random.default_rng(0)
    codes = np.tile(np.arange(categories), 3)
    X = codes.astype(np.float32).reshape(-1, 1)
    good = random.random(categories) < 0.5
    good[:2] = True, False
    g = np.where(good[codes], -1, 1).astype(np.float32)
    shape = Shape(min_samples_leaf=1, max_leaf_nodes=2)
    _, grown = Problem(X, g, np.ones(len(g), np.float32), shape, categorical=(0,)).grow()
    # Beyond 255 categories the last are as good as missing, all together.
    known = codes < 255
    left = np.zeros(len(g), bool)
    left[leaf_rows(grown)[0]] = True
    assert (left == (g < 0))[known].all()


@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("exact_counts", [False, True])
def test_monotone_features(direction: int, exact_counts: bool) -> None:
    """Values rise (fall) along the feature whatever the others are, though the data does the opposite."""
    random = np.random.default_rng(0)
    n = 100 if JIT_OFF else 400
    X = random.normal(size=(n, 3)).astype(np.float32)
    g = (direction * np.sin(3 * X[:, 1]) + X[:, 0] * X[:, 1] + random.normal(size=n) / 2).astype(np.float32)
    h = random.uniform(0.1, 1, n).astype(np.float32)
    shape = Shape(
        min_samples_leaf=2, max_leaf_nodes=30, monotone=[0, direction, 0], exact_counts=exact_counts
    )
    problem = Problem(X, g, h, shape)
    grower, grown = problem.grow()
    values = grower.newton_values(grown, problem.g, problem.h)
    assert 1 in {split.feature for _, split in splits_of(grown)}
    made = splits_of(grown)
    line, rises = np.unique(problem.data.columns[1]), 0
    for row in problem.data.columns.T[:20]:
        along = [values[naive.leaf_of([row[0], b, row[2]], made)] for b in line]
        assert (direction * np.diff(along) >= 0).all()
        rises += (np.diff(along) != 0).any()
    assert rises > 0
    free = Problem(X, g, h, dataclasses.replace(shape, monotone=None))
    grower, grown = free.grow()
    values, made = grower.newton_values(grown, g, h), splits_of(grown)
    broken = [
        (direction * np.diff([values[naive.leaf_of([row[0], b, row[2]], made)] for b in line]) < 0).any()
        for row in problem.data.columns.T[:20]
    ]
    assert any(broken)  # without the constraint it does not hold


def test_a_grower_grows_one_tree_after_another() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 3)).astype(np.float32)
    problem = Problem(X, np.zeros(40, np.float32), np.ones(40, np.float32), Shape(min_samples_leaf=2))
    grower = Grower(problem.data, problem.shape, 2)
    for _ in range(3):
        g = random.normal(size=40).astype(np.float32)
        fresh = dataclasses.replace(problem, g=g).grow()[1]
        assert arrays_of(grower.grow(g, problem.h)) == arrays_of(fresh)
    assert (grower.grow(g, problem.h).growth.splits[:, 1 + FEATURE] < 3).all()
