"""MART and McRank against their twins, tree by tree, and what theory says of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.naive import boosting as naive
from tests.naive import trees as naive_trees

import rankwright as rw
from rankwright.learners.mart import MART
from rankwright.learners.mcrank import McRank

JIT_OFF = os.environ.get("NUMBA_DISABLE_JIT") == "1"
ROWS, LABELS = 36, 3
SETTINGS: Any = {"max_leaf_nodes": 4, "min_samples_leaf": 4, "n_estimators": 2, "learning_rate": 0.5}


def data(seed: int) -> rw.QuerySet:
    random = np.random.default_rng(seed)
    X = random.normal(size=(ROWS, 3)).astype(np.float32)
    y = np.clip(np.round(X[:, 0] + 0.5 * X[:, 1] + 0.7 * random.normal(size=ROWS) + 0.8), 0, LABELS - 1)
    y[:LABELS] = np.arange(LABELS)
    return rw.QuerySet(X, y, qid=np.repeat(np.arange(3), 12))


def case(name: str, y: Any) -> tuple[Any, Any, Callable[[Any], Any], Any, bool]:
    """The learner; where its twin starts, what it follows, its weights, its kind of splits."""
    relevant = np.where(y >= 1, 1.0, -1.0)
    good, other = float((y >= 1).sum()), float((y < 1).sum())
    shares = np.bincount(y.astype(int), minlength=LABELS) / ROWS
    above = np.array([(y > k).mean() for k in range(LABELS - 1)])
    ones, half = np.ones(ROWS), ROWS / 2
    balanced = np.where(relevant > 0, half / good, half / other)
    logit = np.log(above / (1 - above))
    multiclass = np.log(shares), lambda scores: naive.classes(y, LABELS, scores), None
    ordinal = logit, lambda scores: naive.thresholds(y, LABELS, scores), None
    return {
        "squared": (MART(**SETTINGS), [y.mean()], lambda s: naive.squares(y, s), None, False),
        "logistic": (
            MART(loss="logistic", sigma=1.5, **SETTINGS), [np.log(good / other) / 3],
            lambda s: naive.two_classes(relevant, ones, 1.5, s), None, False,
        ),
        "balanced": (
            MART(loss="balanced", **SETTINGS), [0.0],
            lambda s: naive.two_classes(relevant, balanced, 1.0, s), balanced, False,
        ),
        "several classes": (MART(loss="multiclass", **SETTINGS), *multiclass, False),
        "mcrank": (McRank(**SETTINGS), *multiclass, True),
        "mcrank paper": (McRank(mode="paper", **SETTINGS), *multiclass, False),
        "ordinal": (McRank(form="ordinal", **SETTINGS), *ordinal, True),
        "ordinal paper": (McRank(form="ordinal", mode="paper", **SETTINGS), *ordinal, False),
    }[name]  # fmt: skip


CASES = (
    "squared", "logistic", "balanced", "several classes",
    "mcrank", "mcrank paper", "ordinal", "ordinal paper",
)  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_tree_by_tree(name: str) -> None:
    """The step of every row, until a choice of splits is too close to call."""
    compared = 0
    for seed in range(2 if JIT_OFF else 6):
        queries = data(seed)
        ranker, start, found, weights, second_order = case(name, queries.labels)
        # Minimum rows are exact beside weights only where rows are counted.
        ranker.set_params(exact_counts=True)
        ranker.fit(queries)
        X = queries.features
        bounds = [naive_trees.equal_weight_bounds(column, 255) for column in X.T]
        bins = np.array([[naive_trees.bin_of(v, b) for v, b in zip(x, bounds, strict=True)] for x in X])
        expected, scores = naive.boosted(
            bins, start, found, steps=2, rate=0.5, weights=weights, second_order=second_order,
            options=naive_trees.Options(leaves=4, min_rows=4),
        )  # fmt: skip
        before, scorer = np.tile(np.array(start, float), (ROWS, 1)), ranker.scorer_
        for t, tree in enumerate(expected):
            if tree.margin < 1e-4:
                break
            after, steps = np.empty((ROWS, len(start))), np.zeros(ROWS)
            scorer.first(t + 1).outputs(X, after)
            for rows, value in zip(tree.rows, tree.values, strict=True):
                steps[rows] = value
            np.testing.assert_allclose((after - before)[:, t % len(start)], steps, rtol=1e-3, atol=1e-6)
            before = after
            compared += 1
        else:
            np.testing.assert_allclose(before.T, scores, rtol=1e-3, atol=1e-5)
    assert compared >= (2 if JIT_OFF else 6), compared


def test_several_classes_are_ranked_by_the_expected_label() -> None:
    queries = data(0)
    ranker = MART(loss="multiclass", **SETTINGS).fit(queries)
    out = np.empty((ROWS, LABELS))
    ranker.scorer_.outputs(queries.features, out)
    p = np.exp(out) / np.exp(out).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(ranker.predict(queries), p @ np.arange(LABELS), rtol=1e-9)


def test_balanced_classes_weigh_the_same() -> None:
    """Equation 15: relevant documents twice over make no difference but to the minimum of rows."""
    queries = data(1)
    once = np.arange(ROWS)
    twice = np.concatenate([once, np.flatnonzero(queries.labels >= 1)])
    doubled = rw.QuerySet(queries.features[twice], queries.labels[twice], qid=1)
    settings = SETTINGS | {"min_samples_leaf": 1, "min_hessian": 0.0, "exact_counts": True}
    first, second = (MART(loss="balanced", **settings).fit(each) for each in (queries, doubled))
    np.testing.assert_allclose(first.predict(queries), second.predict(queries), rtol=1e-4)


def test_sigma_makes_no_difference_to_the_order() -> None:
    queries = data(2)
    scores = [MART(loss="logistic", sigma=s, **SETTINGS).fit(queries).predict(queries) for s in (1.0, 2.0)]
    np.testing.assert_allclose(scores[1] * 2, scores[0], rtol=1e-4)


@pytest.mark.parametrize(
    ("learner", "labels", "message"),
    [
        (MART(loss="hinge"), [0, 1], "loss is 'hinge'"),
        (MART(loss="logistic", sigma=0.0), [0, 1], "sigma is 0.0"),
        (MART(loss="logistic", threshold=3), [0, 1], "all labels are on one side of 3"),
        (MART(loss="multiclass"), [0, 0.5], "row 1: label 0.5 is not a class"),
        (McRank(), [0, 0], "all labels are 0"),
        (McRank(form="nominal"), [0, 1], "form is 'nominal'"),
        (McRank(mode="letter"), [0, 1], "mode is 'letter'"),
    ],
)
def test_refusals(learner: Any, labels: Any, message: str) -> None:
    with pytest.raises(rw.InputError, match=message):
        learner.fit(np.zeros((2, 1)), labels, qid=1)
