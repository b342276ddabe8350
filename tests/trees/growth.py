"""What the tests of trees share: random data in bins, growing on it, and the naive twin's view of it."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from tests.naive import trees as naive

from rankwright.trees import growing
from rankwright.trees.binning import BinnedData, Bins
from rankwright.trees.grower import Grower, GrownTree, Shape
from rankwright.trees.splitting import SET

JIT_OFF = os.environ.get("NUMBA_DISABLE_JIT") == "1"
needs_jit = pytest.mark.skipif(JIT_OFF, reason="the JIT is off: there is one form only")


@dataclasses.dataclass(frozen=True, eq=False)
class Problem:
    """Gradients to grow a tree on, and what the tree may be."""

    X: Any
    g: Any
    h: Any
    shape: Shape
    categorical: tuple[int, ...] = ()
    max_bins: int = 255
    rows: Any = None

    @property
    def data(self) -> BinnedData:
        return Bins.of(self.X, self.max_bins, self.categorical).assign(self.X)

    @property
    def options(self) -> naive.Options:
        """The same for the naive twin."""
        shape = self.shape
        return naive.Options(
            leaves=shape.max_leaf_nodes,
            depth=shape.max_depth,
            min_rows=shape.min_samples_leaf,
            min_hessian=shape.min_hessian,
            l2=shape.l2_regularization,
            min_gain=shape.min_gain,
            monotone=tuple(shape.monotone or ()),
            categorical=self.categorical,
            has_missing=tuple(np.flatnonzero(np.isnan(self.X).any(axis=0))),
            # Equal hessians tell the rows.
            exact_counts=shape.exact_counts or len(set(self.h.tolist())) == 1,
        )

    def grow(self, n_jobs: int = 1, **options: Any) -> tuple[Grower, GrownTree]:
        grower = Grower(self.data, self.shape, n_jobs)
        return grower, grower.grow(self.g, self.h, rows=self.rows, **options)

    def grow_naively(self) -> tuple[list[Any], list[naive.Leaf]]:
        rows = range(len(self.X)) if self.rows is None else self.rows.tolist()
        return naive.grow(self.data.columns.T, self.g, self.h, rows, self.options)


def splits_of(grown: GrownTree) -> list[tuple[int, naive.Split]]:
    """The splits that were made, as the naive twin has them."""
    made = []
    for k in range(grown.n_leaves - 1):
        parent, feature = grown.growth.splits[k, :2].tolist()
        words = grown.growth.splits[k, 1 + SET : 1 + SET + 4].tolist()
        left = frozenset(b for b in range(256) if words[b >> 6] >> (b & 63) & 1)
        made.append((parent, naive.Split(float(grown.growth.gains[k]), feature, left)))
    return made


def leaf_rows(grown: GrownTree) -> list[list[int]]:
    """The rows of each leaf, in their order."""
    bounds = zip(grown.begins.tolist(), grown.rows.tolist(), strict=True)
    return [grown.index[begin : begin + n].tolist() for begin, n in bounds]


def in_plain_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let trees grow without the compiler."""
    monkeypatch.setattr(growing, "grow", growing.grow.plain)


@st.composite
def problems(draw: Any, **fixed: Any) -> Problem:
    """Small problems of all kinds: ties, constants, missing values, categories, weights, limits."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.sampled_from([1, 2, 3, 8, 20, 40]))
    n_features = draw(st.sampled_from([1, 2, 3, 17, 18] if JIT_OFF else [1, 2, 3, 16, 17, 18, 34, 40]))
    kinds = random.choice(["constant", "missing", "ties", "values", "holes", "categories"], n_features)
    columns = {
        "constant": lambda: np.full(n, 3.0),
        "missing": lambda: np.full(n, np.nan),
        "ties": lambda: random.integers(0, 3, n),
        "values": lambda: random.normal(size=n),
        "holes": lambda: random.choice([np.nan, 1.0, 2.0, 5.0], n),
        "categories": lambda: random.integers(0, 6, n),
    }
    X = np.array([columns[kind]() for kind in kinds], np.float32).T.copy()
    categorical = tuple(np.flatnonzero(kinds == "categories").tolist())
    directions = np.where(kinds == "categories", 0, random.integers(-1, 2, n_features)).tolist()
    shape = Shape(
        max_leaf_nodes=draw(st.sampled_from([2, 3, 6, 50])),
        max_depth=draw(st.sampled_from([None, None, 1, 2])),
        min_samples_leaf=draw(st.sampled_from([1, 2, 5])),
        min_hessian=draw(st.sampled_from([0.0, 1e-3, 1.0])),
        l2_regularization=draw(st.sampled_from([0.0, 0.0, 1.0, 10.0])),
        min_gain=draw(st.sampled_from([0.0, 0.0, 0.5])),
        monotone=draw(st.sampled_from([None, directions])),
        exact_counts=draw(st.booleans()),
    )
    g = random.normal(size=n) if draw(st.booleans()) else random.integers(-2, 3, n)
    h = np.ones(n) if draw(st.booleans()) else random.uniform(0.1, 1, n)
    rows = np.flatnonzero(random.random(n) < 0.7).astype(np.uint32) if draw(st.booleans()) else None
    if rows is not None and not len(rows):
        rows = np.array([n - 1], np.uint32)
    problem = Problem(
        X,
        g.astype(np.float32),
        h.astype(np.float32),
        shape,
        categorical,
        draw(st.sampled_from([255, 4])),
        rows,
    )
    return dataclasses.replace(problem, **fixed)
