"""Every measure against its definition: all short lists exhaustively, and long lists to a stated tolerance.

For each list of up to five labels and each cut-off, the value is compared with the naive twin, and each swap
gain with swapping and evaluating again. With the JIT off lists have up to four labels.
"""

from __future__ import annotations

import itertools
import os
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import measures as naive

from rankwright.measures import Measure, measure

JIT_OFF = os.environ.get("NUMBA_DISABLE_JIT") == "1"
LONGEST = 4 if JIT_OFF else 5
LEVELS = (0, 1, 2)
UNJUDGED = (0, 1, 2, None)
FRACTIONS = (0, 0.5, 1.5)
PROBABILITIES = (0, 0.5, 1)
NO_CUTOFF: tuple[int | None, ...] = (None,)
CUTOFFS = (None, *range(1, LONGEST + 2))
SINGLE = 2.0**-23
"""Relative tolerance of swap gains: they are in single precision, rounded once from doubles."""
NOTHING = 1e-14
"""Absolute tolerance of values, and of gains that are exactly 0."""

CASES: list[tuple[str, Any, tuple[Any, ...], tuple[int | None, ...]]] = [
    ("ndcg", naive.ndcg(), LEVELS, CUTOFFS),
    ("ndcg", naive.ndcg(), (0, 1, None), CUTOFFS),
    ("ndcg(gain=linear)", naive.ndcg(naive.linear_gain), FRACTIONS, CUTOFFS),
    (
        "ndcg(gain=0/3/7, discount=letor)",
        naive.ndcg(naive.table_gain(0, 3, 7), naive.letor_discount),
        LEVELS,
        CUTOFFS,
    ),
    ("dcg(discount=zipf)", naive.dcg(discount=naive.zipf_discount), LEVELS, CUTOFFS),
    ("map", naive.average_precision(), LEVELS, CUTOFFS),
    ("map", naive.average_precision(), (0, 1, None), CUTOFFS),
    ("map(threshold=2)", naive.average_precision(2), LEVELS, CUTOFFS),
    ("map(denominator=min(R,k))", naive.average_precision(by_cutoff=True), LEVELS, CUTOFFS),
    ("mrr", naive.reciprocal_rank(), LEVELS, CUTOFFS),
    ("mrr(threshold=1.5)", naive.reciprocal_rank(1.5), FRACTIONS, CUTOFFS),
    ("err", naive.err(naive.stop_by_exponent(4)), LEVELS, CUTOFFS),
    ("err(max_label=2)", naive.err(naive.stop_by_exponent(2)), FRACTIONS, CUTOFFS),
    ("err(max_label=60)", naive.err(naive.stop_by_exponent(60)), (0, 30, 60), CUTOFFS),
    ("err(stop=label)", naive.err(naive.stop_by_label), PROBABILITIES, CUTOFFS),
    ("p", naive.precision(), LEVELS, CUTOFFS),
    ("p(denominator=n)", naive.precision(by_length=True), LEVELS, CUTOFFS),
    ("recall", naive.recall(), LEVELS, CUTOFFS),
    ("wta", naive.winner_takes_all(), LEVELS, NO_CUTOFF),
    ("wta(threshold=2)", naive.winner_takes_all(2), LEVELS, NO_CUTOFF),
    ("pairs", naive.pairs, UNJUDGED, NO_CUTOFF),
    ("pairs", naive.pairs, FRACTIONS, NO_CUTOFF),
    ("auc", naive.auc(), UNJUDGED, NO_CUTOFF),
    ("auc(threshold=2)", naive.auc(2), LEVELS, NO_CUTOFF),
    ("bpref", naive.bpref(), UNJUDGED, NO_CUTOFF),
    ("bpref(threshold=2)", naive.bpref(2), UNJUDGED, NO_CUTOFF),
    ("rbp(p=0.8)", naive.rank_biased_precision(0.8), LEVELS, CUTOFFS),
    ("rbp(p=0.3, threshold=2)", naive.rank_biased_precision(0.3, 2), LEVELS, CUTOFFS),
]


class Compiled:
    """A measure's kernels on whatever list comes next."""

    def __init__(self, chosen: Measure, longest: int):
        assert chosen.prepare_kernel is not None and chosen.row_kernel is not None
        self.measure, self.tables, self.line = chosen, chosen.tables(longest), np.zeros(longest, np.float32)
        self.constant, self.value = chosen.constant_kernel.compiled, chosen.value_kernel.compiled
        self.prepare, self.row = chosen.prepare_kernel.compiled, chosen.row_kernel.compiled

    def of(self, labels: tuple[Any, ...]) -> tuple[float | None, dict[tuple[int, int], float]]:
        """The value and all swap gains; None where the query is blank."""
        n, gains = len(labels), self.measure.gains(as_floats(labels))
        ranks = self.measure.ranks(n)
        constant = self.constant(n, gains, ranks, self.measure.parameters)
        if constant == 0.0:
            return None, {}
        value = self.value(gains, constant, ranks)
        self.prepare(n, gains, constant, self.tables)
        swaps = {}
        for i in range(n):
            self.row(i, n, gains, self.tables, self.line)
            swaps |= {(i, j): float(self.line[j]) for j in range(i + 1, n)}
        return value, swaps


def as_floats(labels: Any) -> np.ndarray:
    return np.array([np.nan if label is None else label for label in labels], np.float64)


def with_cutoff(text: str, k: int | None) -> Measure:
    chosen = measure(text)
    return chosen if k is None else chosen.replace(k=k)


@pytest.mark.parametrize(
    ("text", "twin", "alphabet", "cutoffs"), CASES, ids=[f"{c[0]}-{c[2]}" for c in CASES]
)
def test_all_short_lists(text: str, twin: Any, alphabet: tuple[Any, ...], cutoffs: tuple[Any, ...]) -> None:
    lists = [labels for n in range(1, LONGEST + 1) for labels in itertools.product(alphabet, repeat=n)]
    swaps_seen = 0
    for k in cutoffs:
        kernels = Compiled(with_cutoff(text, k), LONGEST)
        exact = {labels: twin(labels, labels, k) for labels in lists}
        for labels in lists:
            value, swaps = kernels.of(labels)
            if exact[labels] is None:
                assert value is None, (labels, k)
                continue
            assert value is not None, (labels, k)
            assert abs(value - float(exact[labels])) <= NOTHING * max(1.0, abs(value)), (labels, k)
            for (i, j), gain in swaps.items():
                moved = list(labels)
                moved[i], moved[j] = moved[j], moved[i]
                change = float(exact[tuple(moved)] - exact[labels])
                assert abs(gain - change) <= SINGLE * abs(change) + NOTHING * max(1.0, abs(value)), (
                    labels,
                    k,
                    i,
                    j,
                )
                swaps_seen += 1
    assert swaps_seen > 100


@pytest.mark.parametrize(
    ("text", "twin", "alphabet", "cutoffs"), CASES, ids=[f"{c[0]}-{c[2]}" for c in CASES]
)
@given(data=st.data())
def test_judged_documents_that_were_not_retrieved(
    text: str, twin: Any, alphabet: tuple[Any, ...], cutoffs: tuple[Any, ...], data: st.DataObject
) -> None:
    some = st.lists(st.sampled_from(alphabet), max_size=12)
    labels = data.draw(some.filter(bool))
    judged = labels + data.draw(some)
    k = data.draw(st.sampled_from(cutoffs))
    value, exact = with_cutoff(text, k).value(as_floats(labels), as_floats(judged)), twin(labels, judged, k)
    assert np.isnan(value) if exact is None else value == pytest.approx(float(exact), rel=1e-13, abs=NOTHING)


LONG = 1000
LONG_CASES = [
    ("ndcg", naive.ndcg()),
    ("map", naive.average_precision()),
    ("ap@400", naive.average_precision()),
    ("err", naive.err(naive.stop_by_exponent(4))),
    ("mrr", naive.reciprocal_rank()),
    ("pairs", naive.pairs),
    ("auc", naive.auc()),
    ("bpref", naive.bpref()),
]
LONG_TOLERANCE = 1e-6
"""Relative, of each swap gain in a list of 1,000 documents: a few roundings in single precision."""
SWAPS = [
    (0, 1),
    (2, 999),
    (3, 500),
    (98, 99),
    (100, 107),
    (250, 260),
    (498, 499),
    (600, 990),
    (900, 901),
    (950, 998),
]


def long_list() -> np.ndarray:
    labels = np.random.default_rng(7).choice([0.0, 1.0, 2.0, 3.0], LONG, p=[0.6, 0.3, 0.08, 0.02])
    for i, j in SWAPS:  # so that each of them changes something
        labels[i], labels[j] = 0.0, 2.0
    return labels


@pytest.mark.skipif(JIT_OFF, reason="rows of 1,000 documents are for the compiled kernels")
@pytest.mark.parametrize(("text", "twin"), LONG_CASES, ids=[case[0] for case in LONG_CASES])
def test_long_lists(text: str, twin: Any) -> None:
    labels, chosen = long_list(), measure(text)
    gains = chosen.swap_gains(labels)
    whole = [int(label) for label in labels]
    for i, j in SWAPS:
        exact = float(naive.swap_gain(twin, whole, i, j, chosen.cutoff))
        assert abs(gains[i, j] - exact) <= LONG_TOLERANCE * abs(exact), (i, j, gains[i, j], exact)


def single_precision_err(labels: np.ndarray, i: int, j: int) -> float:
    """2010 section 3's steps 1 to 4 as they stand, with the array A of prefix sums, in single precision."""
    stop = ((2.0**labels - 1) / 16).astype(np.float32)
    passed = np.float32(1) - stop
    reached = np.concatenate([[np.float32(1)], np.cumprod(passed, dtype=np.float32)])
    ranks = np.arange(1, len(labels) + 1, dtype=np.float32)
    prefix = np.cumsum(stop * reached[:-1] / ranks, dtype=np.float32)
    change = reached[i] * (stop[i] - stop[j]) / ranks[i]
    change += (passed[i] - passed[j]) * (prefix[j - 1] - prefix[i]) / passed[i]
    change += reached[j] / ranks[j] * (stop[j] - passed[j] * stop[i] / passed[i])
    return -float(change)  # the paper's Δ is before minus after


def single_precision_map(labels: np.ndarray, i: int, j: int) -> float:
    """AP's swap gain from prefix sums of relevance over rank, in single precision."""
    relevant = (labels >= 1).astype(np.float32)
    ranks = np.arange(1, len(labels) + 1, dtype=np.float32)
    count, prefix = np.cumsum(relevant), np.cumsum(relevant / ranks, dtype=np.float32)
    change = (count[i] - relevant[i] + 1) / ranks[i] + prefix[j - 1] - prefix[i] - count[j] / ranks[j]
    return float((relevant[j] - relevant[i]) * change / relevant.sum())


@pytest.mark.parametrize(
    ("twin", "single"),
    [
        (naive.err(naive.stop_by_exponent(4)), single_precision_err),
        (naive.average_precision(), single_precision_map),
    ],
    ids=["err", "map"],
)
def test_sums_in_single_precision_would_miss_the_tolerance(twin: Any, single: Any) -> None:
    labels = long_list()
    whole = [int(label) for label in labels]
    errors = []
    for i, j in SWAPS:
        exact = float(naive.swap_gain(twin, whole, i, j))
        errors.append(abs(single(labels, i, j) - exact) / abs(exact))
    assert errors[0] < 1e-4, "the formula is right where nothing cancels"
    assert max(errors) > 10 * LONG_TOLERANCE


def test_2010_has_the_same_change_of_err() -> None:
    """Steps 1 to 4 of 2010 section 3, on a short list where single precision is good enough."""
    labels = np.array([1.0, 3.0, 0.0, 2.0, 4.0])
    gains = measure("err").swap_gains(labels)
    for i, j in itertools.combinations(range(5), 2):
        if j > i + 1 or i > 0:
            assert single_precision_err(labels, i, j) == pytest.approx(gains[i, j], abs=1e-6)


def test_winner_takes_all_is_precision_at_1() -> None:
    wta, precision = measure("wta"), measure("p@1")
    for labels in itertools.product(LEVELS, repeat=4):
        np.testing.assert_array_equal(wta.value(labels), precision.value(labels))
        np.testing.assert_array_equal(wta.swap_gains(labels), precision.swap_gains(labels))


def test_2006_worked_example_of_pairwise_errors() -> None:
    """Two relevant documents, at ranks 1 and n: n − 2 pairwise errors of 2(n − 2) (2006 section 4)."""
    n = 10
    labels = [1] + [0] * (n - 2) + [1]
    assert Fraction(measure("pairs").value(labels)).limit_denominator(100) == 1 - Fraction(n - 2, 2 * (n - 2))
    assert measure("wta").value(labels) == 1.0
