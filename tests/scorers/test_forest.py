"""Forests: all ways to score them against walking nested nodes, bit for bit."""

from __future__ import annotations

import dataclasses
import itertools
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.scorers.forests import FEATURES, naive_outputs, random_forest, random_rows

import rankwright as rw
from rankwright.scorers import ForestScorer, forest
from rankwright.scorers.forest import MOST_LEAVES, linked
from rankwright.scorers.forest_kernels import by_masks, walk

JIT_OFF = os.environ.get("NUMBA_DISABLE_JIT") == "1"
WAYS = {"walk": 10**9, "masks": 0}


def outputs(scorer: Any, X: Any, way: str, n_jobs: int = 1) -> Any:
    """The outputs, by walking or (where there are few enough leaves) by masks."""
    out = np.full((len(X), len(scorer.start)), np.nan)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forest, "WALKED_ROWS", WAYS[way])
        scorer.outputs(X, out, n_jobs)
    return out


@settings(max_examples=8 if JIT_OFF else 60)
@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.sampled_from([1, 1, 2, 3, 10, 31]), max_size=4),
    st.sampled_from([1, 1, 2, 3]),
    st.sampled_from([0, 1, 3, 63, 64, 65, 130] if not JIT_OFF else [0, 1, 5, 65]),
)
def test_both_ways_are_walking_by_hand(seed: int, leaves: list[int], n_outputs: int, n: int) -> None:
    scorer, trees = random_forest(seed, leaves, n_outputs)
    X = random_rows(np.random.default_rng(seed), n)
    expected = naive_outputs(scorer, trees, X)
    assert scorer.n_trees == len(leaves)
    for way in WAYS:
        assert outputs(scorer, X, way).tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("leaves", "lopsided"),
    [(leaves, False) for leaves in (2, 63, 64, 65, 128, 129, 200, 1024, 1025, 1100)]
    + [(leaves, True) for leaves in (64, 65, 300)],
)
def test_any_number_of_leaves(leaves: int, lopsided: bool) -> None:
    """One block of leaves, several, the most there are, and more than masks take on."""
    scorer, trees = random_forest(leaves, [leaves, 5, 1], 2, lopsided=lopsided)
    assert (scorer._packed is None) == (leaves > MOST_LEAVES)
    X = random_rows(np.random.default_rng(0), 20 if JIT_OFF else 150)
    expected = naive_outputs(scorer, trees, X)
    for way in WAYS:
        assert outputs(scorer, X, way).tobytes() == expected.tobytes()


@pytest.mark.parametrize("leaves", [[31, 64, 3], [130, 65, 2], [1100, 7]])
def test_the_same_bits_in_any_batch_and_on_any_threads(leaves: list[int], monkeypatch: Any) -> None:
    monkeypatch.setattr(forest, "ROWS_A_PIECE", 64)
    scorer, _ = random_forest(1, leaves, 3, "expectation")
    X = random_rows(np.random.default_rng(0), 70 if JIT_OFF else 300)
    whole = scorer.predict(X)
    for jobs in (1, 2, 3):
        assert np.array_equal(linked(outputs(scorer, X, "masks", jobs), "expectation"), whole)
    for sizes in ([1] * 10, [7, 9, 40], [64, 1], [len(X) - 1, 1]):
        edges = np.minimum(np.cumsum([0, *sizes]), len(X))
        for begin, end in itertools.pairwise(edges):
            assert np.array_equal(scorer.predict(X[begin:end]), whole[begin:end])
    assert np.array_equal(scorer.predict(X[::-1])[::-1], whole)
    assert np.array_equal(scorer.predict(X.astype(float).tolist()), whole)


@pytest.mark.skipif(JIT_OFF, reason="the JIT is off: there is one form only")
@pytest.mark.parametrize("leaves", [[5, 64, 1], [70, 2]])
def test_both_forms_give_the_same_bits(leaves: list[int], monkeypatch: Any) -> None:
    scorer, _ = random_forest(2, leaves, 2)
    X = random_rows(np.random.default_rng(0), 70)
    compiled = outputs(scorer, X, "masks")
    for kernel, way in ((by_masks, "masks"), (walk, "walk")):
        monkeypatch.setattr(forest, kernel.__name__, kernel.plain)
        assert outputs(scorer, X, way).tobytes() == compiled.tobytes()


def test_links() -> None:
    out = np.array([[0.0, 0.0, 0.0], [0.0, math.log(2), math.log(5)], [900.0, -900.0, 900.0]])
    assert linked(out, "identity").tolist() == [0.0, 0.0, 900.0]
    # Probabilities 1/3 each; 1/8, 2/8, 5/8; a half each of the first and the last.
    assert linked(out, "expectation") == pytest.approx([1.0, 12 / 8, 1.0])
    # Probabilities of exceeding each threshold: 1/2 each; 1/2, 2/3, 5/6; 1, 0, 1.
    with np.errstate(over="ignore"):
        assert linked(out, "ordinal") == pytest.approx([1.5, 2.0, 2.0])


@pytest.mark.parametrize("link", ["identity", "expectation", "ordinal"])
def test_predictions_are_the_outputs_linked(link: Any) -> None:
    scorer, trees = random_forest(3, [4, 9, 2], 3, link)
    X = random_rows(np.random.default_rng(0), 30)
    expected = []
    for first, second, third in naive_outputs(scorer, trees, X).tolist():
        powers = [math.exp(v) for v in (first, second, third)]
        by_link = {
            "identity": first,
            "expectation": (powers[1] + 2 * powers[2]) / sum(powers),
            "ordinal": sum(1 / (1 + math.exp(-v)) for v in (first, second, third)),
        }
        expected.append(by_link[link])
    assert scorer.predict(X) == pytest.approx(expected, rel=1e-12)


def test_the_first_trees() -> None:
    scorer, trees = random_forest(4, [3, 1, 20, 64, 7])
    X = random_rows(np.random.default_rng(0), 30)
    for n in range(6):
        kept = scorer.first(n)
        assert kept.n_trees == n
        assert np.array_equal(kept.predict(X), naive_outputs(scorer, trees[:n], X)[:, 0])
        assert np.array_equal(kept.predict(X[:3]), kept.predict(X)[:3])
    assert scorer.first(100).n_trees == 5
    with pytest.raises(rw.InputError, match="-1 trees"):
        scorer.first(-1)


def test_the_first_trees_can_be_saved(tmp_path: Path) -> None:
    scorer, _ = random_forest(4, [3, 1, 20])
    X = random_rows(np.random.default_rng(0), 10)
    scorer.first(2).save(tmp_path / "model.rw")
    assert np.array_equal(rw.load(tmp_path / "model.rw").predict(X), scorer.first(2).predict(X))


@settings(max_examples=10 if JIT_OFF else 25)
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(1, 70), min_size=1, max_size=3), st.integers(1, 3))
def test_a_saved_forest_comes_back(seed: int, leaves: list[int], n_outputs: int) -> None:
    import tempfile

    scorer, _ = random_forest(seed, leaves, n_outputs, "expectation" if n_outputs > 1 else "identity")
    X = random_rows(np.random.default_rng(seed), 10)
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("a.rw", "b.rw")]
        scorer.save(paths[0])
        loaded = rw.load(paths[0])
        loaded.save(paths[1])
        assert paths[0].read_bytes() == paths[1].read_bytes()
    assert type(loaded) is ForestScorer and loaded.link == scorer.link and loaded.n_features == FEATURES
    for rows in (X, X[:2]):
        assert np.array_equal(loaded.predict(rows), scorer.predict(rows))
    for name, array in scorer.arrays().items():
        assert np.array_equal(loaded.arrays()[name], array, equal_nan=array.dtype.kind == "f")


def test_a_scorer_does_not_change() -> None:
    scorer, _ = random_forest(5, [4])
    for array in (*scorer.trees, scorer.start):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_trees_without_a_split() -> None:
    scorer, _ = random_forest(6, [1, 1, 1])
    expected = (
        scorer.start[0] + scorer.trees.values[0, 0] + scorer.trees.values[1, 0] + scorer.trees.values[2, 0]
    )
    X = random_rows(np.random.default_rng(0), 100)
    assert (scorer.predict(X) == expected).all() and (scorer.predict(X[:2]) == expected).all()


def test_the_wrong_features_are_refused() -> None:
    scorer, _ = random_forest(7, [3])
    with pytest.raises(rw.InputError, match="the scorer was made for 6"):
        scorer.predict(np.zeros((2, 5)))


def test_what_features_are_worth_to_the_trees(tmp_path: Path) -> None:
    scorer, _ = random_forest(5, [4, 1, 9])
    with pytest.raises(rw.InputError, match="do not tell what their splits gained"):
        scorer.importance()
    with pytest.raises(rw.InputError, match="by is 'cover'"):
        scorer.importance("cover")  # type: ignore[arg-type]
    gains = np.random.default_rng(0).random(11).astype(np.float32)
    telling = dataclasses.replace(scorer, gains=gains)
    for feature in range(FEATURES):
        at = scorer.trees.feature == feature
        assert scorer.importance("splits")[feature] == at.sum()
        assert telling.importance()[feature] == pytest.approx(gains[at].sum())
    assert np.array_equal(telling.first(1).gains, gains[:3])
    # Files of both kinds are read, and gains that no split has are refused.
    for each in (scorer, telling):
        each.save(tmp_path / "model.rw")
        again: Any = rw.load(tmp_path / "model.rw")
        assert np.array_equal(again.importance("splits"), each.importance("splits"))
        assert (again.gains is None) == (each.gains is None)
    for bad in (-gains, gains * np.nan, gains[1:]):
        dataclasses.replace(scorer, gains=bad).save(tmp_path / "model.rw")
        with pytest.raises(rw.InputError, match="'gains'"):
            rw.load(tmp_path / "model.rw")


def test_the_first_trees_have_their_own_sets_only() -> None:
    scorer, _ = random_forest(3, [6, 20, 30])
    first = scorer.first(2)
    assert len(first.trees.sets) == (first.trees.category_set >= 0).sum() < len(scorer.trees.sets)
    assert len(scorer.first(0).trees.sets) == 0
