"""Gradient descent over epochs, with the papers' schedules; the net of the best epoch is kept."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rankwright.networks.net import Floats, Net
from rankwright.networks.optimisers import LEARNING_RATE, OPTIMISERS, rates
from rankwright.runtime.errors import InputError
from rankwright.runtime.progress import told

Record = dict[str, Any]
SAME = 1e-6


@dataclasses.dataclass(frozen=True, kw_only=True)
class Descent:
    """How to descend. The papers' schedules are

    2005    ``decay=0.5``: the rate is halved after an epoch in which the cost rose
    2006    ``decay=0.8, restart_rounds=50``
    2009    ``decay=0.8, decay_chance=0.3, restart_rounds=50``

    each with ``optimiser="sgd"`` and ``batch_size=1``. ``restart_rounds``: after so many epochs without
    progress training starts again from new random weights. ``unchanged_epochs``: training ends once the loss
    has been the same for so many epochs (2005 section 6.2).
    """

    epochs: int
    learning_rate: float
    optimiser: str
    momentum: float
    batch_size: int
    decay: float
    decay_chance: float
    restart_rounds: int | None
    early_stopping_rounds: int | None
    l2_regularization: float
    unchanged_epochs: int | None = None

    @classmethod
    def of(cls, settings: Any) -> Self:
        """The settings of an object that has them as attributes.

        >>> from types import SimpleNamespace
        >>> names = dict.fromkeys([field.name for field in dataclasses.fields(Descent)])
        >>> Descent.of(SimpleNamespace(**names | {"epochs": 0}))
        Traceback (most recent call last):
        rankwright.runtime.errors.InputError: epochs is 0; give a whole number of at least 1
        """
        known = dataclasses.fields(cls)
        return cls(
            **{field.name: getattr(settings, field.name) for field in known if hasattr(settings, field.name)}
        )

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_size", "restart_rounds", "early_stopping_rounds", "unchanged_epochs"):
            value = getattr(self, name)
            if value is None and name not in ("epochs", "batch_size"):
                continue
            if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
                raise InputError(f"{name} is {value!r}; give a whole number of at least 1")
        if self.optimiser not in OPTIMISERS:
            raise InputError(f"optimiser is {self.optimiser!r}; it is one of {', '.join(OPTIMISERS)}")
        if self.optimiser == "adam" and self.momentum:
            raise InputError("momentum is a parameter of optimiser='sgd'; Adam has its own")
        for name, lowest, below in (
            ("learning_rate", None, math.inf),
            ("momentum", 0.0, 1.0),
            ("decay", None, 1.0),
            ("decay_chance", 0.0, 1.0),
            ("l2_regularization", 0.0, math.inf),
        ):
            value = getattr(self, name)
            number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
            if not number or not (value > 0 if lowest is None else value >= lowest):
                raise InputError(
                    f"{name} is {value!r}; give a number {'above' if lowest is None else 'of at least'} 0"
                )
            if value == math.inf:
                raise InputError(f"{name} is {value!r}; give a finite number")
            if value > below or (value == below and name == "momentum"):
                raise InputError(
                    f"{name} is {value!r}; give a number {'below' if name == 'momentum' else 'up to'} 1"
                )

    def run(
        self,
        net: Net,
        n_groups: int,
        epoch: Callable[[NDArray[np.int64], Floats], Record],
        new_weights: Callable[[], Floats],
        random: np.random.Generator,
        progress: Callable[[Record], None] | None = None,
    ) -> list[Record]:
        """Train the net; leave it with the weights of its best epoch, and give one record an epoch.

        ``epoch(order, rates)`` trains on all groups in this order and tells how it went: among what it
        records, ``loss`` is what the schedules look at, and ``value``, where there is one, what to select
        and stop by instead (larger is better).
        """
        history: list[Record] = []
        losses: list[float] = []
        steps = rates(self.optimiser, self.learning_rate, self.momentum)
        best, best_weights = -math.inf, net.exact.copy()
        best_here, since, before, started = -math.inf, 0, math.inf, time.perf_counter()
        for number in range(1, self.epochs + 1):
            # 1. One pass over the groups in a new order.
            record = epoch(random.permutation(n_groups), steps)
            loss = record.pop("loss")
            losses.append(loss)
            value = record.pop("value", -loss)
            history.append(
                {
                    "epoch": number,
                    **record,
                    "learning_rate": float(steps[LEARNING_RATE]),
                    "seconds": time.perf_counter() - started,
                }
            )
            goes_on = told(progress, history[-1])
            # 2. Keep the best net.
            if value > best:
                best, best_weights = value, net.exact.copy()
            since = 0 if value > best_here else since + 1
            best_here = max(best_here, value)
            # 3. Slow down, stop or start again.
            if loss > before and random.random() < self.decay_chance:
                steps[LEARNING_RATE] *= self.decay
            before = loss
            if not goes_on:
                break
            if self.early_stopping_rounds is not None and since >= self.early_stopping_rounds:
                break
            if unchanged(losses, self.unchanged_epochs):
                break
            if self.restart_rounds is not None and since >= self.restart_rounds:
                net.exact[:] = new_weights()
                net.moments[:] = 0.0
                net.weights[:] = net.exact
                steps = rates(self.optimiser, self.learning_rate, self.momentum)
                best_here, since, before = -math.inf, 0, math.inf
        net.exact[:] = best_weights
        net.weights[:] = best_weights
        return history


def unchanged(errors: Sequence[float], epochs: int | None) -> bool:
    """Whether the last error is that of so many epochs before it too, but for a millionth of it.

    >>> unchanged([3.0, 1.0, 1.0], 2), unchanged([1.0, 1.0, 1.0], 2)
    (False, True)
    """
    if epochs is None or len(errors) <= epochs:
        return False
    last = errors[-1]
    return all(abs(error - last) <= SAME * abs(last) for error in errors[-epochs - 1 :])
