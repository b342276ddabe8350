"""Feature maps: what a ranking y of a query's documents looks like to a linear model (2008, section 3.1).

A map is a sum over documents, φ(x, y) = Σ c·x, with coefficients c that depend on y and on which documents
are good. For pairs and decays w·φ(x, y) is largest where documents are sorted by w·x, which is how the model
predicts. Not so for the first good document: there w·φ is largest with the lowest good one first, behind all
bad ones above it. Sorting by w·x still makes w·φ ≥ 0 = w·φ(x, y*), and that is all it takes for the slack to
bound the loss.

    partial order   (1/n⁺n⁻) Σ over good g and bad b of ±(x_g − x_b), + where y has g above b      equation 3
    local order     (2/n⁺n⁻) Σ over good g and bad b above it of (x_b − x_g)                       Fact 3.1
    first good      Σ over bad b above the first good g of (x_b − x_g)                             equation 5
    decay           Σ over documents of A(rank) x                                                  equation 6
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.runtime.arrays import Floats, Integers
from rankwright.runtime.errors import InputError

Mask = NDArray[np.bool_]
NO_DECAY = "the decay gives no finite number a rank; give a list, or a function of an array of ranks"


@dataclasses.dataclass(frozen=True, kw_only=True)
class FeatureMap:
    """How a ranking becomes a vector. ``feature_map("po")`` makes one."""

    def coefficients(self, good: Mask, order: Integers) -> Floats:
        """c of each document, where ``good`` says which are and ``order`` lists them from the first rank."""
        raise NotImplementedError

    def truth(self, good: Mask) -> Floats:
        """c of the ideal ranking, good documents before bad ones; for ``good`` of both kinds."""
        return self.coefficients(good, np.argsort(~good, kind="stable"))

    def scales(self, n_good: Integers, n_bad: Integers) -> Floats:
        """What one bad document above a good one counts in w·δφ, for queries with so many of each."""
        return np.ones(len(n_good))


@dataclasses.dataclass(frozen=True, kw_only=True)
class PartialOrder(FeatureMap):
    """φ_po, all pairs of a good and a bad document; ``averaged`` divides by their number, as in print.

    >>> PartialOrder().coefficients(np.array([True, False, False]), np.array([1, 0, 2]))
    array([ 0. ,  0.5, -0.5])
    """

    averaged: bool = True

    def coefficients(self, good: Mask, order: Integers) -> Floats:
        """Each document's pairs that stand right, minus those that stand wrong."""
        above = _bad_above(good, order)
        n_good, n_bad = int(good.sum()), int((~good).sum())
        signed = np.where(good, n_bad - 2.0 * above, 2.0 * above - n_good)
        return signed / (n_good * n_bad) if self.averaged else signed

    def scales(self, n_good: Integers, n_bad: Integers) -> Floats:
        """2/n⁺n⁻: a pair goes from +1 to −1."""
        return 2.0 / np.maximum(n_good * n_bad, 1) if self.averaged else np.full(len(n_good), 2.0)


@dataclasses.dataclass(frozen=True, kw_only=True)
class LocalOrder(FeatureMap):
    """ψ, the pairs that stand wrong, twice: it differs from φ_po by what is the same for all rankings.

    >>> LocalOrder().coefficients(np.array([True, False, False]), np.array([1, 0, 2]))
    array([-1.,  1.,  0.])
    """

    averaged: bool = True

    def coefficients(self, good: Mask, order: Integers) -> Floats:
        """Each document's pairs that stand wrong, to be taken away from it or given to it."""
        n_good, n_bad = int(good.sum()), int((~good).sum())
        above = _bad_above(good, order)
        wrong = np.where(good, -2.0 * above, 2.0 * above)
        return wrong / (n_good * n_bad) if self.averaged else wrong

    scales = PartialOrder.scales


@dataclasses.dataclass(frozen=True, kw_only=True)
class FirstGood(FeatureMap):
    """φ_mrr, the bad documents above the first good one.

    >>> FirstGood().coefficients(np.array([True, False, False]), np.array([1, 2, 0]))
    array([-2.,  1.,  1.])
    """

    def coefficients(self, good: Mask, order: Integers) -> Floats:
        """1 for each bad document above the first good one, and minus their number for that."""
        wrong = np.zeros(len(good))
        first = int(np.argmax(good[order]))
        wrong[order[:first]] = 1.0
        wrong[order[first]] = -float(first)
        return wrong


@dataclasses.dataclass(frozen=True, kw_only=True)
class Decay(FeatureMap):
    """φ_dorm, documents weighed by rank: A(r) = 1/√(r + 1) for ranks r = 0, 1, …, and 0 from ``until`` on.

    ``by`` gives another A: a list of numbers by rank (0 behind its end), or a function of an array of ranks.
    A must not rise, so that sorting maximises w·φ. Which of several ideal rankings is the truth is left open
    in print; here it is their mean, in which documents of one label share the decay of their ranks.

    >>> Decay(until=2).coefficients(np.array([False, True, True]), np.array([2, 0, 1])).round(4)
    array([0.7071, 0.    , 1.    ])
    """

    until: int | None = None
    by: tuple[float, ...] | Callable[[Integers], Any] | None = None

    def __post_init__(self) -> None:
        whole = isinstance(self.until, int | np.integer) and not isinstance(self.until, bool)
        if self.until is not None and not (whole and self.until >= 1):
            raise InputError(f"until is {self.until!r}; it is the number of ranks that count, at least 1")
        if self.by is not None and not callable(self.by):
            object.__setattr__(self, "by", _numbers(self.by))
        self.weights(2)

    def __repr__(self) -> str:
        by = getattr(self.by, "__name__", repr(self.by))  # not where in memory a function lies
        return f"Decay(until={self.until}, by={by})"

    def weights(self, n: int) -> Floats:
        """A of the first n ranks."""
        ranks = np.arange(n)
        if self.by is None:
            decay = 1.0 / np.sqrt(ranks + 1.0)
        elif callable(self.by):
            decay = _called(self.by, ranks)
        else:
            decay = np.array([*self.by[:n], *[0.0] * (n - len(self.by))])
        if decay.shape != ranks.shape or not np.isfinite(decay).all():
            raise InputError(NO_DECAY)
        if self.until is not None:
            decay[self.until :] = 0.0
        if (decay < 0).any():
            raise InputError(
                f"the decay at rank {int(np.argmax(decay < 0))} is negative; give one of at least 0"
            )
        rises = np.flatnonzero(np.diff(decay) > 0)
        if len(rises):
            raise InputError(
                f"the decay rises behind rank {rises[0]} (counted from 0); it must not, "
                "since sorting by score is how the model ranks"
            )
        return decay

    def coefficients(self, good: Mask, order: Integers) -> Floats:
        """A of each document's rank."""
        decay = np.empty(len(good))
        decay[order] = self.weights(len(good))
        return decay

    def truth(self, good: Mask) -> Floats:
        """The mean of A over the ranks that documents of each kind share."""
        decay, n_good = self.weights(len(good)), int(good.sum())
        return np.where(good, decay[:n_good].mean(), decay[n_good:].mean())


NAMED: dict[str, FeatureMap] = {
    "po": PartialOrder(),
    "po-sum": PartialOrder(averaged=False),
    "psi": LocalOrder(),
    "mrr": FirstGood(),
    "dorm": Decay(),
}


def feature_map(source: str | FeatureMap) -> FeatureMap:
    """A feature map from its name: po, po-sum (without the averaging over pairs), psi, mrr or dorm.

    >>> feature_map("dorm")
    Decay(until=None, by=None)
    """
    if isinstance(source, FeatureMap):
        return source
    if not isinstance(source, str) or source not in NAMED:
        raise InputError(f"there is no feature map {source!r}; there are {', '.join(NAMED)}")
    return NAMED[source]


def _numbers(by: Any) -> tuple[float, ...]:
    """A list of numbers as one of floats."""
    try:
        return tuple(float(value) for value in by)
    except (TypeError, ValueError) as error:
        raise InputError(f"{NO_DECAY} (it is {by!r})") from error


def _called(by: Callable[[Integers], Any], ranks: Integers) -> Floats:
    """What a user's function makes of ranks."""
    try:
        return np.array(by(ranks), np.float64)
    except Exception as error:
        raise InputError(f"{NO_DECAY} ({type(error).__name__}: {error})") from error


def _bad_above(good: Mask, order: Integers) -> Floats:
    """Of each good document the bad ones above it, of each bad one the good ones below it."""
    ranked = good[order]
    count = np.where(ranked, np.cumsum(~ranked), ranked.sum() - np.cumsum(ranked))
    out = np.empty(len(good))
    out[order] = count
    return out
