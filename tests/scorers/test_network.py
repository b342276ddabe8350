"""The network scorer: the papers' net, the same bits in any batch, files that are checked in every part."""

from __future__ import annotations

import concurrent.futures
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from tests.naive import networks as naive

import rankwright as rw
from rankwright.scorers.base import ROWS_AT_ONCE

SIZES = (5, 4, 3, 1)


def a_net(sizes: tuple[int, ...] = SIZES, seed: int = 0, **about: Any) -> tuple[rw.NetworkScorer, Any]:
    weights = np.random.default_rng(seed).standard_normal(
        sum((a + 1) * b for a, b in itertools.pairwise(sizes))
    )
    return rw.NetworkScorer(naive.split(sizes, weights), **about), weights


@pytest.mark.parametrize("sizes", [(5, 1), (5, 4, 1), SIZES])
def test_scores_are_the_papers_net(sizes: tuple[int, ...]) -> None:
    scorer, weights = a_net(sizes)
    X = np.random.default_rng(1).standard_normal((20, 5)).astype(np.float32)
    expected = [naive.output(sizes, weights, x) for x in X]
    np.testing.assert_allclose(scorer.predict(X), expected, rtol=1e-12, atol=1e-13)
    assert scorer.sizes == sizes and scorer.n_features == 5


def test_a_score_does_not_depend_on_the_rows_around_it() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2 * ROWS_AT_ONCE + 77, 5)).astype(np.float32)
    scorer, _ = a_net(transform=rw.Standardising.of(X))
    scores = scorer.predict(X)
    for begin, end in [(0, 1), (5, 12), (1, ROWS_AT_ONCE + 2), (700, len(X))]:
        assert np.array_equal(scorer.predict(X[begin:end]), scores[begin:end])
    order = rng.permutation(len(X))
    assert np.array_equal(scorer.predict(X[order]), scores[order])
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert all(np.array_equal(scores, each) for each in pool.map(scorer.predict, [X] * 4))


def test_comes_back_from_its_file(tmp_path: Path) -> None:
    scorer, _ = a_net(transform=rw.Standardising([0.0] * 5, [2.0] * 5), measure="map")
    scorer.save(tmp_path / "net.rw")
    again = rw.load(tmp_path / "net.rw")
    X = np.random.default_rng(1).standard_normal((20, 5))
    assert isinstance(again, rw.NetworkScorer) and again.sizes == SIZES
    assert np.array_equal(again.predict(X), scorer.predict(X))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"1.weights": None}, "last one has one unit"),
        ({"1.offsets": None}, "'1.offsets' is missing"),
        ({"0.weights": None}, "no place|at least one layer"),
        ({"2.weights": np.zeros((1, 4))}, r"not float64 of shape \(1, 3\)"),
        ({"2.weights": np.zeros((2, 3)), "2.offsets": np.zeros(2)}, "last one has one unit"),
        ({"0.weights": np.zeros((4, 6))}, r"not float64 of shape \(4, 5\)"),
        ({"0.weights": np.zeros((4, 5), np.float32)}, "float32"),
        ({"0.weights": np.zeros(5)}, "shape"),
        ({"0.weights": np.zeros(())}, "shape"),
        ({"0.offsets": np.array([0, 0, 0, np.nan])}, "not finite"),
        ({"1.weights": np.full((3, 4), np.inf)}, "not finite"),
        ({"3.weights": np.zeros((1, 1)), "3.offsets": np.zeros(0)}, "shape"),
        ({"4.weights": np.zeros((1, 1))}, "no place"),
        ({"1.weights": np.zeros((0, 4)), "1.offsets": np.zeros(0)}, "not float64|units"),
        ({"extra": np.zeros(1)}, "no place"),
    ],
)
def test_every_part_of_a_file_is_checked(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    from safetensors import safe_open

    a_net()[0].save(tmp_path / "net.rw")
    arrays = load_file(tmp_path / "net.rw")
    with safe_open(tmp_path / "net.rw", "numpy") as file:
        header = file.metadata()
    for name, array in changes.items():
        if array is None:
            del arrays[name]
        else:
            arrays[name] = array
    save_file(arrays, tmp_path / "changed.rw", header)
    with pytest.raises(rw.InputError, match=message):
        rw.load(tmp_path / "changed.rw")


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ([], "at least one layer"),
        ([([[1.0]], [0.0]), ([[1.0, 2.0]], [0.0])], "layer 1 has 2 inputs and the layer before it 1 units"),
        ([([[1.0], [2.0]], [0.0, 0.0])], "last one has one unit"),
        ([([[1.0]], [0.0, 0.0])], "layer 0 has weights for 1 units and 2 offsets"),
        ([([1.0], [0.0])], "dimensions"),
        ([([[1.0]], [[0.0]])], "dimensions"),
        ([([[np.nan]], [0.0])], "not all finite"),
    ],
)
def test_refuses_what_is_no_net(layers: Any, message: str) -> None:
    with pytest.raises(rw.InputError, match=message):
        rw.NetworkScorer(layers)


def test_missing_values_are_named() -> None:
    with pytest.raises(rw.InputError, match=r"row 1: .*NaN in column 2"):
        a_net()[0].predict([[0] * 5, [0, 0, np.nan, 0, 0]])


def test_its_arrays_cannot_be_changed() -> None:
    scorer, _ = a_net()
    with pytest.raises(ValueError, match="read-only"):
        scorer.layers[0][0][0, 0] = 1.0  # type: ignore[index]
