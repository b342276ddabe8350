"""Scorers of scorers: weighted sums of them (2010 section 7.1), and a core over what they make of a document.

    Sum:    score = Σ weight · member's score
    Stack:  score = core(scores of the bases[, the document's features])

Each member sees the raw features and transforms them itself. A row's score does not depend on the rows
around it where no member's does.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwright.runtime.arrays import Floats, Integers, Singles
from rankwright.runtime.errors import InputError
from rankwright.scorers.arrays import StoredArrays, frozen
from rankwright.scorers.base import Scorer, blocks_of_rows, bounds_within
from rankwright.scorers.transform import UNCHANGED

MOST_MEMBERS = 1000
DEEPEST = 8
"""How deep scorers of scorers may stand in each other."""
STACKED_ROWS = 1 << 14
"""So many rows of scores and features stand side by side at once."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Composed(Scorer):
    """What both have in common: members that agree on the features, and no transform of its own."""

    def _check_members(self, members: Sequence[Scorer], what: str) -> None:
        if not 1 <= len(members) <= MOST_MEMBERS:
            raise InputError(f"there are {len(members)} {what}; give 1 to {MOST_MEMBERS}")
        if self.transform.kind != UNCHANGED.kind:
            raise InputError(f"{what} transform the features themselves; give no transform")
        names = self.feature_names
        for number, member in enumerate(members):
            if member.n_features != members[0].n_features:
                raise InputError(
                    f"{what}: number {number} has {member.n_features} features and number 0 "
                    f"{members[0].n_features}; give scorers of the same features"
                )
            if names is not None and member.feature_names not in (None, names):
                raise InputError(f"{what}: number {number} has other feature names; give scorers of the same")
            names = names or member.feature_names
        object.__setattr__(self, "feature_names", names)

    @property
    def depth(self) -> int:
        """One more than the deepest member's."""
        return 1 + max(member.depth for member in self.members)

    @property
    def needs_queries(self) -> bool:
        """Whether any member does."""
        return any(member.needs_queries for member in self.members)

    def __post_init__(self) -> None:
        if self.depth > DEEPEST:
            raise InputError(f"scorers stand in each other {self.depth} deep; {DEEPEST} is the most")
        super().__post_init__()


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Sum(Composed):
    """A weighted sum of scorers (or fitted learners); without weights each counts 1.

    A member of weight 0 is not asked, so what it needs may be missing.

    >>> import rankwright as rw
    >>> one, two = rw.LinearScorer.feature(0, 2), rw.LinearScorer.feature(1, 2)
    >>> Sum([one, two], [1.0, 0.5]).predict([[3, 4]])
    array([5.])
    """

    scorers: Sequence[Any]
    weights: ArrayLike | None = None

    kind: ClassVar[str] = "sum"

    def __post_init__(self) -> None:
        scorers = tuple(getattr(scorer, "scorer_", scorer) for scorer in self.scorers)
        object.__setattr__(self, "scorers", scorers)
        self._check_members(scorers, "scorers")
        weights = frozen(np.ones(len(scorers)) if self.weights is None else self.weights, "weights")
        if len(weights) != len(scorers):
            raise InputError(f"there are {len(weights)} weights for {len(scorers)} scorers; give one of each")
        object.__setattr__(self, "weights", weights)
        super().__post_init__()

    @property
    def members(self) -> tuple[Scorer, ...]:
        """The scorers."""
        return tuple(self.scorers)

    @property
    def n_features(self) -> int:
        """As many as each member has."""
        return int(self.scorers[0].n_features)

    def __repr__(self) -> str:
        terms = zip(np.asarray(self.weights).tolist(), self.scorers, strict=True)
        return f"Sum({' + '.join(f'{weight:g} · {scorer!r}' for weight, scorer in terms)})"

    def stored_scores(self, features: Singles, offsets: Integers | None) -> Floats:
        """The members' scores, each times its weight, added from the first to the last."""
        total = np.zeros(len(features))
        with np.errstate(over="ignore", invalid="ignore"):
            for weight, scorer in zip(np.asarray(self.weights), self.scorers, strict=True):
                if weight != 0:
                    total += weight * scorer.stored_scores(features, offsets)
        return total

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The weights; members have arrays of their own."""
        return {"weights": np.asarray(self.weights)}

    @classmethod
    def from_arrays(
        cls, stored: StoredArrays, n_features: int, members: Sequence[Scorer] = (), **about: Any
    ) -> Self:
        """The members, and one weight of each."""
        return cls(members, stored.floats("weights", (len(members),)), **about)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Stack(Composed):
    """A core over the scores of ``bases`` (scorers or fitted learners).

    A core of as many features as there are bases sees their scores, as float32; one of as many more as a
    document has features sees these behind the scores.

    >>> import rankwright as rw
    >>> bases = [rw.LinearScorer.feature(0, 2), rw.LinearScorer.feature(1, 2)]
    >>> Stack(bases, rw.LinearScorer([1.0, -1.0])).predict([[3, 4]])
    array([-1.])
    >>> Stack(bases, rw.LinearScorer([1.0, -1.0, 0.0, 2.0])).predict([[3, 4]])
    array([7.])
    """

    bases: Sequence[Any]
    core: Any

    kind: ClassVar[str] = "stack"

    def __post_init__(self) -> None:
        bases = tuple(getattr(scorer, "scorer_", scorer) for scorer in self.bases)
        object.__setattr__(self, "bases", bases)
        object.__setattr__(self, "core", getattr(self.core, "scorer_", self.core))
        self._check_members(bases, "bases")
        if self.core.n_features not in (len(bases), len(bases) + self.n_features):
            raise InputError(
                f"the core has {self.core.n_features} features for {len(bases)} bases; give one of "
                f"{len(bases)} features (the scores) or {len(bases) + self.n_features} (the documents' too)"
            )
        super().__post_init__()

    @property
    def members(self) -> tuple[Scorer, ...]:
        """The bases, and the core behind them."""
        return (*self.bases, self.core)

    @property
    def n_features(self) -> int:
        """As many as each base has."""
        return int(self.bases[0].n_features)

    def __repr__(self) -> str:
        return f"Stack({self.core!r} over {', '.join(repr(base) for base in self.bases)})"

    def stored_scores(self, features: Singles, offsets: Integers | None) -> Floats:
        """What the core makes of the bases' scores; NaN where one of these is."""
        scores = np.empty(len(features))
        for begin, end in itertools.pairwise(blocks_of_rows(len(features), offsets, STACKED_ROWS)):
            block, within = features[begin:end], bounds_within(offsets, begin, end)
            with np.errstate(over="ignore"):
                lines = np.array([base.stored_scores(block, within) for base in self.bases], np.float32)
            stacked = lines.T if self.core.n_features == len(self.bases) else np.hstack([lines.T, block])
            scores[begin:end] = self.core.stored_scores(np.ascontiguousarray(stacked), within)
            # A core that takes missing values must not hide that a base cannot.
            scores[begin:end][np.isnan(lines).any(axis=0)] = np.nan
        return scores

    @classmethod
    def from_arrays(
        cls, stored: StoredArrays, n_features: int, members: Sequence[Scorer] = (), **about: Any
    ) -> Self:
        """The bases, and the core behind them."""
        if not members:
            raise InputError("it is a stack without a core")
        return cls(members[:-1], members[-1], **about)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """None; members have arrays of their own."""
        return {}
