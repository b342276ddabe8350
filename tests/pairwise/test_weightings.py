"""What pairs weigh: LambdaLoss pair by pair, RankNet against its cost, and who is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import lambdas as naive

from rankwright.measures import BUILT_IN, measure
from rankwright.measures.lists import Lists
from rankwright.pairwise.lambdas import Lambdas
from rankwright.pairwise.weightings import MU, alike, lambda_loss
from rankwright.runtime.errors import InputError

SINGLE = 2e-5
lists = st.lists(
    st.tuples(st.sampled_from([0.0, 1.0, 2.0, math.nan]), st.floats(-5, 5)), min_size=1, max_size=15
)


def one_query(labels: Any) -> Lists:
    return Lists(np.array(labels, np.float64), np.array([0, len(labels)]))


def gain_of(text: str, label: float) -> float:
    if label != label:
        return 0.0
    return float(label >= 1) if text.startswith(("rbp", "p@")) else 2.0**label - 1.0


DISCOUNTS = {
    "ndcg": lambda rank: 1 / math.log2(rank + 1),
    "ndcg@3": lambda rank: 1 / math.log2(rank + 1),
    "dcg": lambda rank: 1 / math.log2(rank + 1),
    "rbp(p=0.8)": lambda rank: 0.2 * 0.8 ** (rank - 1),
}


def cut(text: str) -> Any:
    """The discount that the swap's part has: 0 behind the cut-off."""
    last = 3 if text.endswith("@3") else math.inf
    return lambda rank: DISCOUNTS[text](rank) if rank <= last else 0.0


@pytest.mark.parametrize("text", DISCOUNTS)
@settings(max_examples=25)
@given(lists, st.sampled_from([None, 4]))
def test_lambda_loss_pair_by_pair(text: str, drawn: Any, truncation: int | None) -> None:
    labels, scores = (np.array(column, np.float64) for column in zip(*drawn, strict=True))
    chosen = measure(text)
    constant = float(one_query(labels).constants(chosen)[0])
    whole = naive.lambda_loss_change(lambda label: gain_of(text, label), DISCOUNTS[text], constant, MU)
    # A cut-off leaves the pairs behind it out, and ranks behind it are worth nothing to the swap.
    of_swaps = naive.lambda_loss_change(lambda label: gain_of(text, label), cut(text), constant, 0.0)
    of_all = naive.lambda_loss_change(lambda label: gain_of(text, label), DISCOUNTS[text], constant, 0.0)

    def change(ranked: Any, i: int, j: int) -> float:
        return float(whole(ranked, i, j) - of_all(ranked, i, j) + of_swaps(ranked, i, j))

    rows = min(truncation or len(labels), chosen.cutoff or len(labels))
    expected = naive.lambdas(labels, scores, change, truncation=rows)
    got = Lambdas(one_query(labels), chosen, truncation=truncation, weigh=lambda_loss).at(scores)
    for one, other in zip(got, expected, strict=True):
        assert np.abs(one - other).max() <= SINGLE * np.abs(other).max() + 1e-30


@pytest.mark.parametrize("text", ["ndcg@10", "map"])
def test_alike_is_ranknet_whatever_the_measure(text: str) -> None:
    random = np.random.default_rng(0)
    labels, scores = random.integers(0, 4, 14).astype(float), random.normal(size=14)
    lams, hess = Lambdas(one_query(labels), measure(text), sigma=1.5, weigh=alike).at(scores)
    step = 1e-4
    for d in range(14):
        moved = np.eye(14)[d] * step
        below, here, above = (naive.ranknet_cost(labels, scores + k * moved, 1.5) for k in (-1, 0, 1))
        assert lams[d] == pytest.approx(-(above - below) / (2 * step), abs=1e-3)
        assert hess[d] == pytest.approx((above - 2 * here + below) / step**2, abs=1e-3)


def test_only_weighted_sums_have_lambda_losses_weights() -> None:
    lists = one_query([0, 1, 2])
    for kind in BUILT_IN:
        for name in kind.names:
            chosen = measure(name)
            if not chosen.has_swap_gains:
                continue
            if chosen.additive:
                assert np.isfinite(Lambdas(lists, chosen, weigh=lambda_loss).at([0.0, 1.0, 2.0])).all()
            else:
                with pytest.raises(InputError, match="LambdaLoss's weights are not defined"):
                    Lambdas(lists, chosen, weigh=lambda_loss)
