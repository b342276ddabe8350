"""Each intrinsic in its two forms: a plain function, and an instruction inside a kernel."""

from __future__ import annotations

import os
import struct
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright.runtime import intrinsics
from rankwright.runtime.intrinsics import (
    Intrinsic,
    add_where,
    bits_of_float,
    byte_at,
    copy32,
    eight_bytes,
    fetch_add,
    float_of_bits,
    give_way,
    load,
    pause,
    prefetch,
    rows_above,
    rows_not_below,
    store,
    trailing_zeros,
)
from rankwright.runtime.kernels import kernel

JIT_OFF = os.environ.get("NUMBA_DISABLE_JIT") == "1"
forms = pytest.mark.parametrize(
    "form", ["plain", pytest.param("compiled", marks=pytest.mark.skipif(JIT_OFF, reason="the JIT is off"))]
)


@kernel("float32(int32)", cache=False)
def as_float(bits: Any) -> Any:
    return float_of_bits(bits)


@kernel("int32(float32)", cache=False)
def as_bits(value: Any) -> Any:
    return bits_of_float(value)


@kernel("int64(int64)", cache=False)
def signed_zeros(bits: Any) -> Any:
    return trailing_zeros(bits)


@kernel("uint64(uint64)", cache=False)
def unsigned_zeros(bits: Any) -> Any:
    return trailing_zeros(bits)


@kernel("void(uint8[::1], uint64, uint8[::1], uint64)", cache=False)
def copy(target: Any, at: Any, source: Any, start: Any) -> None:
    prefetch(source, start)
    prefetch(source, start + np.uint64(2**20))  # a hint may point anywhere
    copy32(target, at, source, start)


@kernel("int64(uint8[::1], int64)", cache=False)
def word_at(text: Any, at: Any) -> Any:
    return eight_bytes(text, at)


@kernel("int64(uint8[::1], int64)", cache=False)
def number_at(text: Any, at: Any) -> Any:
    return byte_at(text, at)


@kernel("void(int64[::1], int64)", cache=False)
def count(counters: Any, n: int) -> None:
    for i in range(n):
        fetch_add(counters, 0, 1)
        if fetch_add(counters, 1, 2) < 0:
            store(counters, 2, 1)
        pause(i)
    give_way()


@kernel("int64(int64[::1])", cache=False)
def swap_in(cell: Any) -> Any:
    before = load(cell, 1)
    store(cell, 1, 7)
    return before


def test_every_intrinsic_is_here() -> None:
    there = {name for name, value in vars(intrinsics).items() if isinstance(value, Intrinsic)}
    assert there <= globals().keys()


@forms
@given(st.floats(width=32, allow_nan=False))
def test_floats_and_their_bits(form: str, value: float) -> None:
    [bits] = struct.unpack("<i", struct.pack("<f", value))
    assert int(getattr(as_bits, form)(np.float32(value))) == bits
    back = getattr(as_float, form)(np.int32(bits))
    assert struct.pack("<f", back) == struct.pack("<f", value)


@forms
@given(st.floats(0, width=32), st.floats(0, width=32))
def test_bits_are_in_the_order_of_their_floats(form: str, one: float, other: float) -> None:
    one, other = abs(one), abs(other)
    run = getattr(as_bits, form)
    assert (one < other) == (run(np.float32(one)) < run(np.float32(other)))


@forms
@given(st.integers(0, 2**64 - 1) | st.integers(0, 63).map(lambda k: 1 << k))
def test_trailing_zeros(form: str, bits: int) -> None:
    expected = next((k for k in range(64) if bits >> k & 1), 64)
    assert int(getattr(unsigned_zeros, form)(np.uint64(bits))) == expected
    signed = bits - (bits >> 63 << 64)
    assert int(getattr(signed_zeros, form)(np.int64(signed))) == expected


@forms
def test_copies_of_32_bytes(form: str) -> None:
    source, target = np.arange(100, dtype=np.uint8), np.zeros(70, np.uint8)
    getattr(copy, form)(target, np.uint64(3), source, np.uint64(41))
    assert target.tolist() == [0] * 3 + list(range(41, 73)) + [0] * 35


@forms
@given(st.binary(min_size=8, max_size=20), st.data())
def test_bytes_and_words_of_text(form: str, text: bytes, data: Any) -> None:
    array = np.frombuffer(text, np.uint8).copy()
    at = data.draw(st.integers(0, len(text) - 8))
    assert int(getattr(word_at, form)(array, at)) == struct.unpack_from("<q", text, at)[0]
    assert int(getattr(number_at, form)(array, at)) == text[at]


@forms
def test_no_addition_is_lost_between_threads(form: str) -> None:
    counters, n = np.zeros(3, np.int64), 500 if form == "plain" else 100_000
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: getattr(count, form)(counters, n), range(4)))
    assert counters.tolist() == [4 * n, 8 * n, 0]


@forms
def test_load_and_store(form: str) -> None:
    cell = np.array([1, 2, 3])
    assert getattr(swap_in, form)(cell) == 2
    assert cell.tolist() == [1, 7, 3]


def test_outside_of_kernels_the_plain_form_runs() -> None:
    assert float_of_bits(0x40000000) == 2.0
    assert trailing_zeros.plain is trailing_zeros.__wrapped__
    assert trailing_zeros(np.uint64(0)) == 64 and isinstance(trailing_zeros(np.uint64(8)), np.uint64)


@kernel("uint64(float32[::1], uint64, float32)", cache=False)
def above(numbers: Any, at: Any, threshold: Any) -> Any:
    return rows_above(numbers, at, threshold)


@kernel("uint64(float32[::1], uint64, float32)", cache=False)
def not_below(numbers: Any, at: Any, threshold: Any) -> Any:
    return rows_not_below(numbers, at, threshold)


@kernel("void(uint64, uint64, uint16[::1])", cache=False)
def add_there(rows: Any, amount: Any, numbers: Any) -> None:
    add_where(rows, amount, numbers)


@forms
@pytest.mark.parametrize("threshold", [-np.inf, 0.0, 0.5, np.inf])
def test_64_compares_are_a_word_of_bits(form: str, threshold: float) -> None:
    random = np.random.default_rng(0)
    numbers = random.choice([np.nan, -np.inf, -1.0, -0.0, 0.0, 0.5, 2.0, np.inf], 130).astype(np.float32)
    for at in (0, 3, 66):
        own = numbers[at : at + 64].tolist()
        for kernel_, rule in ((above, lambda x: x > threshold), (not_below, lambda x: not x <= threshold)):
            found = int(getattr(kernel_, form)(numbers, np.uint64(at), np.float32(threshold)))
            assert found == sum(1 << i for i, x in enumerate(own) if rule(x))


@forms
def test_adding_where_a_bit_is_set(form: str) -> None:
    numbers = np.arange(64, dtype=np.uint16)
    getattr(add_there, form)(np.uint64(0x8000000000000005), np.uint64(1000), numbers)
    assert numbers.tolist() == [i + 1000 * (i in (0, 2, 63)) for i in range(64)]
