"""Model files: the same scorer comes back; anything else gets one sentence and runs nothing."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

import rankwright as rw
from rankwright.scorers.files import ENTRY, FORMAT

TRANSFORMS = [None, rw.QueryScaling(), rw.Standardising([1.0, 2.0, 0.0], [1.0, 0.5, 3.0])]
FEATURES = np.float32([[1, 2, 3], [4, 5, 6], [-1, 0, 1]])


def a_scorer(transform: Any = None) -> rw.LinearScorer:
    settings = {} if transform is None else {"transform": transform}
    return rw.LinearScorer(
        [0.1, -2.0, 3e-300],
        bias=0.25,
        feature_names=["bm25", "größe", "age"],
        measure=rw.measure("ndcg@10"),
        parameters={"learning_rate": np.float64(0.1), "hidden": None, "stop": True},
        training={"steps": 3, "measures": [0.1, 0.2]},
        **settings,
    )


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "model.rw"
    a_scorer(TRANSFORMS[2]).save(path)
    return path


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_scorer_comes_back_as_it_was(transform: Any, tmp_path: Path) -> None:
    scorer = a_scorer(transform)
    scorer.save(tmp_path / "model.rw")
    loaded = rw.load(tmp_path / "model.rw")
    assert type(loaded) is rw.LinearScorer
    assert np.array_equal(loaded.predict(FEATURES, qid=1), scorer.predict(FEATURES, qid=1))
    assert loaded.feature_names == ("bm25", "größe", "age")
    assert loaded.measure == "ndcg@10"
    assert loaded.parameters == {"learning_rate": 0.1, "hidden": None, "stop": True}
    assert loaded.training == {"steps": 3, "measures": [0.1, 0.2]}
    assert repr(loaded) == repr(scorer)


def test_the_same_scorer_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.rw", "b.rw"):
        a_scorer().save(tmp_path / name)
    assert (tmp_path / "a.rw").read_bytes() == (tmp_path / "b.rw").read_bytes()


def test_what_is_not_plain_data_is_refused_and_leaves_no_file(tmp_path: Path) -> None:
    for parameters in ({"f": print}, {"f": float("nan")}):
        with pytest.raises(rw.InputError, match="plain data"):
            rw.LinearScorer([1.0], parameters=parameters).save(tmp_path / "model.rw")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(rw.InputError, match=r"absent\.rw: there is no such file"):
        rw.load(tmp_path / "absent.rw")
    with pytest.raises(rw.InputError, match="not a file"):
        rw.load(tmp_path)


def changed(model: Path, target: Path, arrays: dict[str, Any] | None = None, **fields: Any) -> Path:
    """The model with some arrays and fields changed (None: left out)."""
    from safetensors import safe_open

    with safe_open(model, framework="numpy") as file:
        header = json.loads(file.metadata()[ENTRY])
    kept = {name: value for name, value in (header | fields).items() if value is not ...}
    all_arrays = {k: v for k, v in (load_file(model) | (arrays or {})).items() if v is not None}
    save_file(all_arrays, target, metadata={ENTRY: json.dumps(kept)})
    return target


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": FORMAT + 1}, "install a newer rankwright"),
        ({"format": "1"}, "format is '1'"),
        ({"format": ...}, "format is None"),
        ({"kind": "forest of doom"}, "kind is 'forest of doom'"),
        ({"transform": "pickle"}, "transform is 'pickle'"),
        ({"n_features": 2}, "shape"),
        ({"n_features": -1}, "n_features in its header is -1"),
        ({"n_features": True}, "n_features in its header is True"),
        ({"feature_names": ["a"]}, "1 feature names for 3"),
        ({"feature_names": [1, 2, 3]}, "not all text"),
        ({"feature_names": ["\ud800", "b", "c"]}, "not JSON"),
        ({"measure": 7}, "measure in its header"),
        ({"training": []}, "training in its header"),
        ({"extra": 1}, "the fields of its header"),
        ({"measure": ...}, "the fields of its header"),
        ({"parameters": {"rate": float("nan")}}, "not finite"),
        ({"arrays": {"weights": None}}, "'weights' is missing"),
        ({"arrays": {"weights": np.zeros(3, np.float32)}}, "'weights' is float32"),
        ({"arrays": {"weights": np.zeros((3, 1))}}, r"shape \(3, 1\)"),
        ({"arrays": {"weights": np.array([1, np.nan, 2])}}, "'weights' holds numbers that are not finite"),
        ({"arrays": {"bias": np.array(np.inf)}}, "'bias' holds"),
        ({"arrays": {"more": np.zeros(1)}}, "an array 'more', which has no place"),
        ({"arrays": {"transform.more": np.zeros(1)}}, "'more', which has no place"),
        ({"arrays": {"transform.scale": np.zeros(3)}}, "scales are above 0"),
        ({"arrays": {"weights": np.zeros(3, np.complex64)}}, "of a type that no model file has"),
    ],
)
def test_every_part_of_a_file_is_checked(
    changes: dict[str, Any], message: str, model: Path, tmp_path: Path
) -> None:
    with pytest.raises(rw.InputError, match=message) as raised:
        rw.load(changed(model, tmp_path / "other.rw", **changes))
    assert str(raised.value).startswith(str(tmp_path / "other.rw"))


def test_a_number_beyond_all_floats_and_a_nest_without_end_are_refused(model: Path, tmp_path: Path) -> None:
    for text in ('{"format": 1e999}', "[" * 100_000, "7", "{"):
        save_file(load_file(model), tmp_path / "other.rw", metadata={ENTRY: text})
        with pytest.raises(rw.InputError, match="header"):
            rw.load(tmp_path / "other.rw")


def test_other_safetensors_files_are_told_apart(tmp_path: Path) -> None:
    save_file({"a": np.zeros(1)}, tmp_path / "other.safetensors")
    with pytest.raises(rw.InputError, match="not one of Rankwright's"):
        rw.load(tmp_path / "other.safetensors")


def test_a_file_cut_short_is_refused_at_every_length(model: Path, tmp_path: Path) -> None:
    whole = model.read_bytes()
    cut = tmp_path / "cut.rw"
    for length in range(0, len(whole), 7):
        cut.write_bytes(whole[:length])
        with pytest.raises(rw.InputError, match=r"cut\.rw"):
            rw.load(cut)


def load_bytes(content: bytes) -> rw.Scorer | None:
    """The scorer in a file of these bytes; None where it is refused, in one sentence that names it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fuzzed.rw"
        path.write_bytes(content)
        try:
            return rw.load(path)
        except rw.InputError as error:
            assert str(error).startswith(str(path))
            assert "\n" not in str(error)
            return None


@given(st.binary(max_size=200))
@settings(max_examples=100)
def test_random_bytes_are_refused(content: bytes) -> None:
    assert load_bytes(content) is None


@given(header=st.text(max_size=100), length=st.integers(0, 2**64 - 1) | st.integers(0, 120), tail=st.binary())
@settings(max_examples=100)
def test_headers_of_any_claimed_length_are_refused(header: str, length: int, tail: bytes) -> None:
    assert load_bytes(length.to_bytes(8, "little") + header.encode() + tail) is None


@given(st.data())
@settings(max_examples=200)
def test_a_changed_byte_gives_a_working_scorer_or_a_refusal(data: Any) -> None:
    content = bytearray(_valid())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    loaded = load_bytes(bytes(content))
    if loaded is not None:
        assert np.isfinite(loaded.predict(np.zeros((2, 3)), qid=0)).all()


def _valid() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        a_scorer(TRANSFORMS[2]).save(Path(folder) / "model.rw")
        return (Path(folder) / "model.rw").read_bytes()
