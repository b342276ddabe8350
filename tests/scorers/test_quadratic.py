"""The quadratic scorer: every product once, any batch, its file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.naive import perceptrons as naive

import rankwright as rw
from rankwright.scorers.quadratic import add_row, combinations, row_score, score_rows


@pytest.mark.parametrize("d", [1, 2, 5])
def test_weighs_every_feature_and_product(d: int) -> None:
    random = np.random.default_rng(d)
    X = random.standard_normal((7, d)).astype(np.float32)
    weights = random.standard_normal(combinations(d))
    expected = [naive.dot(weights, naive.quadratic(x.astype(float).tolist())) for x in X]
    np.testing.assert_allclose(rw.QuadraticScorer(weights).predict(X), expected, rtol=1e-10)
    out = np.empty(7)
    score_rows(X, weights[:d].copy(), out)  # without weights of products they are left out
    np.testing.assert_allclose(out, X.astype(float) @ weights[:d], rtol=1e-6)


@pytest.mark.parametrize("full", [False, True])
def test_adding_a_row_moves_its_score_by_its_square(full: bool) -> None:
    row = np.array([1.0, -2.0, 0.5], np.float32)
    weights = np.zeros(combinations(3) if full else 3)
    add_row(2.0, row, weights)
    image = naive.quadratic(row.tolist()) if full else row.tolist()
    np.testing.assert_allclose(weights, 2.0 * np.array(image))
    assert row_score(row, weights) == pytest.approx(2.0 * naive.dot(image, image))


def test_a_score_does_not_depend_on_the_rows_around_it(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    X = random.standard_normal((1100, 9)).astype(np.float32)
    transform = rw.Standardising.of(X)
    scorer = rw.QuadraticScorer(random.standard_normal(combinations(9)), transform=transform)
    scores = scorer.predict(X)
    assert np.array_equal(scorer.predict(X[1000:1003]), scores[1000:1003])
    scorer.save(tmp_path / "model.rw")
    assert np.array_equal(rw.load(tmp_path / "model.rw").predict(X), scores)


@pytest.mark.parametrize("weights", [[1.0], [1.0, 2.0, 3.0], [np.nan, 1.0]])
def test_refuses_what_is_no_such_model(weights: Any) -> None:
    with pytest.raises(rw.InputError, match="weights"):
        rw.QuadraticScorer(weights)


def test_a_missing_feature_is_named() -> None:
    with pytest.raises(rw.InputError, match="row 1"):
        rw.QuadraticScorer([1.0, 1.0]).predict([[1.0], [np.nan]])
