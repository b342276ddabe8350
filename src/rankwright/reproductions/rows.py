"""A published number or claim as a row of data, and the ways to judge ours by it."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

Figure = Any
"""What an experiment found: a number, or numbers by name, or one a draw of random data."""


class Check(Protocol):
    """How a figure is judged; its text is what is asked of ours."""

    def holds(self, ours: Figure) -> bool:
        """Whether ours is as the paper has it."""
        ...


@dataclasses.dataclass(frozen=True)
class Within:
    """Ours lies at most so far from the paper's value.

    >>> print(Within(9.61, 0.5), Within(9.61, 0.5).holds(9.2))
    9.61 ± 0.5 True
    """

    value: float
    tolerance: float

    def holds(self, ours: Figure) -> bool:
        """Whether it does."""
        return bool(abs(ours - self.value) <= self.tolerance)

    def __str__(self) -> str:
        return f"{self.value:g} ± {self.tolerance:g}"


@dataclasses.dataclass(frozen=True)
class AtLeast:
    """Ours is no smaller."""

    value: float

    def holds(self, ours: Figure) -> bool:
        """Whether it is so."""
        return bool(ours >= self.value)

    def __str__(self) -> str:
        return f"≥ {self.value:g}"


@dataclasses.dataclass(frozen=True)
class AtMost:
    """Ours is no larger."""

    value: float

    def holds(self, ours: Figure) -> bool:
        """Whether it is so."""
        return bool(ours <= self.value)

    def __str__(self) -> str:
        return f"≤ {self.value:g}"


@dataclasses.dataclass(frozen=True)
class Drawn:
    """Ours are values over random draws of the data; the paper's is one that a further draw might give.

    It lies in the 99 % prediction interval of a normal distribution, which is wide where draws differ, and
    as narrow as they allow where they do not.

    >>> print(Drawn(0.5), Drawn(0.5).holds([0.48, 0.52, 0.51]), Drawn(0.8).holds([0.48, 0.52, 0.51]))
    0.5 as one more draw (99 %) True False
    """

    value: float

    def holds(self, ours: Figure) -> bool:
        """Whether it does."""
        from scipy.special import stdtrit

        n, mean = len(ours), math.fsum(ours) / len(ours)
        spread = math.sqrt(math.fsum((each - mean) ** 2 for each in ours) / (n - 1))
        return bool(abs(self.value - mean) <= stdtrit(n - 1, 0.995) * spread * math.sqrt(1 + 1 / n))

    def __str__(self) -> str:
        return f"{self.value:g} as one more draw (99 %)"


@dataclasses.dataclass(frozen=True)
class Equals:
    """Ours is the very same; True for a claim that holds or does not."""

    value: Any

    def holds(self, ours: Figure) -> bool:
        """Whether it is."""
        return bool(ours == self.value)

    def __str__(self) -> str:
        return shown(self.value) if isinstance(self.value, bool) else f"= {self.value}"


@dataclasses.dataclass(frozen=True)
class Descending:
    """Ours are numbers by name, and these names stand in falling order, each above the next by ``margin``.

    >>> order = Descending("LambdaRank", "RankNet")
    >>> print(order, order.holds({"RankNet": 0.4, "LambdaRank": 0.5}))
    LambdaRank > RankNet True
    """

    names: tuple[str, ...]
    margin: float

    def __init__(self, *names: str, margin: float = 0.0):
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "margin", margin)

    def holds(self, ours: Figure) -> bool:
        """Whether they do."""
        values = [ours[name] for name in self.names]
        return all(a - b > self.margin for a, b in itertools.pairwise(values))

    def __str__(self) -> str:
        by = f" (by {self.margin:g})" if self.margin else ""
        return " > ".join(self.names) + by


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row:
    """One published number or claim.

    ``figure`` is its name among what the experiment finds, ``where`` the table, figure or section, ``what``
    what is measured and ``published`` what the paper has, both in words. ``expected`` judges ours (by
    ``short`` in the short form, if that is given), and ``why`` says why with that tolerance. ``found`` is
    what is known of a row that misses.
    """

    figure: str
    where: str
    what: str
    published: str
    expected: Check
    why: str
    short: Check | None = None
    full_only: bool = False
    found: str = ""

    def check(self, full: bool) -> Check:
        """How ours is judged in this form."""
        return self.expected if full or self.short is None else self.short


def shown(ours: Figure) -> str:
    """A figure as text.

    >>> shown(0.1234), shown({"a": 1, "b": 2.5}), shown(True)
    ('0.1234', 'a 1, b 2.5', 'yes')
    """
    if isinstance(ours, Mapping):
        return ", ".join(f"{name} {shown(value)}" for name, value in ours.items())
    if isinstance(ours, bool):
        return "yes" if ours else "no"
    if isinstance(ours, Sequence) and not isinstance(ours, str):
        mean = math.fsum(ours) / len(ours)
        return f"{shown(mean)} (mean of {len(ours)}, {shown(min(ours))} to {shown(max(ours))})"
    if isinstance(ours, float):
        return "NaN" if math.isnan(ours) else f"{ours:.4g}"
    return f"{ours:,}" if isinstance(ours, int) else str(ours)
