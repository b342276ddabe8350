"""The λ rules: how documents of a query push and pull each other, after 2006 section 6.2 and 2009 section 7.

The papers tell in words what they tried; here each rule is a formula. Write for a pair

    d      the better document's score minus the worse one's
    Δ      the measure after swapping the two documents' ranks, minus before; without a measure |Δ| = 1
    ρ(x)   1 / (1 + exp(x))

and give the force on the better document; the worse one gets the opposite (Newton's third law), so that
Σλ = 0 for each query. λ = −∂C/∂s, positive is up. Documents of equal worth exert no force.

``neighbours`` keeps a rule to documents at most so many ranks apart. ``alpha`` adds the regulariser

    λⱼ ← λⱼ − α wⱼ (sⱼ − s̄),      s̄ = Σ w s / Σ w

with wⱼ the document's weight: the paper's αⱼ is α wⱼ, its sign is that of λ = −∂C/∂s, and scores are taken
from their (weighted) mean, so that Σλ = 0 and ∂λ/∂s stays symmetric also where weights differ.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rankwright.pairwise import shapes
from rankwright.runtime.errors import InputError
from rankwright.runtime.kernels import Kernel, kernel

Floats = NDArray[np.float64]

FAR = 2**31
"""More ranks than any list has."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rule:
    """A λ construction. Made by ``rule("spring")``, by its class, or from a function of the user's own."""

    alpha: float = 0.0

    needs_measure: ClassVar[bool] = False
    """Whether the rule means nothing without a measure."""
    by_gain: ClassVar[bool] = True
    """Whether there is no force on a pair whose swap changes nothing."""
    force_kernel: ClassVar[Kernel | None] = None
    """The force between two documents (see ``shapes``); None where the rule moves single documents."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name == "neighbours":
                whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
                if value is not None and not (whole and value >= 1):
                    raise InputError(
                        f"neighbours is {value!r}; give a number of ranks of at least 1, or None"
                    )
            elif isinstance(field.default, bool):
                if not isinstance(value, bool | np.bool_):
                    raise InputError(f"{field.name} is {value!r}; it is True or False")
            elif isinstance(field.default, float):
                self._check_number(field.name, value)

    @property
    def parameters(self) -> Floats:
        """The numbers that the kernel needs."""
        raise NotImplementedError

    @property
    def kinks(self) -> tuple[float, ...]:
        """Differences of scores, beside 0, at which the force between two documents is not smooth."""
        return ()

    @property
    def reach(self) -> int:
        """How many ranks away the force is felt."""
        given: int | None = getattr(self, "neighbours", None)
        return FAR if given is None else given

    def _check_number(self, name: str, value: object) -> None:
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        lowest = 0.0 if name in ("alpha", "margin") else np.nextafter(0.0, 1.0)
        highest = np.inf if isinstance(self, StepPotential) and name == "margin" else np.finfo(float).max
        if not number or not lowest <= value <= highest:  # type: ignore[operator]
            least = "of at least" if lowest == 0 else "above"
            raise InputError(f"{name} is {value!r}; give a finite number {least} 0")


@dataclasses.dataclass(frozen=True, kw_only=True)
class RankNetWeightPairs(Rule):
    """λ = |Δ| · σ ρ(σ(d − margin)): RankNet's gradient, weighted by the swap gain (2006 equation 9).

    The construction that won in both papers, with margin 0; 2010's equation 6. Without a measure it is
    RankNet's own gradient, which 2006 calls 𝒢.
    """

    sigma: float = 1.0
    margin: float = 0.0
    neighbours: int | None = None

    force_kernel: ClassVar[Kernel] = shapes.cross_entropy

    @property
    def parameters(self) -> Floats:
        """σ and the margin; no least weight."""
        return np.array([self.sigma, self.margin, 0.0])


@dataclasses.dataclass(frozen=True, kw_only=True)
class SpringSmooth(Rule):
    """λ = max(|Δ|, unit · N) · σ ρ(σ(d − margin)): RankNetWeightPairs with gains bounded below by 1.

    2009 bounds "the gain obtained by swapping a pair" below by 1, which no gain of a measure up to 1 exceeds.
    So the 1 is taken in the unit that the measure has before it is normalised by N, 2006 equation 9's N: a
    pair counts as if its swap gained at least one point of DCG, one precision of R (AP), one of the pairs. A
    measure that is not normalised (RR, ERR, WTA) never gains more than 1, and the rule is then RankNet's.
    ``unit`` moves the bound.
    """

    sigma: float = 1.0
    margin: float = 0.0
    unit: float = 1.0
    neighbours: int | None = None

    by_gain: ClassVar[bool] = False
    force_kernel: ClassVar[Kernel] = shapes.cross_entropy

    @property
    def parameters(self) -> Floats:
        """σ, the margin and the least weight."""
        return np.array([self.sigma, self.margin, self.unit])


@dataclasses.dataclass(frozen=True, kw_only=True)
class LocalGradient(Rule):
    """λ = |Δ| / (|sᵢ − sⱼ| + margin) between neighbours in the sorted list.

    The measure's change over the change of scores that it takes, "a margin added to handle very small score
    differences" (2009); the force acts the way the measure would gain. 2009 looks at adjacent documents;
    ``neighbours=None``, the finite differences of 2006, at all pairs.
    """

    margin: float = 0.1
    neighbours: int | None = 1

    force_kernel: ClassVar[Kernel] = shapes.difference

    @property
    def parameters(self) -> Floats:
        """The margin."""
        return np.array([self.margin])

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.margin == 0:
            raise InputError("margin is 0; documents with equal scores need one above 0")


@dataclasses.dataclass(frozen=True, kw_only=True)
class LocalCost(Rule):
    """λ = |Δ| · σ ρ(σ(d − margin)) between neighbours in the sorted list only.

    2009 estimates the local gradient by "a cost based on a document's neighbors" and does not say which. It
    is RankNet's here, weighted by the swap gain, so that the rule differs from RankNetWeightPairs in who acts
    on whom, and in nothing else.
    """

    sigma: float = 1.0
    margin: float = 0.0
    neighbours: int | None = 1

    force_kernel: ClassVar[Kernel] = shapes.cross_entropy

    @property
    def parameters(self) -> Floats:
        """σ and the margin; no least weight."""
        return np.array([self.sigma, self.margin, 0.0])


@dataclasses.dataclass(frozen=True, kw_only=True)
class StepPotential(Rule):
    """λ = |Δ| while d < margin, else 0.

    2006's "step potentials, where the step sizes are proportional to the NDCG gain found by swapping the
    pair". A potential that is itself a step has no force but at the step, and nothing to learn from; so it is
    the force that steps, and the potential is a ramp, |Δ| · (margin − d)₊. ``margin=inf`` makes the force
    constant.
    """

    margin: float = 1.0
    neighbours: int | None = None

    force_kernel: ClassVar[Kernel] = shapes.step

    @property
    def parameters(self) -> Floats:
        """The margin."""
        return np.array([self.margin])

    @property
    def kinks(self) -> tuple[float, ...]:
        """Where the force ends."""
        return (self.margin,) if self.margin < np.inf else ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Spring(Rule):
    """λ = |Δ| · (margin − d) while d < margin, else 0: a spring that pushes documents apart.

    2006 names "spring models" and no more; here the stiffness is the swap gain and the length at rest the
    margin. ``elastic``: the spring also pulls beyond its length at rest, so that λ is linear in the scores,
    as in 2006 section 4.
    """

    margin: float = 1.0
    elastic: bool = False
    neighbours: int | None = None

    force_kernel: ClassVar[Kernel] = shapes.spring

    @property
    def parameters(self) -> Floats:
        """The length at rest, and whether it pulls beyond it."""
        return np.array([self.margin, float(self.elastic)])

    @property
    def kinks(self) -> tuple[float, ...]:
        """Where the spring lets go."""
        return () if self.elastic else (self.margin,)


@dataclasses.dataclass(frozen=True, kw_only=True)
class DiscreteBounded(Rule):
    """λⱼ = ±clip(M(j at its ideal rank) − M, ±unit · N), + where the ideal rank is above j's; then centred.

    2009: "the change in accuracy when a document is moved to its ideal position in the ranked order", bounded
    above by 1. The document is taken out and put in at its ideal rank, those between close up; documents of
    equal worth share their ideal ranks, and move to the nearest. Where the move would lose (the rank it makes
    others give up is worth more), the force is the other way. The bound is in the unit of ``SpringSmooth``.
    A single document moves, so forces are not pairwise: their mean is taken off, for Σλ = 0.
    """

    unit: float = 1.0

    needs_measure: ClassVar[bool] = True

    @property
    def parameters(self) -> Floats:
        """The bound."""
        return np.array([self.unit])


@dataclasses.dataclass(frozen=True, kw_only=True)
class OwnRule(Rule):
    """A rule of the user's own: the force between two documents as a function at row grain.

    ``function`` has the arguments of the kernels in ``pairwise.shapes`` and is compiled when first used;
    ``settings`` are its ``parameters``. It may leave ``out[1:]`` alone: then it has no derivative to give to
    a learner that takes Newton steps, and no potential. ``breaks`` are differences of scores, beside 0, at
    which the force is not smooth; diagnostics integrate between them.

    >>> def gentle(i, n, constant, scores, levels, swaps, parameters, out):
    ...     for j in range(i + 1, n):
    ...         out[0, j] = parameters[0] * (levels[i] - levels[j])
    >>> rule(gentle, settings=(0.1,)).parameters
    array([0.1])
    """

    function: Callable[..., None]
    settings: tuple[float, ...] = ()
    breaks: tuple[float, ...] = ()
    neighbours: int | None = None

    by_gain: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.function, Kernel):
            object.__setattr__(self, "function", kernel(shapes.FORCE, cache=False)(self.function))
        self._check_function()

    @property
    def force_kernel(self) -> Kernel:  # type: ignore[override]
        """The user's function."""
        assert isinstance(self.function, Kernel)
        return self.function

    @property
    def parameters(self) -> Floats:
        """The user's numbers."""
        try:
            return np.array(self.settings or (0.0,), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"settings are {self.settings!r}; give numbers") from error

    @property
    def kinks(self) -> tuple[float, ...]:
        """Where the user says that the force is not smooth."""
        return self.breaks

    def _check_function(self) -> None:
        """Try the function on short lists, and say in our words what is wrong with it."""
        plain = self.force_kernel.plain
        name = plain.__name__
        wanted = list(inspect.signature(shapes.step.plain).parameters)
        try:
            inspect.signature(plain).bind(*wanted)
        except TypeError as error:
            raise InputError(f"{name} must take the arguments ({', '.join(wanted)}): {error}") from None
        for n in (1, 2, 5):
            scores, levels = np.linspace(1.0, -1.0, n), np.arange(n) % 3.0
            for i in range(n):
                out = np.zeros((3, n))
                try:
                    plain(
                        np.uint64(i),
                        np.uint64(n),
                        1.0,
                        scores,
                        levels,
                        np.ones(n, np.float32),
                        self.parameters,
                        out,
                    )
                except Exception as error:
                    raise InputError(f"{name} fails on a list of {n} documents: {error!r}") from error
                if not np.isfinite(out[:, i + 1 :]).all():
                    raise InputError(f"{name} gives a force that is not finite on a list of {n} documents")


RULES: tuple[type[Rule], ...] = (
    RankNetWeightPairs,
    SpringSmooth,
    LocalGradient,
    LocalCost,
    DiscreteBounded,
    StepPotential,
    Spring,
)


def rule(given: str | Rule | Callable[..., None], **settings: Any) -> Rule:
    """A λ rule by its name, however written, or from a function of the user's own.

    >>> rule("spring-smooth", sigma=2.0)
    SpringSmooth(alpha=0.0, sigma=2.0, margin=0.0, unit=1.0, neighbours=None)
    """
    if isinstance(given, Rule):
        return dataclasses.replace(given, **settings)
    if callable(given):
        return OwnRule(function=given, **settings)
    by_name = {kind.__name__.lower(): kind for kind in RULES}
    name = given.lower().replace("-", "").replace("_", "") if isinstance(given, str) else ""
    if name not in by_name:
        raise InputError(
            f"there is no λ rule {given!r}; there are {', '.join(kind.__name__ for kind in RULES)}"
        )
    kind = by_name[name]
    fields = {field.name for field in dataclasses.fields(kind)}
    for key in settings:
        if key not in fields:
            raise InputError(f"{kind.__name__} has no parameter {key!r}; it has {', '.join(sorted(fields))}")
    return kind(**settings)
