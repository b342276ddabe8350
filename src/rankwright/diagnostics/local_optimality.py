"""Are the weights that were learned at a local optimum of the measure itself? After 2009 section 5.

A one-sided Monte-Carlo test: move the weights in random directions, and see whether the measure ever rises.
If a share p ≥ p₀ of directions were ascents, n of them would all miss with probability (1 − p)ⁿ, so

    (1 − p₀)ⁿ ≤ δ   ⟺   n ≥ log δ / log(1 − p₀)                                           (2010 equation 9)

and with p₀ = δ = 0.01 that is 458.2: 459 directions without an ascent say with 99 % confidence that fewer
than 1 % of all directions are ascents. Besides, each weight is moved alone, up and down.

An ascent is strictly greater. The paper's text counts equality as one too; but the output's offset and the
scale of the last layer's weights never change an order, and a measure is flat between changes of order.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.data import QuerySet
from rankwright.diagnostics.moves import Moves, moves
from rankwright.learners.base import DEFAULT_MEASURE, as_queries, generator, judge, tells_apart
from rankwright.measures import measure as read_measure
from rankwright.measures.base import Measure
from rankwright.measures.lists import Lists
from rankwright.measures.ranking import query_constants, query_values, rank_queries
from rankwright.runtime.errors import InputError

Floats = NDArray[np.float64]

Progress = Callable[[int, int], None]

STEPS = tuple(round(0.1 * k, 1) for k in range(1, 11))
SCORES_AT_ONCE = 8_000_000


def directions_needed(p0: float = 0.01, delta: float = 0.01) -> int:
    """How many directions without an ascent say, with confidence 1 − δ, that fewer than p₀ of all are one.

    >>> directions_needed(0.01, 0.01)
    459
    """
    for name, value in (("p0", p0), ("delta", delta)):
        if not isinstance(value, int | float | np.number) or not 0 < value < 1:
            raise InputError(f"{name} is {value!r}; give a share between 0 and 1")
    return math.ceil(math.log(delta) / math.log1p(-p0))


def confidence(n: int, p0: float = 0.01) -> float:
    """The confidence that n directions without an ascent give that fewer than p₀ of all are one.

    >>> round(confidence(459), 4), round(confidence(100), 4)
    (0.9901, 0.634)
    """
    return -math.expm1(n * math.log1p(-p0))


@dataclasses.dataclass(frozen=True, eq=False)
class LocalOptimality:
    """What moving the weights did to the measure; ``str`` tells it in words.

    ``start`` is the mean of the measure at the weights given. ``along[d, s]`` is it after moving them by
    ``steps[s]`` (times ``unit``) in the random direction ``directions[d]``: the curves of 2009's figures.
    ``alone[k, s]`` is it after moving weight k alone by ``alone_steps[s]`` (times ``alone_unit``).
    """

    measure: Measure
    n_queries: int
    start: float
    weights: Floats
    steps: Floats
    unit: float
    directions: Floats
    along: Floats
    alone_steps: Floats
    alone_unit: float
    alone: Floats
    p0: float
    relative: bool
    moved: Moves = dataclasses.field(repr=False)

    @property
    def ascents(self) -> NDArray[np.bool_]:
        """Which directions raise the measure at which steps."""
        return self.along > self.start

    @property
    def alone_ascents(self) -> NDArray[np.bool_]:
        """Which weights raise the measure when they are moved alone, at which steps."""
        return self.alone > self.start

    @property
    def confidence(self) -> float:
        """The confidence that fewer than ``p0`` of the directions are ascents; 0 where one was found."""
        return 0.0 if self.ascents.any() else confidence(len(self.along), self.p0)

    @property
    def is_optimum(self) -> bool:
        """Whether nothing that was tried raised the measure."""
        return not (self.ascents.any() or self.alone_ascents.any())

    @property
    def best(self) -> tuple[float, Floats]:
        """The highest value met, and the weights that have it: those given, if nothing is higher."""
        values = [np.max(table, initial=-np.inf) for table in (self.along, self.alone)]
        if max(values) <= self.start:
            return self.start, self.weights
        if values[0] >= values[1]:
            d, s = np.unravel_index(np.argmax(self.along), self.along.shape)
            return float(values[0]), self.weights + self.steps[s] * self.unit * self.directions[d]
        k, s = np.unravel_index(np.argmax(self.alone), self.alone.shape)
        better = self.weights.copy()
        better[k] += self.alone_steps[s] * self.alone_unit
        return float(values[1]), better

    def best_scorer(self) -> Any:
        """The model with the best weights that were met: somewhere to start from again."""
        return self.moved.at(self.best[1])

    def as_dict(self, curves: int = 4) -> dict[str, Any]:
        """Figures, verdict and the first few curves, as plain data."""
        return {
            "measure": str(self.measure),
            "queries": self.n_queries,
            "weights": len(self.weights),
            "start": self.start,
            "steps": self.steps.tolist(),
            "relative": self.relative,
            "directions": len(self.along),
            "ascents": self.ascents.sum(axis=0).tolist(),
            "highest": self.along.max(axis=0).tolist(),
            "weights_alone_that_rise": int(self.alone_ascents.any(axis=1).sum()),
            "best": self.best[0],
            "p0": self.p0,
            "confidence": self.confidence,
            "is_optimum": self.is_optimum,
            "curves": [[self.start, *curve] for curve in self.along[:curves].tolist()],
        }

    def __str__(self) -> str:
        unit = "of |w|" if self.relative else "absolute"
        size = f"{self.n_queries:,} queries, {len(self.weights):,} weights"
        lines = [
            f"{self.measure} is {self.start:.6f} on {size}",
            f"{'step ' + unit:>14} {'ascents':>10} {'highest':>10} {'mean':>10} {'lowest':>10}",
        ]
        for s, step in enumerate(self.steps):
            values = self.along[:, s]
            lines.append(
                f"{step:>14g} {self.ascents[:, s].sum():>10,} {values.max():>10.6f} {values.mean():>10.6f} "
                f"{values.min():>10.6f}"
            )
        rising = int(self.alone_ascents.any(axis=1).sum())
        if len(self.alone):
            lines.append(f"moved alone, {rising:,} of {len(self.alone):,} weights raise it")
        return "\n".join([*lines, *self._verdict()])

    def _verdict(self) -> list[str]:
        n, rising = len(self.along), int(self.ascents.any(axis=1).sum())
        best = f"up to {self.best[0]:.6f}"
        if rising:
            return [f"not a local optimum: {rising:,} of {n:,} directions raise it, {best}"]
        sure = f"no direction raises it: fewer than {self.p0:.1%} do, confidence {self.confidence:.2%}"
        if self.is_optimum:
            return ["a local optimum, as far as was tried", sure]
        return [sure, f"but single weights do, {best}"]


def local_optimality(
    ranker: Any,
    queries: QuerySet,
    measure: str | Measure | None = None,
    *,
    n_directions: int | None = None,
    steps: Sequence[float] = STEPS,
    relative: bool = True,
    every_weight: bool = True,
    p0: float = 0.01,
    delta: float = 0.01,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> LocalOptimality:
    """Test whether a linear model or a net is at a local optimum of the mean of a measure.

    ``ranker`` is a fitted learner or a scorer, ``measure`` by default its own. The weights are moved by each
    of ``steps`` in ``n_directions`` random directions (as many as ``p0`` and ``delta`` ask for, if it is not
    given). ``relative``: steps are parts of |w|, since the scale of a model changes no ranking; else they
    are lengths, as in the paper. ``every_weight``: each weight is also moved alone, up and down, by the same
    steps of the weights' root mean square (or lengths). ``progress`` is called with how many directions and
    weights are done, and of how many.

    >>> from rankwright.scorers import LinearScorer
    >>> queries = QuerySet([[1, 0], [0, 1], [1, 1]], [1, 0, 2], qid=1)
    >>> local_optimality(LinearScorer([0.9, 0.8]), queries).is_optimum
    True
    >>> local_optimality(LinearScorer([0.8, 0.9]), queries).is_optimum
    False
    """
    labelled, scorer = as_queries(queries), getattr(ranker, "scorer_", ranker)
    given = _checked_steps(steps)
    needed = directions_needed(p0, delta)
    n = needed if n_directions is None else n_directions
    if not isinstance(n, int | np.integer) or n < 1:
        raise InputError(f"n_directions is {n_directions!r}; give a whole number of at least 1")
    by = read_measure(measure or _own_measure(ranker, scorer))
    moved = moves(scorer, labelled, n_jobs)
    size, n_weights = float(np.linalg.norm(moved.weights)), len(moved.weights)
    if relative and size == 0:
        raise InputError("all weights are 0, so no step is a part of them; give relative=False")
    unit, alone_unit = (size, size / math.sqrt(n_weights)) if relative else (1.0, 1.0)
    directions = generator(random_state).standard_normal((n, n_weights))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    axes, both = np.eye(n_weights if every_weight else 0, n_weights), np.concatenate([-given[::-1], given])
    walk = _Walk(moved, by, labelled, n + len(axes), progress)
    return LocalOptimality(
        measure=by,
        n_queries=labelled.n_queries,
        start=walk.start,
        weights=moved.weights,
        steps=given,
        unit=unit,
        directions=directions,
        along=walk.along(directions, unit * given),
        alone_steps=both,
        alone_unit=alone_unit,
        alone=walk.along(axes, alone_unit * both),
        p0=p0,
        relative=relative,
        moved=moved,
    )


class _Walk:
    """The measure wherever the weights are moved."""

    def __init__(
        self, moved: Moves, measure: Measure, queries: QuerySet, n_ways: int, progress: Progress | None
    ):
        self.moved, self.n_rows, self.n_ways, self.done = moved, len(queries), n_ways, 0
        self.progress = progress or (lambda done, total: None)
        # It is asked for thousands of times, so compiled it is, however small the data.
        for used in (
            rank_queries,
            query_values,
            query_constants,
            measure.constant_kernel,
            measure.value_kernel,
        ):
            _ = used.compiled
        assert queries.labels is not None
        if not tells_apart(measure, queries, Lists(queries.labels, queries.offsets, rows=queries.rows)).any():
            raise InputError(
                f"{measure!r} is the same however these documents are ordered; "
                "give queries with labels that differ"
            )
        self.value = judge(measure, queries)
        self.start = self.value(moved.scores(np.zeros((1, len(moved.weights))), np.zeros(1))[0, 0])

    def along(self, ways: Floats, steps: Floats) -> Floats:
        """The measure at each step along each way, some ways at a time."""
        out = np.empty((len(ways), len(steps)))
        block = max(1, SCORES_AT_ONCE // (self.n_rows * len(steps)))
        for first in range(0, len(ways), block):
            scores = self.moved.scores(ways[first : first + block], steps)
            out[first : first + block] = [[self.value(each) for each in lists] for lists in scores]
            self.done += len(scores)
            self.progress(self.done, self.n_ways)
        return out


def _checked_steps(steps: Sequence[float]) -> Floats:
    try:
        given = np.array(steps, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.zeros(0)
    if given.ndim != 1 or not len(given) or not (np.isfinite(given) & (given != 0)).all():
        raise InputError(f"steps are {steps!r}; give numbers, none of them 0")
    return given


def _own_measure(ranker: Any, scorer: Any) -> str | Measure:
    """What the model was trained for."""
    return getattr(ranker, "selection_measure", None) or getattr(scorer, "measure", None) or DEFAULT_MEASURE
