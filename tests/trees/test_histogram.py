"""Packed sums against sums of Python integers, at the edges of blocks and chunks, and what packing loses."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import trees as naive

from rankwright.trees import histogram
from rankwright.trees.binning import ROW_PADDING
from rankwright.trees.histogram import (
    BLOCK,
    CHUNK,
    SUM_CHUNK,
    add_rows,
    blocks,
    chunk_sums,
    count_bits,
    pack,
    pack_rows,
    pack_rows_wide,
    pack_wide,
    scratch,
)

JIT_OFF = os.environ.get("NUMBA_DISABLE_JIT") == "1"
LOW = 0xFFFFFFFF
forms = pytest.mark.parametrize(
    "form", ["plain", pytest.param("compiled", marks=pytest.mark.skipif(JIT_OFF, reason="the JIT is off"))]
)
numbers = st.floats(-1e6, 1e6, width=32) | st.floats(-(2**-100), 2**-100, width=32) | st.just(0.0)
rows_of_gradients = st.lists(st.tuples(numbers, numbers.map(abs)), min_size=1, max_size=40)


def halves(total: int) -> tuple[int, int]:
    return total >> 32, total & LOW


def packed(g: Any, h: Any) -> tuple[Any, float, float]:
    words = np.empty(len(g), np.int64)
    g_unit, h_unit = pack(g, h, words, n_jobs=1)
    return words, g_unit, h_unit


def packed_wide(g: Any, h: Any) -> tuple[Any, Any, float, float]:
    first, second = np.empty(len(g), np.int64), np.empty(len(g), np.int64)
    g_unit, h_unit = pack_wide(g, h, first, second, n_jobs=1)
    return first, second, g_unit, h_unit


@settings(max_examples=60)
@given(rows_of_gradients)
def test_each_row_is_rounded_once_and_no_sum_overflows(rows: Any) -> None:
    g, h = np.float32(rows).T.copy()
    words, g_unit, h_unit = packed(g, h)
    for word, one_g, one_h in zip(words.tolist(), g.tolist(), h.tolist(), strict=True):
        # Half a step, and the rounding of single precision.
        assert halves(word)[0] * g_unit == pytest.approx(one_g, rel=2e-7, abs=0.501 * g_unit)
        assert halves(word)[1] * h_unit == pytest.approx(one_h, rel=2e-7, abs=0.501 * h_unit)
    high = [halves(word)[0] for word in words.tolist()]
    assert sum(abs(part) for part in high) < 2**31
    assert halves(sum(words.tolist())) == (sum(high), sum(halves(word)[1] for word in words.tolist()))


@settings(max_examples=60)
@given(rows_of_gradients)
def test_the_wide_form_knows_the_rows(rows: Any) -> None:
    g, h = np.float32(rows).T.copy()
    first, second, g_unit, h_unit = packed_wide(g, h)
    bits = count_bits(len(g))
    total = sum(second.tolist())
    assert total % 2**bits == len(g) and total < 2**63
    assert sum(abs(word) for word in first.tolist()) < 2**63
    assert (first * g_unit).tolist() == pytest.approx(g.tolist(), rel=1e-9, abs=0.501 * g_unit)
    assert ((second >> bits) * h_unit).tolist() == pytest.approx(h.tolist(), rel=1e-9, abs=0.501 * h_unit)


@pytest.mark.parametrize("pack_all", [packed, packed_wide])
def test_nothing_at_all_packs(pack_all: Any) -> None:
    nothing = np.zeros(3, np.float32)
    words, *_, g_unit, h_unit = pack_all(nothing, nothing)
    assert (g_unit, h_unit) == (1.0, 1.0) and not words.any()


@pytest.mark.parametrize("scale", [1e-38, 1e-20, 1.0, 1e20, 1e38])
def test_any_scale_packs(scale: float) -> None:
    g = (np.float32([-1, 0.5, 0.25, 1]) * np.float32(scale)).astype(np.float32)
    words, g_unit, h_unit = packed(g, np.abs(g))
    total = halves(int(words.sum()))
    assert total[0] * g_unit == pytest.approx(0.75 * scale, rel=1e-6)
    assert total[1] * h_unit == pytest.approx(2.75 * scale, rel=1e-6)


def test_scales_do_not_depend_on_threads() -> None:
    random = np.random.default_rng(0)
    n = 3 * SUM_CHUNK + 17 if JIT_OFF else 40 * SUM_CHUNK + 17
    g, h = random.normal(size=n).astype(np.float32), random.random(n, np.float32)
    first, second = np.empty((2, n), np.int64), np.empty((2, n), np.int64)
    for form, words in ((pack, lambda out: out[:1]), (pack_wide, lambda out: out)):
        one = form(g, h, *words(first), 1)
        for jobs in (2, 3):
            assert form(g, h, *words(second), jobs) == one
            assert np.array_equal(words(first), words(second))


@forms
def test_sums_are_made_in_double_precision(form: str) -> None:
    g = np.float32([1e8, -1.0, 1.0] + [1.0] * SUM_CHUNK)
    sums = np.empty((2, 2))
    getattr(chunk_sums, form)(g, np.abs(g), 0, 2, sums)
    assert sums.tolist() == [[1e8 + SUM_CHUNK - 1] * 2, [3.0, 3.0]]


@pytest.mark.skipif(JIT_OFF, reason="the JIT is off")
def test_both_forms_pack_the_same_bits() -> None:
    random = np.random.default_rng(0)
    g, h = random.normal(size=300).astype(np.float32), random.random(300, np.float32)
    found = np.zeros((2, 3, 300), np.int64)
    for out, form in zip(found, ("plain", "compiled"), strict=True):
        getattr(pack_rows, form)(g, h, np.float32(12345.6), np.float32(654.3), 0, 300, out[0])
        getattr(pack_rows_wide, form)(
            g, h, np.float64(1.23e15), np.float64(9.87e9), 9, 0, 300, out[1], out[2]
        )
    assert np.array_equal(found[0], found[1])


def naive_histograms(bins: Any, rows: Any, words: Any) -> Any:
    return np.array([naive.sums(bins[rows, f], words[rows].tolist()) for f in range(bins.shape[1])])


def add_all(form: str, bins: Any, rows: Any, words: Any, first: int, last: int) -> Any:
    n, n_features = bins.shape
    flat = np.zeros(n * n_features + ROW_PADDING, np.uint8)
    flat[: bins.size] = bins.ravel()
    totals = np.zeros(blocks(n_features) * BLOCK * 256, np.int64)
    sizes = map(np.uint64, (0, len(rows), first, last))
    getattr(add_rows, form)(
        flat, np.uint64(n_features), rows.astype(np.uint32), words, *sizes, totals, *scratch(n_features)
    )
    return totals.reshape(-1, 256)[:n_features]


@forms
@settings(max_examples=25)
@given(
    st.sampled_from([1, 2, 16, 17, 18, 33, 34, 35, 40]),
    st.sampled_from([1, 2, 31, 32, 33, 60]),
    st.integers(0, 2**32 - 1),
)
def test_sums_by_bin(form: str, n_features: int, n: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    bins = random.integers(0, 256, (n, n_features), np.uint8)
    words = random.integers(-(2**55), 2**55, n)
    rows = random.permutation(n)[: random.integers(1, n + 1)]
    expected = naive_histograms(bins, rows, words)
    assert np.array_equal(add_all(form, bins, rows, words, 0, blocks(n_features)), expected)


@forms
def test_sums_over_more_rows_than_a_chunk_and_some_of_the_blocks(form: str) -> None:
    random = np.random.default_rng(1)
    n, n_features = 2 * CHUNK + 5, 2 * BLOCK + 3
    bins, words = random.integers(0, 4, (n, n_features), np.uint8), random.integers(-(2**40), 2**40, n)
    rows = random.permutation(n)
    expected = naive_histograms(bins, rows, words)
    only = add_all(form, bins, rows, words, 1, 2)
    assert np.array_equal(only[BLOCK : 2 * BLOCK], expected[BLOCK : 2 * BLOCK])
    assert not only[:BLOCK].any() and not only[2 * BLOCK :].any()
    if form == "compiled":
        assert np.array_equal(add_all(form, bins, rows, words, 0, 3), expected)


def test_the_sibling_is_what_is_left_of_the_parent() -> None:
    random = np.random.default_rng(2)
    n = 90
    bins = random.integers(0, 256, (n, 3), np.uint8)
    words, *_ = packed(random.normal(size=n).astype(np.float32), random.random(n, np.float32))
    rows = random.permutation(n)
    parent, one, other = (add_all("plain", bins, r, words, 0, 1) for r in (rows, rows[:30], rows[30:]))
    assert np.array_equal(parent - one, other)


def test_ten_million_rows_of_weights_from_1_to_10000_need_the_wide_form(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rows that weigh 1, and one in the place of five million that weigh 10,000."""
    random, n = np.random.default_rng(0), 20_000
    monkeypatch.setattr(histogram, "count_bits", lambda n_rows: count_bits(10**7))
    g, h = (random.uniform(0.05, 0.15, n + 1).astype(np.float32) for _ in range(2))
    g[n] = h[n] = 0.1 * 5e6 * 1e4
    true_g, true_h = (math.fsum(part[:n].tolist()) for part in (g, h))
    words, g_unit, h_unit = packed(g, h)
    assert not words[:n].any()  # each light row rounds to nothing
    first, second, g_unit, h_unit = packed_wide(g, h)
    assert int(first[:n].sum()) * g_unit == pytest.approx(true_g, rel=1e-9)
    light = int(second[:n].sum())
    assert light % 2 ** count_bits(10**7) == n
    # The hessian has a few dozen bits: steps of a fifth of a row, which even out over many.
    assert (light >> count_bits(10**7)) * h_unit == pytest.approx(true_h, rel=0.02)


def test_the_doors_of_the_module() -> None:
    assert [blocks(n) for n in (1, 17, 18, 34, 35)] == [1, 1, 2, 2, 3]
    assert histogram.BLOCK * 256 * 8 < 2**16
