"""The scorer: what a fitted learner leaves behind.

    score of a document = core(transform(its features))

A core is one subclass in one file: it says its ``kind``, scores a block of transformed rows, and gives its
arrays for the model file. Checking, blocks, order, saving and loading are written here and in ``files``.

A row's score does not depend on the rows around it (but for a transform that needs the whole query): not on
their number, not on where blocks end, not on threads. (A PyTorch module's does, in its last bits.)
"""

from __future__ import annotations

import dataclasses
import itertools
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwright.runtime.arrays import Floats, Integers, Singles, feature_matrix, group
from rankwright.runtime.errors import InputError
from rankwright.scorers import files
from rankwright.scorers.arrays import StoredArrays
from rankwright.scorers.transform import UNCHANGED, Transform

ROWS_AT_ONCE = 1024  # their products stay in the second-level cache


@runtime_checkable
class Queries(Protocol):
    """What a scorer reads of a ``QuerySet``."""

    @property
    def features(self) -> Singles: ...  # noqa: D102
    @property
    def offsets(self) -> Integers: ...  # noqa: D102
    @property
    def rows(self) -> Integers | None: ...  # noqa: D102
    @property
    def feature_names(self) -> tuple[str, ...] | None: ...  # noqa: D102


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Scorer:
    """Scores documents. Immutable; made by a learner's ``fit``, by a core's class, or by ``rankwright.load``.

    ``transform`` comes first. ``feature_names``, where known, are compared with those of the data.
    ``measure`` (its syntax), ``parameters`` and ``training`` tell where the scorer comes from.
    """

    transform: Transform = UNCHANGED
    feature_names: Sequence[str] | None = None
    measure: object | None = None
    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    training: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    kind: ClassVar[str]
    rows_at_once: ClassVar[int | None] = ROWS_AT_ONCE
    """How many rows the core is given at once; None: all of them, which it divides itself."""

    def __post_init__(self) -> None:
        if self.measure is not None:
            object.__setattr__(self, "measure", str(self.measure))
        if self.feature_names is not None:
            names = tuple(str(name) for name in self.feature_names)
            object.__setattr__(self, "feature_names", names)
            if len(names) != self.n_features:
                raise InputError(f"there are {len(names)} feature names for {self.n_features} features")
        self.transform.check(self.n_features)

    @property
    def n_features(self) -> int:
        """How many features a document has."""
        raise NotImplementedError

    @property
    def needs_queries(self) -> bool:
        """Whether a document's score depends on the others of its query, so that predicting needs ``qid``."""
        return self.transform.needs_queries

    @property
    def members(self) -> tuple[Scorer, ...]:
        """The scorers that this one is made of; most are made of none."""
        return ()

    @property
    def depth(self) -> int:
        """How many levels of members there are."""
        return 0

    def _score(self, values: NDArray[np.floating]) -> Floats:
        """The core: a score for each row of transformed values; NaN where a value it needs is missing."""
        raise NotImplementedError

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The core's arrays, for the model file."""
        raise NotImplementedError

    @classmethod
    def from_arrays(cls, stored: StoredArrays, n_features: int, **about: Any) -> Self:
        """What ``arrays`` gave, checked, made whole again."""
        raise NotImplementedError

    def predict(self, X: ArrayLike | Queries, *, qid: Any = None) -> Floats:
        """One score a row, in the order in which the rows were given.

        ``X`` is a ``QuerySet``, a matrix or a data frame; ``qid`` is needed beside the latter two if the
        transform depends on the query.
        """
        features, offsets, rows = self._read(X, qid)
        scores = self.stored_scores(features, offsets)
        self._refuse_nan(scores, features, rows)
        if rows is None:
            return scores
        given = np.empty_like(scores)
        given[rows] = scores
        return given

    def stored_scores(self, features: Singles, offsets: Integers | None) -> Floats:
        """One score a stored row, NaN where a value that is needed is missing.

        ``offsets`` bound the queries, for a scorer that ``needs_queries``.
        """
        offsets = offsets if self.needs_queries else None
        scores = np.empty(len(features))
        bounds = blocks_of_rows(len(features), offsets, self.rows_at_once or max(len(features), 1))
        for begin, end in itertools.pairwise(bounds):
            within = bounds_within(offsets, begin, end)
            with np.errstate(over="ignore", invalid="ignore"):  # found in the scores, and named
                scores[begin:end] = self._score(self.transform(features[begin:end], within))
        return scores

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a model file, whole or not at all; ``rankwright.load`` reads it."""
        files.save(self, path)

    def __repr__(self) -> str:
        what = f"{self.n_features} feature{'s' if self.n_features != 1 else ''}"
        first = "" if self.transform.kind == UNCHANGED.kind else f", {self.transform.kind}"
        return f"{type(self).__name__}({what}{first})"

    def _read(self, X: ArrayLike | Queries, qid: Any) -> tuple[Singles, Integers | None, Integers | None]:
        """Features by stored row, bounds of the queries where needed, and the rows' given places."""
        # An array is told apart first: to ask whether it is a protocol's costs more than a row's score.
        if not isinstance(X, np.ndarray) and isinstance(X, Queries):
            self._check(X.features.shape[1], X.feature_names)
            return X.features, X.offsets if self.needs_queries else None, X.rows
        columns = getattr(X, "columns", None)
        features = feature_matrix(X)
        self._check(features.shape[1], None if columns is None else tuple(str(name) for name in columns))
        if not self.needs_queries:
            return features, None, None
        if qid is None:
            what = "" if self.transform.kind == UNCHANGED.kind else f" ({self.transform.kind})"
            raise InputError(
                f"this scorer's transform{what} depends on the query; "
                "give the query of each row as qid=…, or a QuerySet"
            )
        offsets, _, rows = group(qid, len(features))
        return features if rows is None else features[rows], offsets, rows

    def _check(self, n_features: int, names: tuple[str, ...] | None) -> None:
        if n_features != self.n_features:
            raise InputError(
                f"the data has {n_features} features and the scorer was made for {self.n_features}; "
                "give it the features that it was trained on"
            )
        if names is None or self.feature_names is None or names == self.feature_names:
            return
        pairs = enumerate(zip(names, self.feature_names, strict=True))
        feature, (here, there) = next((i, pair) for i, pair in pairs if pair[0] != pair[1])
        raise InputError(
            f"feature {feature} is {here!r} in the data and {there!r} in the scorer; "
            "give the features that it was trained on, in their order"
        )

    def _refuse_nan(self, scores: Floats, features: Singles, rows: Integers | None) -> None:
        bad = np.flatnonzero(np.isnan(scores))
        if not len(bad):
            return
        stored = int(bad[0])
        row = stored if rows is None else int(rows[stored])
        missing = np.flatnonzero(np.isnan(features[stored]))
        if not len(missing):
            raise InputError(f"row {row}: the score is not a number; the features are too large")
        raise InputError(
            f"row {row}: a feature that this scorer needs is missing (NaN in column {missing[0]}); "
            "fill it in, or use a scorer that standardises, for which a missing value is the mean"
        )


def blocks_of_rows(n: int, offsets: Integers | None, rows_at_once: int) -> Integers:
    """Where the blocks of rows begin and end; whole queries, where ``offsets`` bound them."""
    if n <= rows_at_once:
        return np.array([0, n] if n else [0], np.int64)
    bounds = np.arange(0, n, rows_at_once)
    if offsets is not None:
        bounds = offsets[np.searchsorted(offsets, bounds)]
    return np.unique(np.append(bounds, n))


def bounds_within(offsets: Integers | None, begin: int, end: int) -> Integers | None:
    """The bounds of the queries of a block of rows, counted from its first row.

    >>> bounds_within(np.array([0, 2, 5, 9]), 2, 9)
    array([0, 3, 7])
    """
    if offsets is None:
        return None
    first, last = np.searchsorted(offsets, [begin, end])
    return offsets[first : last + 1] - begin
