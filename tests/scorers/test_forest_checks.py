"""Hostile forests: every check, and files with any bytes changed. The kernels check no index."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import load_file, save_file
from tests.scorers.forests import FEATURES, random_forest, random_rows

import rankwright as rw
from rankwright.scorers.forest_checks import check_nodes
from rankwright.scorers.forest_kernels import Nodes

LARGE = 2**62
SEED, LEAVES = 11, [6, 1, 40, 9]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "model.rw"
    random_forest(SEED, LEAVES, 2, "expectation")[0].save(path)
    return path


def changed(model: Path, target: Path, **arrays: Any) -> Path:
    """The model with some arrays changed (None: left out)."""
    with safe_open(model, framework="numpy") as file:
        header = file.metadata()
    kept = {**load_file(model), **arrays}
    save_file({name: np.array(a, order="C") for name, a in kept.items() if a is not None}, target, header)
    return target


def arrays_of(model: Path) -> dict[str, Any]:
    return {name: array.copy() for name, array in load_file(model).items()}


def put(name: str, at: Any, value: Any) -> Callable[[Any], dict[str, Any]]:
    """One number of an array changed; ``at`` may be a function of the arrays."""

    def change(arrays: Any) -> dict[str, Any]:
        array = arrays[name]
        array[at(arrays) if callable(at) else at] = value
        return {name: array}

    return change


def cut(name: str) -> Callable[[Any], dict[str, Any]]:
    return lambda arrays: {name: arrays[name][:-1]}


def numeric(arrays: Any) -> int:
    return int(np.flatnonzero(arrays["category_set"] < 0)[0])


def categorical(arrays: Any) -> int:
    return int(np.flatnonzero(arrays["category_set"] >= 0)[0])


def shifted(arrays: Any) -> dict[str, Any]:
    """A node and a leaf more in one tree than there are, and fewer in the next."""
    first_leaf = arrays["first_leaf"]
    first_leaf[1:3] += 1
    return {"first_leaf": first_leaf}


def wrapped(arrays: Any) -> dict[str, Any]:
    """Bounds whose differences are all positive, since they overflow."""
    n_nodes, n_leaves = len(arrays["feature"]), len(arrays["values"])
    way = [0, LARGE, 2**63 - 1, -(2**63) + 100]
    return {"first_node": np.array([*way, n_nodes]), "first_leaf": np.array([*way, n_leaves])}


def two_parents(arrays: Any) -> dict[str, Any]:
    """Two nodes of the third tree with the same node below them."""
    first, last = arrays["first_node"][2:4]
    left = arrays["left"]
    at = first + np.flatnonzero(left[first:last] > 0)
    left[at[0]] = left[at[1]]
    return {"left": left}


def a_leaf_twice(arrays: Any) -> dict[str, Any]:
    first, last = arrays["first_node"][2:4]
    left, right = arrays["left"], arrays["right"]
    both = first + np.flatnonzero((left[first:last] < 0) & (right[first:last] < 0))
    right[both[0]] = left[both[0]]
    return {"right": right}


def one_codeless(arrays: Any) -> dict[str, Any]:
    """A node that asks for the category of a feature that has none."""
    feature = arrays["feature"]
    feature[categorical(arrays)] = 0
    return {"feature": feature}


def too_many_codes(arrays: Any) -> dict[str, Any]:
    first, codes = arrays["first_code"], np.append(arrays["codes"], np.float32(300))
    first[5:] += 1
    return {"first_code": first, "codes": codes}


def odd_bool(arrays: Any) -> dict[str, Any]:
    odd = arrays["missing_left"].view(np.uint8)
    odd[3] = 2
    return {"missing_left": odd.view(np.bool_)}


BESIDE_FEATURE = ("threshold", "missing_left", "category_set", "left", "right")
HOSTILE = [
    *((cut(name), "features of nodes but") for name in BESIDE_FEATURE),
    (cut("feature"), "features of nodes but"),
    (lambda a: {"first_node": a["first_node"][:0]}, "'first_node' does not divide"),
    (put("first_node", 0, 1), "'first_node' does not divide"),
    (put("first_node", -1, 3), "'first_node' does not divide"),
    (put("first_node", 1, LARGE), "'first_node' does not divide"),
    (put("first_node", 1, -5), "'first_node' does not divide"),
    (put("first_leaf", 2, 6), "'first_leaf' does not divide"),
    (wrapped, "'first_node' does not divide"),
    (cut("first_leaf"), "does not divide"),
    (lambda a: {"first_node": np.insert(a["first_node"], 1, 0)}, "different numbers"),
    (shifted, "one leaf more"),
    (put("left", 0, 0), "does not stand behind"),  # a cycle of one
    (put("left", 4, 1), "does not stand behind"),
    (put("right", 0, 5), "does not stand behind"),  # beyond its own tree
    (put("right", 0, 2**31 - 1), "does not stand behind"),
    (put("right", 0, -(2**31)), "leaf that is not there"),
    (put("right", 0, ~6), "leaf that is not there"),
    (two_parents, "two parents"),
    (a_leaf_twice, "two parents"),
    (put("feature", 2, FEATURES), "node 2 of its trees reads a feature"),
    (put("feature", 0, -1), "node 0 of its trees reads a feature"),
    (put("category_set", 1, 10**6), "node 1 of its trees names a set"),
    (put("category_set", 1, -2), "node 1 of its trees names a set"),
    (put("threshold", numeric, np.nan), "has no threshold"),
    (put("values", (0, 1), np.nan), "leaf values are not finite"),
    (put("values", (0, 1), np.inf), "leaf values are not finite"),
    (lambda a: {"values": a["values"][:, :0], "start": a["start"][:0]}, "leaf values are not finite"),
    (put("start", 0, np.nan), "'start' holds numbers that are not finite"),
    (lambda a: {"start": a["start"][:1]}, "'start' is float64 of shape"),
    (put("first_code", 0, 1), "'first_code' does not divide"),
    (put("first_code", -1, 3), "'first_code' does not divide"),
    (put("first_code", 2, 1000), "'first_code' does not divide"),
    (put("first_code", 2, -1), "'first_code' does not divide"),
    (too_many_codes, "'first_code' does not divide"),
    (lambda a: {"first_code": a["first_code"][:-1]}, "'first_code' is int64 of shape"),
    (put("codes", 1, np.nan), "not finite and rising"),
    (put("codes", 1, -1.0), "not finite and rising"),
    (put("codes", -1, np.inf), "not finite and rising"),
    (one_codeless, "category of a feature that has none"),
    (odd_bool, "more than yes and no"),
    (lambda a: {"link": np.array(3)}, "its link is 3"),
    (lambda a: {"link": np.array(-1)}, "its link is -1"),
    (lambda a: {"sets": a["sets"][:, :3]}, "'sets' is uint64 of shape"),
    (lambda a: {"sets": a["sets"][:1]}, "names a set"),
    (lambda a: {"left": a["left"].astype(np.int64)}, "'left' is int64 of shape"),
    (lambda a: {"feature": None}, "'feature' is missing"),
    (lambda a: {"more": np.zeros(1)}, "'more', which has no place"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), HOSTILE)
def test_a_hostile_file_gets_one_sentence(change: Any, message: str, model: Path, tmp_path: Path) -> None:
    path = changed(model, tmp_path / "hostile.rw", **change(arrays_of(model)))
    with pytest.raises(rw.InputError, match=message):
        rw.load(path)


def test_the_model_itself_is_accepted(model: Path, tmp_path: Path) -> None:
    X = random_rows(np.random.default_rng(0), 20)
    expected = random_forest(SEED, LEAVES, 2, "expectation")[0].predict(X)
    assert np.array_equal(rw.load(changed(model, tmp_path / "same.rw")).predict(X), expected)


def used_or_refused(path: Path) -> None:
    """What loads must predict, by walking and by QuickScorer, or say why not: without a crash."""
    try:
        scorer = rw.load(path)
    except rw.InputError:
        return
    for n in (3, 70):
        X = random_rows(np.random.default_rng(n), n)
        X = np.resize(X, (n, scorer.n_features))
        try:
            scorer.predict(X)
        except rw.InputError:
            return


@settings(max_examples=150)
@given(data=st.data())
def test_any_bytes_changed(data: Any, model: Path) -> None:
    """Anywhere in the file, or in the numbers of one of its arrays."""
    written = bytearray(model.read_bytes())
    begin = 8 + int.from_bytes(written[:8], "little")
    header = json.loads(written[8:begin])
    header.pop("__metadata__")
    low, high = 0, len(written)
    name = data.draw(st.none() | st.sampled_from(sorted(header)))
    if name is not None:
        low, high = (begin + offset for offset in header[name]["data_offsets"])
    for _ in range(data.draw(st.integers(1, 3))):
        written[data.draw(st.integers(low, high - 1))] = data.draw(st.integers(0, 255))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.rw"
        path.write_bytes(written)
        used_or_refused(path)


near, ints = st.integers(-70, 70), st.integers(-(2**31), 2**31 - 1)
INDICES = ("first_node", "first_leaf", "feature", "category_set", "left", "right", "first_code")


@settings(max_examples=200)
@given(
    st.sampled_from(INDICES), st.lists(st.tuples(st.integers(0, 200), near | ints), min_size=1, max_size=4)
)
def test_indices_that_are_accepted_are_safe(name: str, changes: list[tuple[int, int]]) -> None:
    """Whatever passes the checks walks from its root to a leaf of its own tree, seen in Python."""
    arrays = random_forest(SEED, LEAVES, 2)[0].trees._asdict()
    array = arrays[name].copy()
    for at, value in changes:
        array[at % len(array)] = value
    trees = Nodes(**{**arrays, name: array})
    try:
        check_nodes(trees, FEATURES)
    except rw.InputError:
        return
    for tree in range(len(trees.first_node) - 1):
        first, last = trees.first_node[tree : tree + 2].tolist()
        reached = [0] if last > first else [-1]
        for at in reached:
            if at >= 0:
                assert 0 <= trees.feature[first + at] < FEATURES
                assert -1 <= trees.category_set[first + at] < len(trees.sets)
                reached += [int(trees.left[first + at]), int(trees.right[first + at])]
        leaves = sorted(~at for at in reached if at < 0)
        assert leaves == list(range(trees.first_leaf[tree + 1] - trees.first_leaf[tree]))
        assert sorted(at for at in reached if at >= 0) == list(range(last - first))


def test_a_truncated_file_is_refused(model: Path, tmp_path: Path) -> None:
    written = model.read_bytes()
    for length in (0, 7, 8, 100, len(written) // 2, len(written) - 1):
        path = tmp_path / "short.rw"
        path.write_bytes(written[:length])
        with pytest.raises(rw.InputError):
            rw.load(path)


def test_a_lopsided_giant_takes_no_more_memory_than_it_is_long(tmp_path: Path) -> None:
    """Packed for QuickScorer its entries would be the square of its leaves."""
    n = 50_000
    trees = Nodes(
        first_node=np.array([0, n]), first_leaf=np.array([0, n + 1]), feature=np.zeros(n, np.int32),
        threshold=np.zeros(n, np.float32), missing_left=np.zeros(n, np.bool_),
        category_set=np.full(n, -1, np.int32),
        left=np.append(np.arange(1, n), -1).astype(np.int32), right=~np.arange(1, n + 1, dtype=np.int32),
        values=np.arange(n + 1.0)[:, None], sets=np.zeros((0, 4), np.uint64),
        first_code=np.zeros(2, np.int64), codes=np.zeros(0, np.float32),
    )  # fmt: skip
    rw.ForestScorer(trees, np.zeros(1), 1).save(tmp_path / "giant.rw")
    X = np.float32([[-1.0], [1.0]]).repeat(6, axis=0)
    assert rw.load(tmp_path / "giant.rw").predict(X).tolist() == [0.0] * 6 + [1.0] * 6
