"""What 2008 says of its table (Figure 2, Facts 3.3 and 3.4), against all merges: what holds, and what not.

docs/worst-orderings.md tells the same in words.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import structured as naive
from tests.naive.measures import letor_discount, log2_discount

from rankwright.measures.lists import Lists
from rankwright.structured import worst_orderings

DISCOUNTS = {"log2": log2_discount, "letor": letor_discount}
scores = st.lists(st.floats(-1.5, 1.5), min_size=1, max_size=4).map(lambda drawn: sorted(drawn, reverse=True))


def worth_of_ranks(n_good: int, k: int, discount: str = "log2") -> Any:
    ideal = sum(DISCOUNTS[discount](r) for r in range(1, min(n_good, k) + 1))
    return lambda r: DISCOUNTS[discount](r + 1) / ideal if r < k else 0.0


def lost(above: Any, good: Any, bad: Any, worth: Any) -> float:
    """How much worse this merge is than the best."""
    best = naive.merge_value(good, bad, worth, naive.best_merge(good, bad, worth))
    return best - naive.merge_value(good, bad, worth, above)


def ours(good: Any, bad: Any, text: str) -> list[int]:
    """The bad documents above each good one, from the coefficients."""
    labels = np.array([1.0] * len(good) + [0.0] * len(bad))
    oracle = worst_orderings(text, "po", Lists(labels, np.array([0, len(labels)])))
    _, coefficients = oracle.at([*good, *bad])
    return [round(c * len(good) * len(bad) / 2) for c in coefficients[: len(good)]]


@settings(max_examples=40)
@given(scores, scores, st.integers(1, 9), st.sampled_from(sorted(DISCOUNTS)))
def test_the_table_with_a_last_column_is_exact(good: Any, bad: Any, k: int, discount: str) -> None:
    worth = worth_of_ranks(len(good), k, discount)
    full = naive.figure_2(good, bad, worth, places=len(bad) + 1)
    assert lost(full, good, bad, worth) < 1e-12
    assert lost(ours(good, bad, f"ndcg@{k}(discount={discount})"), good, bad, worth) < 1e-12


def test_the_table_as_printed_has_no_place_behind_the_last_bad_document() -> None:
    good, bad, worth = [0.0], [2.0], worth_of_ranks(1, 10)
    assert naive.figure_2(good, bad, worth) == (0,)
    assert ours(good, bad, "ndcg@10") == [1]


@settings(max_examples=40)
@given(scores, scores, st.integers(0, 3))
def test_fact_3_3_holds_where_all_good_documents_fit_above_the_cutoff(good: Any, bad: Any, more: int) -> None:
    k = len(good) + more
    worth = worth_of_ranks(len(good), k)
    assert lost(naive.fact_3_3(good, bad, worth, k), good, bad, worth) < 1e-12


def test_fact_3_3_fails_where_they_do_not() -> None:
    """The first good document gains 1 − 0.7 by going down, and the second, which has no row, loses 0.7."""
    good, bad, worth = [0.7, 0.7], [0.0], worth_of_ranks(2, 1)
    assert naive.fact_3_3(good, bad, worth, 1) == (1, 1)
    assert lost((1, 1), good, bad, worth) == pytest.approx(0.4)
    assert ours(good, bad, "ndcg@1(discount=letor)") == [0, 0]


@pytest.mark.parametrize(
    ("good", "bad", "k", "discount", "greedy", "best", "loses"),
    [
        ([1.0, 1.0], [0.8], 99, "log2", (1, 1), [0, 0], 0.0934),
        ([2.0, 1.0, 1.0], [0.8], 99, "letor", (0, 1, 1), [0, 0, 0], 0.0766),
        ([1.5, 1.5], [2.0, 0.6], 2, "letor", (2, 2), [1, 1], 0.4),
    ],
)
def test_fact_3_4_fails(
    good: Any, bad: Any, k: int, discount: str, greedy: Any, best: Any, loses: float
) -> None:
    """A good document goes down for its own gain, and all behind it have to follow."""
    worth = worth_of_ranks(len(good), k, discount)
    assert naive.fact_3_4(good, bad, worth) == greedy
    assert lost(greedy, good, bad, worth) == pytest.approx(loses, abs=5e-5)
    assert ours(good, bad, f"ndcg@{k}(discount={discount})") == best
