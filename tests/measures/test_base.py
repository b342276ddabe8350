"""What all measures share: the same bits plain and compiled, parameters checked, labels refused by row."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import strategies

from rankwright import InputError
from rankwright.measures import ERR, NDCG, Measure, Precision, measure

JIT_OFF = os.environ.get("NUMBA_DISABLE_JIT") == "1"
SMALL_LABELS = (0.0, 1.0, 2.0, float("nan"))
FOR_SMALL_LABELS = {
    "max_label": st.integers(2, 60),
    "stop": st.just("exp"),
    "gain": st.sampled_from(["exp", "linear", (0.0, 1.0, 3.0)]),
    "threshold": st.sampled_from([0.5, 1, 2]),
    "discount": st.sampled_from(["log2", "letor", "zipf", (1.0, 0.5, 0.25)]),
    "short": st.just("as-is"),
}


@pytest.mark.skipif(JIT_OFF, reason="there is no compiled form to compare with")
@settings(max_examples=150)
@given(
    strategies.measures(**FOR_SMALL_LABELS),
    strategies.labels(*SMALL_LABELS),
    strategies.labels(*SMALL_LABELS),
)
def test_values_have_the_same_bits_plain_and_compiled(
    chosen: Measure, labels: np.ndarray, more: np.ndarray
) -> None:
    judged = np.append(labels, more)
    n, gains, known = len(labels), chosen.gains(labels), chosen.gains(judged)
    ranks = chosen.ranks(len(judged))
    constant = chosen.constant_kernel.plain(n, known, ranks, chosen.parameters)
    assert constant == chosen.constant_kernel.compiled(n, known, ranks, chosen.parameters)
    if constant != 0.0:
        plain = chosen.value_kernel.plain(gains, constant, ranks[:n])
        assert plain == chosen.value_kernel.compiled(gains, constant, ranks[:n])


@given(strategies.measures(), st.integers(1, 30), st.integers(0, 30))
def test_rank_weights_do_not_depend_on_how_many_are_asked_for(chosen: Measure, n: int, more: int) -> None:
    np.testing.assert_array_equal(chosen.ranks(n), chosen.ranks(n + more)[:n])


@pytest.mark.skipif(JIT_OFF, reason="there is no compiled form to compare with")
@given(strategies.measures(**FOR_SMALL_LABELS), strategies.labels(*SMALL_LABELS, least=24, most=30))
def test_swap_gains_are_the_same_compiled_or_not(chosen: Measure, labels: np.ndarray) -> None:
    """More than 22 labels are left to the compiled kernels; up to 22 of them are not."""
    n, gains, tables = len(labels), chosen.gains(labels), chosen.tables(len(labels))
    assert chosen.prepare_kernel is not None and chosen.row_kernel is not None
    constant = chosen.constant_kernel.plain(n, gains, chosen.ranks(n), chosen.parameters)
    plain, line = np.zeros((n, n), np.float32), np.zeros(n, np.float32)
    if constant != 0.0:
        chosen.prepare_kernel.plain(n, gains, constant, tables)
        for i in range(n):
            chosen.row_kernel.plain(i, n, gains, tables, line)
            plain[i, i + 1 :] = line[i + 1 :]
    # Compiled rows may multiply and add in one rounding.
    np.testing.assert_allclose(chosen.swap_gains(labels), plain, rtol=3e-7, atol=1e-13 * abs(plain).max())


def test_long_lists_are_compiled_and_short_ones_are_not() -> None:
    labels = np.tile([0.0, 1.0, 2.0], 300)
    for text in ("ndcg", "map", "bpref", "pairs"):
        chosen = measure(text)
        n, gains, ranks = len(labels), chosen.gains(labels), chosen.ranks(len(labels))
        constant = chosen.constant_kernel.plain(n, gains, ranks, chosen.parameters)
        assert chosen.value(labels) == chosen.value_kernel.plain(gains, constant, ranks)


def test_a_query_without_anything_to_find() -> None:
    assert np.isnan(measure("ndcg").value([0, 0]))
    assert measure("ndcg(blank=0)").value([0, 0]) == 0.0
    assert measure("map(blank=1)").value([0]) == 1.0
    assert not measure("map").swap_gains([0, 0]).any()


def test_short_lists_may_count_nothing() -> None:
    assert measure("ndcg@3").value([1, 0]) == 1.0
    assert measure("ndcg@3(short=zero)").value([1, 0]) == 0.0
    assert measure("ndcg@3(short=zero)").value([1, 0, 0]) == 1.0
    assert not measure("ndcg@3(short=zero)").swap_gains([1, 0]).any()
    assert measure("ndcg@3(short=zero)").swap_gains([1, 0, 0]).any()


@pytest.mark.parametrize(
    ("text", "labels", "words"),
    [
        ("ndcg", [0, 1, -1], "row 2: label -1"),
        ("map", [0, np.inf], "row 1: label inf"),
        ("ndcg", [0, 1, 1001], "row 2: label 1001 .* overflows; use gain=linear"),
        ("dcg(gain=linear)", [0, 1e302], "row 1: label 1e\\+302 .* overflows; scale the labels"),
        ("ndcg(gain=0/1/3)", [0, 1, 3], "row 2: label 3 .* gains for the labels 0 to 2"),
        ("ndcg(gain=0/1/3)", [0, 0.5], "row 1: label 0.5"),
        ("err", [4, 5], "row 1: label 5 .* highest label is 4; give the data's own as max_label"),
        ("err(stop=label)", [0.5, 2], "row 1: label 2 .* probability"),
        ("bpref", [np.nan, -2], "row 1: label -2"),
    ],
)
def test_labels_that_a_measure_cannot_use(text: str, labels: list[float], words: str) -> None:
    made = measure(text)
    with pytest.raises(InputError, match=words):
        made.check_labels(np.array(labels, float))
    with pytest.raises(InputError, match=words):
        made.value(labels)
    with pytest.raises(InputError, match=words):
        made.value([0, 0], judged=labels)
    if made.has_swap_gains:
        with pytest.raises(InputError, match=words):
            made.swap_gains(labels)


@pytest.mark.parametrize("text", ["ndcg", "ndcg(gain=linear)", "map", "err", "bpref", "ndcg(gain=0/1/3)"])
def test_labels_that_a_measure_can_use(text: str) -> None:
    measure(text).check_labels(np.array([0.0, 2.0, np.nan]))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: NDCG(k=0), "the cut-off k is 0"),
        (lambda: NDCG(k=2.5), "the cut-off k is 2.5"),
        (lambda: NDCG(k=True), "the cut-off k is True"),
        (lambda: NDCG(gain="square"), "gain='square' is not known; it is exp, linear or a table"),
        (lambda: NDCG(gain=(0.0, -1.0)), "neither negative nor above"),
        (lambda: NDCG(gain=(0.0, 1e302)), "neither negative nor above"),
        (lambda: NDCG(gain=(0.0, "1")), "neither negative nor above"),
        (lambda: NDCG(discount=()), "discount=\\(\\) is not known; it is log2, letor, zipf or a table"),
        (lambda: NDCG(blank=2), "blank=2 is not known"),
        (lambda: NDCG(ties="random"), "ties='random' is not known"),
        (lambda: NDCG(short="long"), "short='long' is not known"),
        (lambda: Precision(threshold=0), "threshold=0"),
        (lambda: Precision(threshold="high"), "threshold='high'"),
        (lambda: Precision(denominator="R"), "denominator='R' is not known"),
        (lambda: measure("map(denominator=k)"), "denominator='k' is not known"),
        (lambda: ERR(max_label=0), "max_label=0"),
        (lambda: ERR(stop="never"), "stop='never'"),
        (lambda: measure("rbp(p=1)"), "p=1 is not known"),
    ],
)
def test_parameters_that_mean_nothing(make: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make()  # type: ignore[operator]


def test_measures_are_values() -> None:
    assert measure("ndcg@10") == NDCG(k=10) and hash(measure("ndcg@10")) == hash(NDCG(k=10))
    assert measure("ndcg@10").replace(k=None) == measure("ndcg")
    with pytest.raises(AttributeError):
        measure("ndcg@10").k = 5  # type: ignore[attr-defined]


def test_a_measure_without_swap_gains_says_so() -> None:
    class OnlyValued(NDCG):
        row_kernel = None

    assert not OnlyValued().has_swap_gains
    with pytest.raises(InputError, match="has no swap gains"):
        OnlyValued().swap_gains([0, 1])


def test_labels_have_one_dimension() -> None:
    with pytest.raises(InputError, match="2 dimensions"):
        measure("ndcg").value([[1, 0]])


def test_reading_and_valuing_does_not_wait_for_a_compiler() -> None:
    code = "import sys, rankwright as rw; rw.measure('map').value([0, 1]); print('numba' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
