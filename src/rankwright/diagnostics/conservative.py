"""Is there a cost whose gradient the λ's are? After 2006 section 4 and 2010 section 4.3.

With λ = −∂C/∂s and J = ∂λ/∂s, the Poincaré lemma says that such a C exists if and only if J is symmetric
everywhere; −J is then C's Hessian, and C is convex where −J is positive semidefinite. (The paper has J itself
positive semidefinite, and + α s for its regulariser: that is the sign of +∂C/∂s.)

"Everywhere" is the catch. A rule that weighs pairs by swap gains has a symmetric J between changes of order,
and no J at them, where its λ's jump. So the λ's are also integrated round closed loops that cross changes of
order: where a cost exists, every circulation ∮ λ · ds is 0.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwright.learners.base import generator
from rankwright.measures import measure as read_measure
from rankwright.measures.base import Measure
from rankwright.measures.lists import Lists
from rankwright.pairwise.forces import Forces
from rankwright.pairwise.rules import Rule
from rankwright.pairwise.rules import rule as read_rule
from rankwright.runtime.errors import InputError

Floats = NDArray[np.float64]

LABELS = (3, 2, 1, 0, 0, 1)
SYMMETRIC = 1e-6  # of the largest entry of J: what finite differences leave
CLOSED = 1e-9  # of the work done along the loop
CLEAR = 1e-3  # how far sampled scores stay from changes of order and kinks, relative to their spread
STEP = 1e-5
NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)
MOST_DOCUMENTS = 100  # work grows with the fourth power of their number
WIDEST = 1e6
LONGEST = 0.25  # score that a piece of a path may cover, relative to the spread


@dataclasses.dataclass(frozen=True, eq=False)
class Conservation:
    """What the tests found; ``str`` tells it in words.

    ``asymmetry`` is the largest |J − Jᵀ|, over the largest |J|; ``softest`` the lowest eigenvalue of −J;
    ``rising`` the share of pairs of points between which the forces push apart, as no convex cost's do;
    ``circulation`` the largest |∮ λ · ds|, and ``relative_circulation`` the largest of these over the work
    ∮ |λ · ds|, found round the triangle ``loop``. ``derivative_error`` is how far the rule's own derivative
    lies from finite differences, over the largest |J|; None if it gives none.
    """

    rule: Rule
    measure: Measure | None
    labels: tuple[float, ...]
    n_points: int
    n_loops: int
    largest: float
    asymmetry: float
    softest: float
    rising: float
    circulation: float
    relative_circulation: float
    derivative_error: float | None
    loop: Floats

    @property
    def symmetric(self) -> bool:
        """Whether J is symmetric between changes of order: 2006's test, as far as it goes."""
        return self.asymmetry <= SYMMETRIC

    @property
    def conservative(self) -> bool:
        """Whether the λ's have a cost: symmetric J, and no circulation round any loop tried."""
        return self.symmetric and self.relative_circulation <= CLOSED

    @property
    def convex(self) -> bool:
        """Whether they have a cost and it is convex, wherever it was tried."""
        return (
            self.conservative and self.softest >= -SYMMETRIC * max(self.largest, 1e-300) and self.rising == 0
        )

    def as_dict(self) -> dict[str, Any]:
        """All figures and verdicts, as plain data."""
        return {
            "rule": repr(self.rule),
            "measure": None if self.measure is None else str(self.measure),
            "labels": list(self.labels),
            "points": self.n_points,
            "loops": self.n_loops,
            "symmetric": self.symmetric,
            "conservative": self.conservative,
            "convex": self.convex,
            "asymmetry": self.asymmetry,
            "lowest_eigenvalue": self.softest,
            "rising": self.rising,
            "circulation": self.circulation,
            "relative_circulation": self.relative_circulation,
            "derivative_error": self.derivative_error,
        }

    def __str__(self) -> str:
        by = "without a measure" if self.measure is None else f"with {self.measure}"
        verdict = "conservative" if self.conservative else "not conservative"
        if self.conservative:
            verdict += ", convex" if self.convex else ", not convex"
        derivative = "none given"
        if self.derivative_error is not None:
            derivative = f"{self.derivative_error:.1e} from finite differences"
        tests = (
            ("J symmetric between changes of order", self.symmetric, f"asymmetry {self.asymmetry:.1e}"),
            (
                "no circulation across them",
                self.relative_circulation <= CLOSED,
                f"{self.circulation:.1e}, of the work {self.relative_circulation:.1e}",
            ),
            (
                "−J positive semidefinite",
                self.softest >= -SYMMETRIC * self.largest,
                f"lowest eigenvalue {self.softest:.1e}",
            ),
            ("forces never push apart", self.rising == 0, f"{self.rising:.2%} of pairs of points"),
        )
        lines = [
            f"{type(self.rule).__name__} {by}: {verdict}",
            f"  {self.n_points} points, {self.n_loops} loops, {len(self.labels)} documents",
            *(f"  {what:37} {'yes' if holds else 'no ':5}{figure}" for what, holds, figure in tests),
            f"  {'own derivative':37} {derivative}",
        ]
        return "\n".join(lines)


def conservative(
    rule: str | Rule | Callable[..., None] = "RankNetWeightPairs",
    measure: str | Measure | None = None,
    labels: ArrayLike = LABELS,
    *,
    weights: ArrayLike | None = None,
    n_points: int = 20,
    n_loops: int = 50,
    spread: float = 1.0,
    random_state: Any = 0,
) -> Conservation:
    """Test whether a λ rule is the gradient of a cost, and whether that cost is convex.

    One query with these ``labels`` is scored at random (normal, of deviation ``spread``): J is taken at
    ``n_points`` of these, and circulations round ``n_loops`` triangles. A failed test is proof; a passed one
    holds for what was tried.

    >>> verdict = conservative("spring", n_points=5, n_loops=5)
    >>> verdict.conservative, verdict.convex
    (True, True)
    >>> verdict = conservative("RankNetWeightPairs", "ndcg", n_points=5, n_loops=5)
    >>> verdict.symmetric, verdict.conservative
    (True, False)
    """
    field = _Field(read_rule(rule), None if measure is None else read_measure(measure), labels, weights)
    _check_size(n_points=n_points, n_loops=n_loops, spread=spread)
    random = generator(random_state)
    points = [field.clear_point(random, spread) for _ in range(n_points)]
    jacobians = [field.jacobian(point, STEP * spread) for point in points]
    exact = [field.exact_jacobian(point) for point in points]
    largest = max(float(np.abs(J).max()) for J in jacobians)
    scale = max(largest, 1e-300)
    gaps = [np.abs(J - own).max() for J, own in zip(jacobians, exact, strict=True) if own is not None]
    # An own derivative has no rounding, and symmetric or not it says so exactly.
    judged = [J if own is None else own for J, own in zip(jacobians, exact, strict=True)]
    loops = random.normal(0.0, spread, (n_loops, 3, field.n))
    rounds = np.array([field.circulation(loop, LONGEST * spread) for loop in loops])
    relative = np.abs(rounds[:, 0]) / np.maximum(rounds[:, 1], 1e-300)
    return Conservation(
        rule=field.rule,
        measure=field.measure,
        labels=tuple(field.labels.tolist()),
        n_points=n_points,
        n_loops=n_loops,
        largest=largest,
        asymmetry=max(float(np.abs(J - J.T).max()) for J in jacobians) / scale,
        softest=min(float(np.linalg.eigvalsh(-(J + J.T) / 2).min()) for J in judged),
        rising=field.rising(np.concatenate([points, loops.reshape(-1, field.n)])),
        circulation=float(np.abs(rounds[:, 0]).max()),
        relative_circulation=float(relative.max()),
        derivative_error=max(gaps) / scale if gaps else None,
        loop=loops[int(np.argmax(relative))],
    )


def _check_size(spread: Any, **counts: Any) -> None:
    for name, value in counts.items():
        if not isinstance(value, int | np.integer) or value < 1:
            raise InputError(f"{name} is {value!r}; give a whole number of at least 1")
    if not isinstance(spread, int | float | np.number) or not 0 < spread <= WIDEST:
        raise InputError(f"spread is {spread!r}; give a number above 0, up to {WIDEST:g}")


def _numbers(given: ArrayLike, what: str) -> Floats:
    try:
        return np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} are {given!r:.60}; give one number a document") from error


class _Field:
    """The λ's of one query, as a function of its scores."""

    def __init__(self, rule: Rule, measure: Measure | None, labels: ArrayLike, weights: ArrayLike | None):
        self.rule, self.measure = rule, measure
        self.labels = _numbers(labels, "labels")
        if self.labels.ndim != 1 or not 2 <= len(self.labels) <= MOST_DOCUMENTS:
            raise InputError(f"labels are those of one query, of two to {MOST_DOCUMENTS} documents")
        self.n = len(self.labels)
        self.weights = np.ones(self.n) if weights is None else _numbers(weights, "weights")
        if self.weights.shape != self.labels.shape:
            raise InputError(f"there are {self.weights.size} weights for {self.n} labels; give one a label")
        bad = np.flatnonzero(~((self.weights >= 0) & np.isfinite(self.weights)))
        if len(bad):
            raise InputError(
                f"weight {bad[0]} is {self.weights[bad[0]]:g}; weights are finite and not negative"
            )
        self.alone = self._forces(1)
        if self.alone.constants[0] == 0.0:
            raise InputError(f"{measure!r} finds nothing in the labels {self.labels.tolist()}; give others")

    @functools.cached_property
    def marks(self) -> Floats:
        """Differences of scores at which forces are not smooth."""
        return np.array([0.0, *self.rule.kinks, *(-kink for kink in self.rule.kinks)])

    def _forces(self, copies: int) -> Forces:
        lists = Lists(np.tile(self.labels, copies), np.arange(copies + 1) * self.n)
        return Forces(self.rule, lists, self.measure, weights=np.tile(self.weights, copies))

    def at(self, points: Floats) -> Floats:
        """The λ's at each of these points."""
        return self._forces(len(points)).at(points.ravel()).lambdas.reshape(points.shape)

    def clear_point(self, random: np.random.Generator, spread: float) -> Floats:
        """Random scores with room around them: no change of order and no kink is near."""
        above = np.triu_indices(self.n, 1)
        while True:
            point = random.normal(0.0, spread, self.n)
            apart = np.subtract.outer(point, point)[above]
            if np.abs(np.subtract.outer(apart, self.marks)).min() > CLEAR * spread:
                return point

    def jacobian(self, point: Floats, step: float) -> Floats:
        """∂λ/∂s by finite differences."""
        steps = step * np.eye(self.n)
        ends = self.at(np.concatenate([point + steps, point - steps]))
        return (ends[: self.n] - ends[self.n :]).T / (2 * step)

    def exact_jacobian(self, point: Floats) -> Floats | None:
        """∂λ/∂s from the derivative that the rule gives, if it gives one."""
        total = self.weights.sum()
        tied = np.diag(self.weights) - np.outer(self.weights, self.weights) / total
        stiff = np.zeros((self.n, self.n))
        if self.rule.force_kernel is not None:
            order = np.argsort(-point, kind="stable")
            scores, labels, levels = point[order], self.labels[order], self.alone.levels[order]
            sign = np.sign(np.subtract.outer(levels, levels)).T
            swaps = sign.astype(np.float32) if self.measure is None else self.measure.swap_gains(labels)
            for i in range(self.n):
                end = min(self.n, i + 1 + self.rule.reach)
                out = np.full((3, self.n), np.nan)
                self.rule.force_kernel.plain(
                    np.uint64(i), np.uint64(end), float(self.alone.constants[0]), scores, levels, swaps[i],
                    self.rule.parameters, out,
                )  # fmt: skip
                stiff[order[i], order[i + 1 : end]] = out[1, i + 1 : end]
            if np.isnan(stiff).any():
                return None
        stiff = (stiff + stiff.T) * np.outer(self.weights, self.weights)
        return stiff - np.diag(stiff.sum(axis=1)) - self.rule.alpha * tied

    def circulation(self, loop: Floats, longest: float) -> tuple[float, float]:
        """∮ λ · ds and ∮ |λ · ds| round a polygon, by Gauss and Legendre's rule on each smooth piece."""
        places, ways, shares = [], [], []
        for begin, end in zip(loop, np.roll(loop, -1, axis=0), strict=True):
            bounds = self._pieces(begin, end, longest)
            half = np.diff(bounds) / 2
            times = (bounds[:-1] + half)[:, None] + half[:, None] * NODES
            places.append(begin + times.reshape(-1, 1) * (end - begin))
            ways.append(np.tile(end - begin, (times.size, 1)))
            shares.append((half[:, None] * WEIGHTS).ravel())
        done = (self.at(np.concatenate(places)) * np.concatenate(ways)).sum(axis=1) * np.concatenate(shares)
        return float(done.sum()), float(np.abs(done).sum())

    def _pieces(self, begin: Floats, end: Floats, longest: float) -> Floats:
        """Where on the way from 0 to 1 two scores pass each other or a kink, and stops between."""
        above = np.triu_indices(self.n, 1)
        first, last = (np.subtract.outer(point, point)[above][:, None] for point in (begin, end))
        change = last - first
        with np.errstate(divide="ignore", invalid="ignore"):
            crossings = ((self.marks - first) / change).ravel()
        stops = np.linspace(0.0, 1.0, 2 + int(np.abs(change).max() / longest))
        return np.union1d(stops, crossings[(crossings > 0) & (crossings < 1)])

    def rising(self, points: Floats) -> float:
        """The share of pairs of points with (λ(s) − λ(t)) · (s − t) > 0, but for rounding."""
        lambdas = self.at(points)
        work = (lambdas * points).sum(axis=1)
        crossed = lambdas @ points.T
        pushed = work[:, None] + work[None, :] - crossed - crossed.T
        size = np.abs(lambdas).max() * np.abs(points).max() * self.n
        return float((pushed > 1e-9 * size).mean())
