"""What a command reads: data, and what gives its documents scores."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import rankwright as rw
from rankwright.cli.screen import step
from rankwright.runtime.errors import InputError

if TYPE_CHECKING:
    from rankwright.runtime.arrays import Floats

MODEL_ENDING = ".rw"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rankers:
    """What the command line names to rank with: models and score files, features, or TREC runs."""

    files: Sequence[str] = ()
    scores: Sequence[str] = ()
    features: Sequence[str] = ()
    runs: Sequence[str] = ()

    def names(self) -> list[str]:
        """A short name for each, and the whole path where two would have the same."""
        paths = [*self.files, *self.scores, *self.runs]
        stems = Counter(Path(path).stem for path in paths)
        short = [Path(path).stem if stems[Path(path).stem] == 1 else path for path in paths]
        return [*short, *(f"feature {feature}" for feature in self.features)]

    def check_count(self, at_least: int, at_most: int | None, example: str) -> None:
        """Refuse too few or too many."""
        count = len(self.names())
        if count < at_least or (at_most is not None and count > at_most):
            wanted = "one ranking" if at_most == 1 else f"at least {at_least} rankings"
            raise click.UsageError(f"{count} given, and {wanted} wanted, as in: {example}")
        twice = [name for name, times in Counter(self.names()).items() if times > 1]
        if twice:
            raise click.UsageError(f"{twice[0]} is given twice")


def read_runs(runs: Sequence[str], names: Sequence[str], quiet: bool) -> dict[str, Any]:
    """TREC runs by name."""
    with step("reading runs", quiet):
        return {name: rw.read_run(path) for name, path in zip(names, runs, strict=True)}


def read_scores_of(
    rankers: Rankers, data: str, quiet: bool, scattered: bool
) -> tuple[dict[str, Floats], rw.QuerySet]:
    """The scores that each ranker gives the documents of a data file, by its name; and the data."""
    models = {path: rw.load(path) for path in rankers.files if is_model(path)}
    widest = max((model.n_features for model in models.values()), default=0)
    queries = read_data(data, quiet, widest, scattered)
    scores = []
    for path in (*rankers.files, *rankers.scores):
        if path in models:
            scores.append(predicted(models[path], path, queries, data))
        else:
            scores.append(read_scores(path, queries, data))
    scores += [queries.in_given_order(column(queries, feature, data)) for feature in rankers.features]
    return dict(zip(rankers.names(), scores, strict=True)), queries


def models_of(rankers: Rankers) -> dict[str, rw.Scorer]:
    """The models among the rankers' files, by their names."""
    return {
        name: rw.load(path)
        for name, path in zip(rankers.names(), rankers.files, strict=False)
        if is_model(path)
    }


def read_data(path: str, quiet: bool, n_features: int = 0, scattered: bool = False) -> rw.QuerySet:
    """A query set from LETOR text or Parquet; of text, with at least so many features.

    LETOR text leaves zeros out, so that a file whose last features are all 0 looks narrower than it is.
    """
    with step(f"reading {Path(path).name}", quiet):
        if is_parquet(path):
            return rw.read_parquet(path)
        queries = rw.read_letor(path, scattered=scattered)
        if queries.n_features >= n_features:
            return queries
        return rw.read_letor(path, n_features=n_features, scattered=scattered)


def is_parquet(path: str) -> bool:
    """Whether a file is Parquet, by its first bytes."""
    return _begins(path, 4) == b"PAR1"


def is_model(path: str) -> bool:
    """Whether a file is, or is meant to be, a model: by its ending or its first bytes."""
    first = _begins(path, 9)
    small_header = int.from_bytes(first[:8], "little") < 1 << 32
    return Path(path).suffix == MODEL_ENDING or (small_header and first[8:] == b"{")


def _begins(path: str, count: int) -> bytes:
    """The first bytes of a file; of a pipe none, as they would be lost to who reads it afterwards."""
    if Path(path).exists() and not Path(path).is_file():
        return b""
    with Path(path).open("rb") as file:
        return file.read(count)


def predicted(model: rw.Scorer, path: str, queries: rw.QuerySet, data: str) -> Floats:
    """A model's scores, with an error that names the two files."""
    try:
        return model.predict(queries)
    except InputError as error:
        raise InputError(f"{path} cannot score {data}: {error}") from error


def read_scores(path: str, queries: rw.QuerySet, data: str) -> Floats:
    """One number a line, a line a row of the data."""
    import numpy as np

    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: neither a model file nor text; give scores, one number a line") from error
    scores = np.empty(len(lines))
    for number, line in enumerate(lines):
        try:
            scores[number] = float(line)
        except ValueError:
            raise InputError(
                f"{path}, line {number + 1}: {line[:40]!r} is not a number; give one score a line"
            ) from None
        if np.isnan(scores[number]):
            raise InputError(f"{path}, line {number + 1}: the score is NaN, which has no place in an order")
    if len(lines) != len(queries):
        raise InputError(
            f"{path} has {len(lines):,} scores and {data} {len(queries):,} rows; give one score a row"
        )
    return scores


def feature_names(queries: rw.QuerySet) -> tuple[str, ...]:
    """The features' names; those without are numbered from 1, as in LETOR files."""
    return queries.feature_names or tuple(str(number + 1) for number in range(queries.n_features))


def column(queries: rw.QuerySet, feature: str, data: str) -> Floats:
    """A feature's values by stored row."""
    import numpy as np

    names = feature_names(queries)
    if feature not in names:
        known = f"from {names[0]} to {names[-1]}"
        raise InputError(f"{data} has no feature {feature!r}; its {len(names)} features are {known}")
    values = queries.features[:, names.index(feature)].astype(np.float64)
    missing = np.flatnonzero(np.isnan(values))
    if len(missing):
        row = missing[0] if queries.rows is None else queries.rows[missing[0]]
        raise InputError(f"{data}, row {row}: feature {feature} is missing there, so it cannot be the score")
    return values
