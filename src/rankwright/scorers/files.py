"""Model files: arrays in safetensors, the rest as JSON in its header. Loading runs no code, trusts nothing.

The header's one entry, ``rankwright``, holds ``FIELDS``. Arrays of the transform are named ``transform.*``.
A scorer of scorers has ``members`` besides, each described by the fields of ``ABOUT``; the arrays of member
number 3 are named ``3.*``.
"""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankwright.runtime.errors import InputError
from rankwright.runtime.files import written_whole
from rankwright.scorers.arrays import StoredArrays

if TYPE_CHECKING:
    from rankwright.scorers.base import Scorer

FORMAT = 1
ENTRY = "rankwright"
ABOUT: dict[str, tuple[type, ...]] = {
    "kind": (str,),
    "n_features": (int,),
    "feature_names": (list, type(None)),
    "transform": (str,),
    "measure": (str, type(None)),
    "parameters": (dict,),
    "training": (dict,),
}
FIELDS = {"format": (int,), "version": (str,), **ABOUT}
MEMBERS = "members"
DTYPES = {"F64", "F32", "I64", "I32", "I16", "I8", "U64", "U32", "U16", "U8", "BOOL"}


def save(scorer: Scorer, path: str | os.PathLike[str]) -> None:
    """Write a scorer to a file, whole or not at all."""
    from safetensors.numpy import save_file

    from rankwright import __version__

    header, arrays = _described(scorer)
    header = {"format": FORMAT, "version": __version__, **header}
    try:
        text = json.dumps(header, allow_nan=False, default=_plain)
    except (TypeError, ValueError) as error:
        raise InputError(f"{path}: parameters and training must be plain data ({error})") from error
    # safetensors writes an array's memory as it lies.
    contiguous = {name: np.array(array, order="C") for name, array in arrays.items()}
    with written_whole(path) as draft:
        save_file(contiguous, draft, metadata={ENTRY: text})


def _described(scorer: Scorer) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """A scorer's header and arrays, its members' among them."""
    header = {
        "kind": scorer.kind,
        "n_features": scorer.n_features,
        "feature_names": scorer.feature_names,
        "transform": scorer.transform.kind,
        "measure": scorer.measure,
        "parameters": dict(scorer.parameters),
        "training": dict(scorer.training),
    }
    arrays = scorer.arrays()
    arrays |= {f"transform.{name}": array for name, array in scorer.transform.arrays().items()}
    if scorer.members:
        below = [_described(member) for member in scorer.members]
        header[MEMBERS] = [about for about, _ in below]
        for number, (_, own) in enumerate(below):
            arrays |= {f"{number}.{name}": array for name, array in own.items()}
    return header, arrays


def load(path: str | os.PathLike[str]) -> Scorer:
    """Read a scorer from its file: data only, every part of it checked, nothing run.

    >>> import tempfile, rankwright as rw
    >>> path = Path(tempfile.mkdtemp()) / "model.rw"
    >>> rw.LinearScorer([0.5, -1.0], measure="ndcg@10").save(path)
    >>> rw.load(path)
    LinearScorer(2 features)
    """
    text, arrays = _contents(path)
    try:
        return _scorer(_header(text), StoredArrays(arrays))
    except InputError as error:
        raise InputError(f"{path}: this model file cannot be used: {error}") from error


def _contents(path: str | os.PathLike[str]) -> tuple[str, dict[str, NDArray[Any]]]:
    from safetensors import SafetensorError, safe_open

    if not Path(path).is_file():
        what = "this is not a file" if Path(path).exists() else "there is no such file"
        raise InputError(f"{path}: {what}; give a model file, as a scorer's save writes it")
    try:
        with safe_open(os.fspath(path), framework="numpy") as file:
            text = (file.metadata() or {}).get(ENTRY)
            if text is None:
                raise InputError(f"{path}: this safetensors file is not one of Rankwright's model files")
            names = file.keys()
            for name in names:
                if file.get_slice(name).get_dtype() not in DTYPES:
                    raise InputError(f"{path}: its array {name!r} is of a type that no model file has")
            return text, {name: file.get_tensor(name) for name in names}
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error
    except SafetensorError as error:
        raise InputError(f"{path}: no model file, or a damaged one ({error}); save it again") from error


def _header(text: str) -> dict[str, Any]:
    try:
        header = json.loads(text, parse_float=_finite, parse_constant=_finite)
        json.dumps(header, ensure_ascii=False).encode()  # refuses half characters, which nobody could print
    except (ValueError, RecursionError) as error:
        raise InputError(f"its header is not JSON ({error})") from error
    if not isinstance(header, dict):
        raise InputError("its header is not a JSON object")
    written = header.get("format")
    if type(written) is int and written > FORMAT:
        raise InputError(
            f"it is of format {written} and this version reads up to {FORMAT}; install a newer rankwright"
        )
    if written != FORMAT:
        raise InputError(f"its format is {written!r}, not {FORMAT}")
    _check_fields(header, FIELDS, 0)
    return header


def _check_fields(header: Any, fields: dict[str, tuple[type, ...]], depth: int) -> None:
    """Refuse a header with other fields than these, its members' with it."""
    from rankwright.scorers.compose import DEEPEST, MOST_MEMBERS

    if not isinstance(header, dict) or set(header) - {MEMBERS} != set(fields):
        raise InputError(f"the fields of its header are not {', '.join(fields)}")
    for name, kinds in fields.items():
        if type(header[name]) not in kinds:
            raise InputError(f"{name} in its header is {header[name]!r:.60}")
    if header["n_features"] < 0:
        raise InputError(f"n_features in its header is {header['n_features']}")
    if not all(isinstance(name, str) for name in header["feature_names"] or ()):
        raise InputError("feature_names in its header are not all text")
    members = header.get(MEMBERS, [])
    if not isinstance(members, list) or len(members) > MOST_MEMBERS:
        raise InputError(
            f"members in its header are {members!r:.60}; there are lists of up to {MOST_MEMBERS}"
        )
    if members and depth == DEEPEST:
        raise InputError(f"its scorers stand in each other more than {DEEPEST} deep")
    for member in members:
        _check_fields(member, ABOUT, depth + 1)


def _scorer(header: dict[str, Any], stored: StoredArrays) -> Scorer:
    from rankwright.scorers import CORES
    from rankwright.scorers.compose import Composed
    from rankwright.scorers.transform import TRANSFORMS

    cores: dict[str, Any] = {core.kind: core for core in CORES}
    transforms: dict[str, Any] = {transform.kind: transform for transform in TRANSFORMS}
    for what, known in (("kind", cores), ("transform", transforms)):
        if header[what] not in known:
            raise InputError(f"its {what} is {header[what]!r:.60}; this version knows {', '.join(known)}")
    core, n_features = cores[header["kind"]], header["n_features"]
    below = stored.below("transform.")
    transform = transforms[header["transform"]].from_arrays(below, n_features)
    below.close()
    about = {name: header[name] for name in ("feature_names", "measure", "parameters", "training")}
    if issubclass(core, Composed) != (MEMBERS in header):
        raise InputError(f"it is of kind {core.kind} and has {'' if MEMBERS in header else 'no '}members")
    if MEMBERS in header:
        parts = stored.numbered(len(header[MEMBERS]))
        about[MEMBERS] = [_scorer(*part) for part in zip(header[MEMBERS], parts, strict=True)]
    scorer: Scorer = core.from_arrays(stored, n_features, transform=transform, **about)
    stored.close()
    if scorer.n_features != n_features:
        raise InputError(f"n_features in its header is {n_features}, not {scorer.n_features}")
    return scorer


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is not finite")
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{value!r} is not plain data")
