"""What a pair of documents weighs in the λ's: the gain of its swap, or what later work puts in its place.

    swap gains    |Δᵢⱼ|                              2010 section 4, for any measure
    LambdaLoss    |gᵢ − gⱼ| (|dᵢ − dⱼ| + μ δᵢⱼ) N,   δᵢⱼ = d(|i − j|) − d(|i − j| + 1),  μ = 10
    alike         1                                  RankNet's cost (2005 equation 3), whatever the measure

with g what labels are worth, d what ranks are worth (without a cut-off) and N the measure's constant.
LambdaLoss is the NDCG-Loss2++ of Wang, Li, Golbandi, Bendersky and Najork (The LambdaLoss Framework for
Ranking Metric Optimization, 2018): |dᵢ − dⱼ| is the swap's gain, and δ bounds the NDCG from the pairwise
losses. It goes with the measures that are a sum over ranks of gain × rank weight, and with no other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rankwright.measures.base import ONE, PREPARE, ROW, Floats, Measure, Singles
from rankwright.measures.lists import Lists
from rankwright.runtime.errors import InputError
from rankwright.runtime.kernels import Kernel, kernel

MU = 10.0
DELTA = 2
"""The line of a weighted sum's tables that has μδ by distance of ranks."""


class Weighting(NamedTuple):
    """Kernels as a measure has them, the tables that they read, each query's constant, the last rank that
    counts (None: all do)."""

    prepare: Kernel
    row: Kernel
    tables: Floats
    constants: Floats
    cutoff: int | None


@kernel(PREPARE)
def nothing_to_prepare(n: int, gains: Floats, constant: float, tables: Floats) -> None:
    """Pairs that are all alike know no ranks."""


@kernel(ROW)
def alike_row(i: int, n: int, gains: Floats, tables: Floats, out: Singles) -> None:
    """1 for every pair."""
    for j in range(i + ONE, n):
        out[j] = np.float32(1.0)


@kernel(ROW, fastmath={"contract", "nsz"})
def lambda_loss_row(i: int, n: int, gains: Floats, tables: Floats, out: Singles) -> None:
    """(gⱼ − gᵢ)(dᵢ − dⱼ + μδᵢⱼ) times the constant."""
    weights, constant, delta = tables[0], tables[1, 0], tables[DELTA]
    gain, weight = gains[i], weights[i]
    for j in range(i + ONE, n):
        out[j] = np.float32((gains[j] - gain) * (weight - weights[j] + delta[j - i]) * constant)


def swap_gains(measure: Measure, lists: Lists) -> Weighting:
    """|Δ| of any measure that has swap gains."""
    assert measure.prepare_kernel is not None and measure.row_kernel is not None
    constants = lists.constants(measure)
    if measure.short == "zero" and measure.cutoff is not None:
        # A list shorter than the cut-off counts nothing anyhow.
        constants = np.where(lists.sizes < measure.cutoff, 0.0, constants)
    tables = measure.tables(int(lists.sizes.max(initial=0)))
    return Weighting(measure.prepare_kernel, measure.row_kernel, tables, constants, measure.cutoff)


def lambda_loss(measure: Measure, lists: Lists) -> Weighting:
    """NDCG-Loss2++'s weights, of measures that are weighted sums."""
    swaps = swap_gains(measure, lists)
    if not measure.additive:
        raise InputError(
            f"{measure!r} is no sum over ranks of gain × rank weight, so LambdaLoss's weights are not "
            "defined for it; use the measure's own swap gains, or a measure like ndcg or rbp"
        )
    longest = int(lists.sizes.max(initial=0))
    whole = measure if measure.cutoff is None else measure.replace(k=None)
    by_rank = whole.ranks(longest + 1)
    delta = np.zeros((1, longest + 1))
    delta[0, 1:] = MU * np.abs(np.diff(by_rank))
    return swaps._replace(row=lambda_loss_row, tables=np.concatenate([swaps.tables, delta]))


def alike(measure: Measure, lists: Lists) -> Weighting:
    """1 for each pair of documents with different labels."""
    longest = int(lists.sizes.max(initial=0))
    ones = np.ones(len(lists.sizes))
    return Weighting(nothing_to_prepare, alike_row, np.zeros((1, longest + 1)), ones, None)


Weigh = Callable[[Measure, Lists], Weighting]
