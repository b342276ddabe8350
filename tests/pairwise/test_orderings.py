"""Drawn orderings: the twin's numbers, Plackett and Luce's frequencies, λ's ranked by other keys."""

from __future__ import annotations

import itertools
import os

import numpy as np
import pytest
from tests.naive import lambdas as naive_lambdas
from tests.naive import softmax_lists as naive

from rankwright.measures import measure
from rankwright.measures.lists import Lists
from rankwright.pairwise.lambdas import Lambdas
from rankwright.pairwise.orderings import drawn_keys, uniform

JIT_OFF = os.environ.get("NUMBA_DISABLE_JIT") == "1"


def keys_of(seed: int, noise: float, scores: np.ndarray, pieces: int = 1) -> np.ndarray:
    keys = np.full(len(scores), np.nan)
    bounds = np.linspace(0, len(scores), pieces + 1).astype(int)
    for begin, end in itertools.pairwise(bounds.tolist()):
        drawn_keys(np.uint64(seed), noise, scores, begin, end, keys)
    return keys


@pytest.mark.parametrize("seed", [0, 1, 2**40 + 5])
def test_the_numbers_of_the_twin(seed: int) -> None:
    scores = np.random.default_rng(0).normal(size=60)
    drawn = [uniform(np.uint64(seed), np.uint64(row)) for row in range(60)]
    assert [float(u) for u in drawn] == [naive.uniform(seed, row) for row in range(60)]
    expected = [score + 0.5 * naive.gumbel(seed, row) for row, score in enumerate(scores)]
    np.testing.assert_allclose(keys_of(seed, 0.5, scores), expected, rtol=1e-5, atol=1e-6)
    assert np.array_equal(keys_of(seed, 0.0, scores), scores)
    assert np.array_equal(keys_of(seed, 0.5, scores, pieces=4), keys_of(seed, 0.5, scores))


def test_the_first_document_is_drawn_as_plackett_and_luce_have_it() -> None:
    scores, draws = np.log([1.0, 2.0, 5.0]), 300 if JIT_OFF else 4000
    first = [int(np.argmax(keys_of(seed, 1.0, scores))) for seed in range(draws)]
    shares = np.bincount(first, minlength=3) / draws
    assert np.abs(shares - np.array([1, 2, 5]) / 8).max() < 4 * 0.5 / np.sqrt(draws)


@pytest.mark.parametrize("by_distance", [False, True])
def test_lambdas_of_documents_in_another_order(by_distance: bool) -> None:
    random = np.random.default_rng(1)
    labels, scores = random.integers(0, 3, 20).astype(float), random.normal(size=20)
    gains = measure("ndcg@5")

    def change(ranked: list[float], i: int, j: int) -> float:
        return float(gains.swap_gains(ranked)[i, j])

    for keys in (-scores, keys_of(3, 1.0, scores)):
        options = {"truncation": 7, "by_distance": by_distance, "by_total": by_distance}
        lists = Lists(labels, np.array([0, 20]))
        got = Lambdas(lists, gains, **options).at(scores, keys=keys)
        expected = naive_lambdas.lambdas(labels, scores, change, keys=keys, **options)
        for one, other in zip(got, expected, strict=True):
            assert np.abs(one - other).max() <= 2e-5 * np.abs(other).max()
