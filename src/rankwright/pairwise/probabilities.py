"""Probabilities of pairs: what it takes for them to fit together, after 2005 section 3.1.

    P̄ᵢⱼ = exp(ōᵢ − ōⱼ) / (1 + exp(ōᵢ − ōⱼ))     for "ideal outputs" ō of the model         (equation 4)

So log odds add up along a chain of documents. A certain pair (P̄ = 0 or 1) has infinite log odds. They add up
too, as long as they are of one sign; the paper's theorem, stated for 0 ≤ P̄ ≤ 1, holds but for chains with
certainties both ways: i certainly before j and k certainly before j say nothing of i and k.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwright.runtime.errors import InputError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

CONFLICT = (
    "{where}: one certainty against another says nothing of the pair; "
    "give probabilities above 0 and below 1, or the pair itself"
)


def check_probabilities(values: ArrayLike, what: str = "probabilities") -> Floats:
    """Probabilities as float64; refused, naming the first one at fault, unless all lie from 0 to 1.

    >>> check_probabilities([0, 0.5])
    array([0. , 0.5])
    """
    given = np.asarray(values, dtype=np.float64)
    bad = np.argwhere(~((given >= 0) & (given <= 1)))
    if len(bad):
        at = tuple(int(place) for place in bad[0])
        place = f"row {at[0]}" if len(at) == 1 else f"entry {at}"
        raise InputError(f"{what}, {place}: {given[at]:g} is not a probability; give numbers from 0 to 1")
    return given


def log_odds(probabilities: ArrayLike) -> Floats:
    """log(P / (1 − P)): the difference of the ideal outputs (equation 6); ±∞ where certain.

    >>> log_odds([0.5, 1.0])
    array([ 0., inf])
    """
    given = check_probabilities(probabilities)
    with np.errstate(divide="ignore"):
        return np.log(given) - np.log1p(-given)


def probability(difference: ArrayLike) -> Floats:
    """The probability that goes with a difference of outputs (equation 2).

    >>> probability([0.0, np.inf])
    array([0.5, 1. ])
    """
    given = np.asarray(difference, dtype=np.float64)
    small = np.exp(-np.abs(given))
    return np.where(given >= 0, 1.0, small) / (1.0 + small)


def combine(first: ArrayLike, second: ArrayLike) -> Floats:
    """P̄ᵢₖ from P̄ᵢⱼ and P̄ⱼₖ (equation 5), element by element.

    >>> float(combine(0.6, 0.6)) > 0.6
    True
    """
    p, q = np.broadcast_arrays(check_probabilities(first), check_probabilities(second))
    wins = p * q
    either = wins + (1 - p) * (1 - q)  # equation 5's 1 + 2pq − p − q, without its cancellation
    blind = np.argwhere(p + q == 1) if not either.all() else np.empty((0, p.ndim))
    for at in map(tuple, blind):
        if p[at] in (0.0, 1.0):
            place = f"pair {int(at[0])}" if at else "this pair"
            raise InputError(CONFLICT.format(where=f"{place}: {p[at]:g} and {q[at]:g}"))
    return wins / either


def all_pairs(adjacent: ArrayLike, order: ArrayLike | None = None) -> Floats:
    """The probabilities of all pairs from those of neighbours (the theorem of 2005 section 3.1).

    ``adjacent[k]`` is the probability that document ``order[k]`` stands before ``order[k + 1]``; ``order``
    is a permutation of the documents, by default 0, 1, 2, …

    >>> all_pairs([0.6, 0.6]).round(3)
    array([[0.5  , 0.6  , 0.692],
           [0.4  , 0.5  , 0.6  ],
           [0.308, 0.4  , 0.5  ]])
    """
    given = np.atleast_1d(check_probabilities(adjacent, "adjacent"))
    m = len(given) + 1
    at = np.arange(m) if order is None else np.asarray(order)
    if given.ndim != 1 or not np.array_equal(np.sort(at), np.arange(m)):
        raise InputError(
            f"order must name each of the {m} documents once, from 0 to {m - 1}: one more than there are "
            "probabilities of neighbours"
        )
    steps = log_odds(given)
    certain = np.isinf(steps)
    outputs = -np.concatenate([[0.0], np.cumsum(np.where(certain, 0.0, steps))])
    wins = np.concatenate([[0], np.cumsum(steps == np.inf)])
    losses = np.concatenate([[0], np.cumsum(steps == -np.inf)])
    before = np.subtract.outer(outputs, outputs)
    won, lost = np.subtract.outer(wins, wins), np.subtract.outer(losses, losses)  # of opposite sign: k − j
    if ((won != 0) & (lost != 0)).any():
        i, k = np.argwhere((won < 0) & (lost < 0))[0]
        raise InputError(CONFLICT.format(where=f"documents {at[i]} and {at[k]}"))
    before[(won < 0) | (lost > 0)] = np.inf
    before[(won > 0) | (lost < 0)] = -np.inf
    pairs = np.empty((m, m))
    pairs[np.ix_(at, at)] = probability(before)
    return pairs


@dataclasses.dataclass(frozen=True, eq=False)
class Consistency:
    """Whether there are outputs that give all of the pairs their probabilities, and which.

    ``outputs`` are ideal outputs of the finite pairs, 0 for the first document of each group that they
    connect. ``worst`` is the largest difference between a probability given and that which the others imply,
    at row ``row``. ``cycle`` names documents that are each certainly before the next, and the last before
    the first.
    """

    consistent: bool
    outputs: Floats
    worst: float
    row: int | None
    cycle: tuple[int, ...]


def consistency(
    pairs: ArrayLike, probabilities: ArrayLike | None = None, *, tolerance: float = 1e-9
) -> Consistency:
    """Check pairs (i, j) with the probabilities that i stands before j; certain ones if none are given.

    >>> consistency([(0, 1), (1, 2), (2, 0)]).cycle
    (0, 1, 2)
    >>> consistency([(0, 1), (1, 2), (0, 2)], [0.6, 0.6, 0.6]).consistent
    False
    >>> consistency([(0, 1), (1, 2), (0, 2)], [0.6, 0.6, combine(0.6, 0.6)]).consistent
    True
    """
    ends, given = _pairs(pairs, probabilities)
    n = int(ends.max()) + 1 if len(ends) else 0
    uncertain = (given > 0) & (given < 1)
    outputs, group = _outputs(n, ends[uncertain], log_odds(given[uncertain]))
    implied = probability(outputs[ends[:, 0]] - outputs[ends[:, 1]])
    # A certain pair between groups is free to be so; within one, finite outputs cannot give it.
    bound = group[ends[:, 0]] == group[ends[:, 1]]
    errors = np.where(bound, np.abs(implied - given), 0.0)
    row = int(np.argmax(errors)) if len(errors) and errors.max() > tolerance else None
    across = ~bound
    winners = np.where(given == 1, ends[:, 0], ends[:, 1])[across]
    losers = np.where(given == 1, ends[:, 1], ends[:, 0])[across]
    cycle = _cycle(group, winners, losers)
    worst = float(errors.max()) if len(errors) else 0.0
    return Consistency(row is None and not cycle, outputs, worst, row, cycle)


def bradley_terry(pairs: ArrayLike, probabilities: ArrayLike) -> Floats:
    """Strengths P̂ with P̄ᵢⱼ = P̂ᵢ / (P̂ᵢ + P̂ⱼ) that add up to 1, where there are any.

    Who certainly loses has strength 0, and 0 / (0 + 0) is nothing: so no P̂ gives even three documents their
    certain ranking, which outputs ō grow towards without end.

    >>> bradley_terry([(0, 1)], [0.75])
    array([0.75, 0.25])
    >>> bradley_terry([(0, 1), (1, 2), (0, 2)], [1, 1, 1])
    Traceback (most recent call last):
    rankwright.runtime.errors.InputError: row 1: documents 1 and 2 both lose for certain, ...
    """
    ends, given = _pairs(pairs, probabilities)
    zero = np.zeros(int(ends.max()) + 1 if len(ends) else 0, bool)
    zero[ends[given == 1, 1]] = zero[ends[given == 0, 0]] = True
    for row, (i, j) in enumerate(ends):
        if zero[i] and zero[j]:
            raise InputError(
                f"row {row}: documents {i} and {j} both lose for certain, so both have strength 0, "
                "which gives their own pair no probability"
            )
        if (zero[i] or zero[j]) and given[row] != float(zero[j]):
            raise InputError(
                f"row {row}: document {i if zero[i] else j} loses for certain elsewhere, but not here"
            )
    inner = ~(zero[ends[:, 0]] | zero[ends[:, 1]])
    found = consistency(ends[inner], given[inner])
    if not found.consistent:
        raise InputError("the probabilities contradict each other; see consistency")
    outputs = np.zeros(len(zero))
    outputs[: len(found.outputs)] = found.outputs
    strengths = np.where(zero, 0.0, np.exp(outputs - outputs[~zero].max(initial=-np.inf)))
    return strengths / strengths.sum()


def _pairs(pairs: ArrayLike, probabilities: ArrayLike | None) -> tuple[Integers, Floats]:
    ends = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    given = np.ones(len(ends)) if probabilities is None else check_probabilities(probabilities)
    if given.shape != (len(ends),):
        raise InputError(f"there are {given.size} probabilities for {len(ends)} pairs; give one a pair")
    bad = np.flatnonzero((ends < 0).any(axis=1) | ((ends[:, 0] == ends[:, 1]) & (given != 0.5)))
    if len(bad):
        i, j = ends[bad[0]]
        cause = "documents count from 0" if min(i, j) < 0 else "a document stands before itself with 1/2"
        raise InputError(f"row {bad[0]}: the pair ({i}, {j}) with {given[bad[0]]:g} is no pair; {cause}")
    return ends, given


def _outputs(n: int, ends: Integers, differences: Floats) -> tuple[Floats, Integers]:
    """Outputs that agree with a spanning forest of the pairs, and each document's tree, by its first one.

    The tree takes pairs from the least certain on: log odds of a probability near 0 or 1 hold few digits.
    """
    outputs, group = np.zeros(n), np.arange(n)
    for row in np.argsort(np.abs(differences), kind="stable"):
        i, j = ends[row]
        if group[i] != group[j]:
            joining = group == group[j]
            outputs[joining] += outputs[i] - differences[row] - outputs[j]
            group[joining] = group[i]
    _, first, tree = np.unique(group, return_index=True, return_inverse=True)
    group = first[tree]
    return outputs - outputs[group], group


def _cycle(group: Integers, winners: Integers, losers: Integers) -> tuple[int, ...]:
    """Documents, by their groups' first, that each certainly stand before the next in a circle, if any."""
    after: dict[int, list[int]] = {}
    for winner, loser in zip(group[winners].tolist(), group[losers].tolist(), strict=True):
        after.setdefault(winner, []).append(loser)
    done: set[int] = set()
    for start in after:
        path, branches = [start], [iter(after[start])]
        while path:
            for step in branches[-1]:
                if step in path:
                    return tuple(path[path.index(step) :])
                if step not in done:
                    path.append(step)
                    branches.append(iter(after.get(step, ())))
                    break
            else:
                done.add(path.pop())
                branches.pop()
    return ()
