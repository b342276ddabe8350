"""The kernel scorer: sums of kernel functions, the same bits in any batch, files that are checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file
from tests.naive import networks as naive

import rankwright as rw
from rankwright.scorers.base import ROWS_AT_ONCE


def a_scorer(**settings: Any) -> rw.KernelScorer:
    rng = np.random.default_rng(0)
    return rw.KernelScorer(rng.standard_normal((7, 3)), rng.standard_normal(7), **settings)


@pytest.mark.parametrize(
    ("function", "gamma", "degree"), [("rbf", 0.5, 3), ("polynomial", 0.3, 3), ("polynomial", 1.0, 1)]
)
def test_scores_are_sums_of_kernel_functions(function: str, gamma: float, degree: int) -> None:
    scorer = a_scorer(function=function, gamma=gamma, degree=degree)
    X = np.random.default_rng(1).standard_normal((9, 3)).astype(np.float32)
    expected = [
        sum(
            c * naive.kernel_value(function, gamma, degree, x, z)
            for c, z in zip(scorer.coefficients, np.asarray(scorer.centres), strict=True)
        )
        for x in X.astype(float)
    ]
    np.testing.assert_allclose(scorer.predict(X), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("function", ["rbf", "polynomial"])
@pytest.mark.parametrize("width", [1, 3, 46])
def test_a_score_does_not_depend_on_the_rows_around_it(function: str, width: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS_AT_ONCE + 77, width)).astype(np.float32)
    scorer = rw.KernelScorer(rng.standard_normal((33, width)), rng.standard_normal(33), function, gamma=0.2)
    scores = scorer.predict(X)
    for begin, end in [(0, 1), (5, 12), (1, ROWS_AT_ONCE + 2), (700, len(X))]:
        assert np.array_equal(scorer.predict(X[begin:end]), scores[begin:end])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"centres": np.zeros((7, 2))}, "shape"),
        ({"centres": np.zeros((6, 3))}, "shape"),
        ({"centres": np.full((7, 3), np.nan)}, "not finite"),
        ({"coefficients": None}, "shape|missing"),
        ({"coefficients": np.zeros(())}, "shape"),
        ({"coefficients": np.full(7, np.inf)}, "not finite"),
        ({"function": np.array(5)}, "kernel"),
        ({"function": np.array(-1)}, "kernel"),
        ({"gamma": np.array(0.0)}, "gamma"),
        ({"gamma": np.array(np.nan)}, "not finite"),
        ({"degree": np.array(10**9)}, "degree"),
        ({"degree": np.array(2.0)}, "degree"),
        ({"more": np.zeros(1)}, "no place"),
    ],
)
def test_every_part_of_a_file_is_checked(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    a_scorer().save(tmp_path / "kernel.rw")
    arrays = load_file(tmp_path / "kernel.rw")
    with safe_open(tmp_path / "kernel.rw", "numpy") as file:
        header = file.metadata()
    for name, array in changes.items():
        arrays.pop(name, None)
        if array is not None:
            arrays[name] = array
    save_file(arrays, tmp_path / "changed.rw", header)
    with pytest.raises(rw.InputError, match=message):
        rw.load(tmp_path / "changed.rw")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"centres": [[1.0], [2.0]]}, "centres"),
        ({"centres": [1.0]}, "centres"),
        ({"centres": [[np.inf]]}, "finite"),
        ({"function": "linear"}, "no kernel"),
        ({"gamma": -1.0}, "gamma"),
        ({"degree": 2.5}, "degree"),
    ],
)
def test_refuses_what_is_no_kernel(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(rw.InputError, match=message):
        rw.KernelScorer(**{"centres": [[1.0]], "coefficients": [1.0], **settings})
