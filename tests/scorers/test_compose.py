"""Scorers of scorers: sums and stacks, nested, saved, and read back from files nobody should trust."""

from __future__ import annotations

import json
import tempfile
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
from rankwright.scorers import compose
from rankwright.scorers.compose import DEEPEST
from rankwright.scorers.files import ENTRY

QID = np.repeat(np.arange(30), 10)


def rows(n: int = 300) -> Any:
    return np.random.default_rng(0).normal(size=(n, 2)).astype(np.float32)


def linear(*weights: float, **about: Any) -> rw.LinearScorer:
    return rw.LinearScorer(weights, **about)


def composed() -> dict[str, Any]:
    """Scorers of scorers of every make."""
    by_query = linear(1.0, -2.0, transform=rw.QueryScaling())
    plain = linear(0.1, 0.7, bias=0.3, transform=rw.Standardising([0.5, 0.0], [2.0, 3.0]))
    net = rw.NetworkScorer([([[1.0, -1.0], [0.3, 0.2]], [0.1, 0.2]), ([[2.0, 1.0]], [0.5])])
    total = rw.Sum([plain, net, by_query], [0.25, 0.5, -3.0])
    return {
        "sum": rw.Sum([plain, net]),
        "sum by query": total,
        "stack": rw.Stack([plain, net], linear(1.5, -0.5)),
        "stack with features": rw.Stack([plain], linear(1.0, 0.2, -0.3)),
        "nested": rw.Stack([total, plain], rw.Sum([linear(1.0, 2.0), linear(0.0, 1.0)]), measure="map"),
        "core by query": rw.Stack([plain, net], linear(1.0, 1.0, transform=rw.QueryScaling())),
    }


def by_hand(scorer: Any, X: Any) -> Any:
    """What a scorer of scorers makes of whole queries, from its members' own predictions."""
    if isinstance(scorer, rw.Sum):
        total = np.zeros(len(X))
        for weight, member in zip(scorer.weights, scorer.scorers, strict=True):
            total = total + weight * by_hand(member, X)
        return total
    if isinstance(scorer, rw.Stack):
        stacked = np.float32([by_hand(base, X) for base in scorer.bases]).T
        if scorer.core.n_features > len(scorer.bases):
            stacked = np.hstack([stacked, X])
        return by_hand(scorer.core, stacked)
    return scorer.predict(X, qid=QID[: len(X)])


@pytest.mark.parametrize("name", composed())
def test_scores_are_those_of_the_members_put_together(name: str, monkeypatch: Any) -> None:
    scorer, X = composed()[name], rows()
    expected = by_hand(scorer, X)
    assert np.array_equal(scorer.predict(X, qid=QID), expected)
    monkeypatch.setattr(compose, "STACKED_ROWS", 7)
    assert np.array_equal(scorer.predict(X, qid=QID), expected)
    assert np.array_equal(scorer.predict(X[40:90], qid=QID[40:90]), expected[40:90])
    assert np.array_equal(scorer.predict(rw.QuerySet(X, qid=QID)), expected)
    turned = np.random.default_rng(1).permutation(len(X))
    if not scorer.needs_queries:
        assert np.array_equal(scorer.predict(X[turned]), expected[turned])
        assert np.array_equal(np.concatenate([scorer.predict(X[i : i + 1]) for i in range(9)]), expected[:9])
    mixed = np.argsort(np.random.default_rng(1).random(30)[QID], kind="stable")
    assert np.array_equal(scorer.predict(X[mixed], qid=QID[mixed]), expected[mixed])


@pytest.mark.parametrize("name", composed())
def test_they_come_back_from_their_files(name: str, tmp_path: Path) -> None:
    scorer = composed()[name]
    scorer.save(tmp_path / "model.rw")
    loaded = rw.load(tmp_path / "model.rw")
    assert repr(loaded) == repr(scorer)
    assert loaded.measure == scorer.measure
    assert np.array_equal(loaded.predict(rows(), qid=QID), scorer.predict(rows(), qid=QID))
    loaded.save(tmp_path / "again.rw")
    assert (tmp_path / "again.rw").read_bytes() == (tmp_path / "model.rw").read_bytes()


def test_forests_with_missing_values_and_categories(tmp_path: Path) -> None:
    bases = [random_forest(seed, [5, 9, 2])[0] for seed in (1, 2)]
    X = random_rows(np.random.default_rng(0), 100)
    scorer = rw.Stack([rw.Sum(bases, [1.0, 2.0]), bases[0]], linear(1.0, 0.5))
    scorer.save(tmp_path / "model.rw")
    total = bases[0].predict(X) + 2.0 * bases[1].predict(X)
    expected = np.float32(total) + 0.5 * np.float32(bases[0].predict(X)).astype(float)
    assert np.array_equal(scorer.predict(X), expected)
    assert np.array_equal(rw.load(tmp_path / "model.rw").predict(X), expected)


def test_fitted_learners_are_members() -> None:
    queries = rw.synthetic.random_net(10, 10, random_state=0)
    ranker = rw.LambdaRank(hidden=0, epochs=1).fit(queries)
    assert np.array_equal(rw.Sum([ranker], [2.0]).predict(queries), 2.0 * ranker.predict(queries))
    assert np.array_equal(
        rw.Stack([ranker], linear(2.0)).predict(queries), 2.0 * ranker.predict(queries).astype(np.float32)
    )


def test_what_is_missing_is_named_unless_nobody_asks_for_it() -> None:
    X = np.array([[1.0, 2.0], [1.0, np.nan]])
    first, both = linear(1.0, 0.0), linear(1.0, 1.0)
    assert rw.Sum([first, both], [1.0, 0.0]).predict(X).tolist() == [1.0, 1.0]
    with pytest.raises(rw.InputError, match="row 1: a feature that this scorer needs is missing"):
        rw.Sum([first, both]).predict(X)
    forest = rw.LambdaMART(n_estimators=1, min_samples_leaf=1).fit(X[:, :1], [0, 1], qid=1)
    with pytest.raises(rw.InputError, match="row 1: a feature that this scorer needs is missing"):
        rw.Stack([both], forest).predict(X)
    with pytest.raises(rw.InputError, match="depends on the query"):
        rw.Sum([linear(1.0, 1.0, transform=rw.QueryScaling())]).predict(X)
    with pytest.raises(rw.InputError, match="too large"):
        rw.Sum([linear(3e38, 0.0)] * 2, [1e300, -1e300]).predict(np.float32([[3e38, 0]]))
    with pytest.raises(rw.InputError, match="too large"):
        rw.Stack([linear(3e38, 0.0), linear(-3e38, 0.0)], linear(1.0, 1.0)).predict(np.float32([[3e38, 0]]))


def test_names_of_features_come_from_the_members() -> None:
    named = linear(1.0, 2.0, feature_names=["a", "b"])
    assert rw.Sum([linear(1.0, 1.0), named]).feature_names == ("a", "b")
    assert rw.Stack([named], linear(1.0)).feature_names == ("a", "b")
    with pytest.raises(rw.InputError, match="number 1 has other feature names"):
        rw.Sum([named, linear(1.0, 2.0, feature_names=["a", "c"])])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rw.Sum([]), "there are 0 scorers"),
        (lambda: rw.Sum([linear(1.0)] * 1001), "1001 scorers"),
        (lambda: rw.Sum([linear(1.0)], [1.0, 2.0]), "2 weights for 1 scorers"),
        (lambda: rw.Sum([linear(1.0)], [np.inf]), "weights: number 0 is inf"),
        (lambda: rw.Sum([linear(1.0), linear(1.0, 2.0)]), "number 1 has 2 features"),
        (lambda: rw.Sum([linear(1.0)], transform=rw.QueryScaling()), "give no transform"),
        (lambda: rw.Stack([], linear(1.0)), "there are 0 bases"),
        (lambda: rw.Stack([linear(1.0, 2.0)], linear(1.0, 2.0)), "the core has 2 features for 1 bases"),
    ],
)
def test_what_does_not_fit_together_is_refused(make: Any, message: str) -> None:
    with pytest.raises(rw.InputError, match=message):
        make()


def test_scorers_stand_in_each_other_up_to_a_depth(tmp_path: Path) -> None:
    scorer: Any = linear(1.0)
    for _ in range(DEEPEST):
        scorer = rw.Sum([scorer], [2.0])
    scorer.save(tmp_path / "model.rw")
    assert rw.load(tmp_path / "model.rw").predict([[1]]).tolist() == [2.0**DEEPEST]
    with pytest.raises(rw.InputError, match=f"{DEEPEST + 1} deep"):
        rw.Sum([scorer])
    header, arrays = opened(tmp_path / "model.rw")
    deeper = header | {"members": [{k: header[k] for k in header if k not in ("format", "version")}]}
    deeper_arrays = {f"0.{name}": array for name, array in arrays.items()} | {"weights": np.ones(1)}
    with pytest.raises(rw.InputError, match=f"more than {DEEPEST} deep"):
        load(deeper, deeper_arrays)


def opened(path: Path) -> tuple[Any, Any]:
    with safe_open(path, framework="numpy") as file:
        return json.loads(file.metadata()[ENTRY]), load_file(path)


def load(header: Any, arrays: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        save_file(arrays, Path(folder) / "model.rw", metadata={ENTRY: json.dumps(header)})
        return rw.load(Path(folder) / "model.rw")


def stored(name: str) -> tuple[Any, Any]:
    with tempfile.TemporaryDirectory() as folder:
        composed()[name].save(Path(folder) / "model.rw")
        return opened(Path(folder) / "model.rw")


def set_in(header: Any, path: tuple[Any, ...], value: Any) -> None:
    for step in path[:-1]:
        header = header[step]
    if value is ...:
        del header[path[-1]]
    else:
        header[path[-1]] = value


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("members",), ..., "has no members"),
        (("members",), {}, "members in its header are {}"),
        (("members",), [7], "the fields of its header"),
        (("members",), [], "0 scorers|'weights' is"),
        (("members",), [{}] * 1001, "lists of up to 1000"),
        (("kind",), "linear", "of kind linear and has members"),
        (("kind",), "stack", "the core has 2 features"),
        (("n_features",), 3, "n_features in its header is 3, not 2"),
        (("transform",), "query-scaling", "give no transform"),
        (("members", 0, "kind"), "sum", "of kind sum and has no members"),
        (("members", 0, "n_features"), 3, "shape"),
        (("members", 0, "n_features"), -1, "n_features in its header is -1"),
        (("members", 0, "transform"), "pickle", "transform is 'pickle'"),
        (("members", 0, "feature_names"), ["a"], "1 feature names for 2"),
        (("members", 1, "training"), ..., "the fields of its header"),
        (("members", 1, "format"), 1, "the fields of its header"),
    ],
)
def test_every_part_of_a_header_is_checked(path: Any, value: Any, message: str) -> None:
    header, arrays = stored("sum")
    set_in(header, path, value)
    with pytest.raises(rw.InputError, match=message):
        load(header, arrays)


def test_a_stack_without_members_and_odd_arrays_are_refused() -> None:
    header, arrays = stored("stack")
    with pytest.raises(rw.InputError, match="without a core"):
        load(header | {"members": []}, {})
    for more in ("9.weights", "0.more", "0", "weights", "0.transform.more", "00.weights"):
        with pytest.raises(rw.InputError, match="which has no place"):
            load(header, arrays | {more: np.zeros(1)})
    for name in arrays:
        with pytest.raises(rw.InputError, match=r"is missing|one unit|layer"):
            load(header, {other: array for other, array in arrays.items() if other != name})
    simple, own = stored("sum")
    with pytest.raises(rw.InputError, match=r"'weights' is float64 of shape \(1,\)"):
        load(simple, own | {"weights": np.ones(1)})


@given(st.data())
@settings(max_examples=60)
def test_a_changed_byte_gives_a_working_scorer_or_a_refusal(data: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fuzzed.rw"
        rw.Stack([random_forest(1, [3])[0]], rw.Sum([linear(1.0), linear(2.0)])).save(path)
        content = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(1, 3))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
        path.write_bytes(content)
        try:
            scorer = rw.load(path)
        except rw.InputError as error:
            assert str(error).startswith(str(path)) and "\n" not in str(error)
            return
        try:
            scorer.predict(np.zeros((2, FEATURES)), qid=0)
        except rw.InputError as error:  # numbers that grew beyond float32
            assert "too large" in str(error)
