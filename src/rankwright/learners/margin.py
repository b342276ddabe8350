"""What max-margin learners share: parameters, the space that w lives in, and a path over C.

    minimise  ½|w|² + C · risk(w)

The risk is a mean over queries, or over pairs, so C means the same for any number of them (2008 equation 1).
"""

from __future__ import annotations

import dataclasses
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from rankwright.data import QuerySet
from rankwright.learners.base import judge
from rankwright.learners.nets import rows_of
from rankwright.learners.nystroem import ROWS_AT_ONCE, Nystroem
from rankwright.runtime.arrays import Floats, Singles
from rankwright.runtime.errors import InputError
from rankwright.runtime.progress import told
from rankwright.scorers import LinearScorer, QueryScaling, Scorer, Standardising, Transform
from rankwright.scorers.transform import UNCHANGED
from rankwright.solvers.problem import Record, Solution, Watch
from rankwright.solvers.rows import products

Solving = Callable[[float, Any, Watch], Solution]
"""Solves at a C, from the state of the C before; tells of each step."""


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class MarginParameters:
    """The parameters that all max-margin learners share.

    ``C`` is a number or several: then each is solved, from the last one's solution, and the best on ``valid``
    kept; ``early_stopping_rounds`` numbers without a better one end the path. ``tol`` is the relative duality
    gap to stop at, ``max_iter`` the most steps at one C. ``scaling`` is "standard" (one scale for all
    features), "query" (to [0, 1] within each query, as 2008 has it; predicting then needs ``qid``), or None.
    ``kernel`` is None (linear), or as for ``KernelRankNet``, with the parameters that follow it.
    """

    C: float | Sequence[float] = 100.0
    tol: float = 1e-3
    max_iter: int = 1000
    scaling: Literal["standard", "query"] | None = "standard"
    kernel: str | None = None
    gamma: float | None = None
    degree: int = 3
    n_components: int = 300
    early_stopping_rounds: int | None = None
    random_state: Any = 0
    n_jobs: int | None = None


class Space:
    """Where w lives: the transformed features, or those of a kernel."""

    def __init__(self, learner: MarginParameters, queries: QuerySet):
        scalings: dict[str | None, Callable[[], Transform]] = {
            "standard": lambda: Standardising.of(queries.features),
            "query": QueryScaling,
            None: lambda: UNCHANGED,
        }
        if learner.scaling not in scalings:
            raise InputError(f"scaling is {learner.scaling!r}; it is 'standard', 'query' or None")
        self.transform = scalings[learner.scaling]()
        self.nystroem = None
        self._own: tuple[QuerySet, Singles] = queries, rows_of(queries, self.transform)
        if learner.kernel is not None:
            self.nystroem = Nystroem.of(learner, self._own[1])

    def rows(self, queries: QuerySet) -> Singles:
        """The documents in this space."""
        rows = self._own[1] if queries is self._own[0] else rows_of(queries, self.transform)
        if self.nystroem is None:
            return rows
        out = np.empty((len(rows), self.nystroem.width), np.float32)
        for begin in range(0, len(rows), ROWS_AT_ONCE):
            block = slice(begin, begin + ROWS_AT_ONCE)
            out[block] = self.nystroem.features(rows[block])
        return out

    def scorer(self, weights: Floats, **about: Any) -> Scorer:
        """What scores by w."""
        if self.nystroem is None:
            return LinearScorer(weights, transform=self.transform, **about)
        return self.nystroem.scorer(weights, transform=self.transform, **about)


class Path:
    """The Cs in rising order, each from the solution at the one before; the best one's solution is kept.

    ``history`` has the records of all steps; "seconds" count from the first C on. Where ``progress`` ends
    training by ``StopIteration``, the C under way is the last.
    """

    def __init__(self, learner: Any, space: Space, valid: QuerySet | None, progress: Any = None):
        self.learner, self.progress = learner, progress
        self.values = costs(learner.C)
        if len(self.values) > 1 and valid is None:
            raise InputError(
                f"C has {len(self.values)} values and nothing says which is best; give valid, or one C"
            )
        self.history: list[Record] = []
        self._began, self._goes_on = time.perf_counter(), True
        self.best: Solution | None = None
        self._score = -np.inf
        self._judged = None if valid is None else (space.rows(valid), judge(learner.selection_measure, valid))

    def run(self, solving: Solving) -> Solution:
        """The best solution."""
        state, since = None, 0
        for C in self.values:
            solution = solving(C, state, self._watch)
            state, since = solution.state, since + 1
            score = self._close(solution)
            if self.best is None or score > self._score:
                self.best, self._score, since = solution, score, 0
            if not self._goes_on:
                break
            patience = self.learner.early_stopping_rounds
            if self._judged is not None and patience and since >= patience:
                break
        assert self.best is not None
        return self.best

    def _watch(self, record: Record) -> None:
        record["seconds"] = time.perf_counter() - self._began
        self.history.append(record)
        if "ended" not in record:
            self._goes_on &= told(self.progress, record)

    def _close(self, solution: Solution) -> float:
        """Complete the last record of a C by what its solution is worth on valid, and tell of it."""
        record = self.history[-1]
        if self._judged is not None:
            rows, mean = self._judged
            record["valid"] = mean(products(rows, solution.weights, self.learner.n_jobs))
            if len(self.values) > 1 and np.isnan(record["valid"]):
                raise InputError(
                    f"valid has no query of which {self.learner.selection_measure!r} has a value, so nothing "
                    "says which C is best; give valid with relevant documents, or one C"
                )
        self._goes_on &= told(self.progress, record)
        return float(record.get("valid", np.nan))


def fit_path(
    learner: Any, queries: QuerySet, space: Space, path: Path, solving: Solving, depth: int, **training: Any
) -> None:
    """Solve along the path, and leave the learner with its scorer, history and certificate.

    ``depth`` is how many calls lie between ``fit`` and this one, so that a warning names the caller's line.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with threadpool_limits(1, "blas"):  # sums in one order, however many threads a library would take
        best = path.run(solving)
        names = ("C", "primal", "dual", "flat")
        learner.certificate_ = {name: getattr(best, name) for name in names} | {"gap": best.relative_gap}
        learner.history_ = path.history
        about = learner._about(queries, steps=len(path.history), **learner.certificate_, **training)
        learner.scorer_ = space.scorer(best.weights, **about)
    if best.message:
        from sklearn.exceptions import ConvergenceWarning

        warnings.warn(best.message, ConvergenceWarning, stacklevel=depth + 3)


def costs(given: Any) -> list[float]:
    """The values of C, rising; refused where one is not above 0.

    >>> costs(1), costs([10, 0.1])
    ([1.0], [0.1, 10.0])
    """
    several = (
        list(given) if isinstance(given, Sequence | np.ndarray) and not isinstance(given, str) else [given]
    )
    for value in several:
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not number or not 0 < value < np.inf:
            raise InputError(f"C is {given!r}; give a number above 0, or several")
    if not several:
        raise InputError("C is empty; give a number above 0, or several")
    return sorted({float(value) for value in several})


def check_margin(learner: MarginParameters) -> None:
    """Refuse what no solver could keep to."""
    costs(learner.C)
    if not isinstance(learner.tol, int | float) or not 0 < learner.tol < 1:
        raise InputError(f"tol is {learner.tol!r}; it is a relative gap, a number between 0 and 1")
    for name in ("max_iter", "early_stopping_rounds"):
        value = getattr(learner, name)
        if name == "early_stopping_rounds" and value is None:
            continue
        if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
            raise InputError(f"{name} is {value!r}; it is a whole number of at least 1")
