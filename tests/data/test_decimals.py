from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.naive.letor import exact, nearest_float32

from rankwright.data.decimals import (
    PADDING,
    leading_digits,
    near_single,
    nearest_single,
    nearest_single_of,
    scan_decimal,
    scan_short_decimal,
)

FORMS = ["plain", "compiled"]
FEW = settings(max_examples=150)

ADVERSARIAL = [
    "0",
    "-0",
    "0.0",
    "-0.000",
    ".5",
    "5.",
    "+1.5",
    "-.5",
    "1e5",
    "1e+05",
    "1E-05",
    "00012",
    "000000000000000000000000.1",
    "1e-50",
    "1e-46",
    "7e-46",
    "1.4e-45",
    "7.006492321624085e-46",
    "7.006492321624086e-46",
    "7.006492321624085354618e-46",
    "2.1019476964872256e-45",
    "1.1754943508222875e-38",
    "1.17549435e-38",
    "1.1754942807573643e-38",
    "5.877471754111438e-39",
    "3.4028234663852886e38",
    "3.4028235677973366e38",
    "3.40282356779733661e38",
    "3.4028235677973365e38",
    "1e38",
    "1e39",
    "1e40",
    "1e400",
    "16777215",
    "16777216",
    "16777217",
    "16777218",
    "16777219",
    "16777217.0000000",
    "16777217.0000001",
    "16777216.9999999",
    "33554434.000001",
    "16777217.00000001",
    "16777216.99999999",
    "20000001.000000",
    "8388608.5",
    "8388609.5",
    "8388610.499999999999999999999",
    "8388610.5000000000000000000001",
    "9e15",
    "1e22",
    "1e23",
    "16777217.00000000000000000000000000000000000000001",
    "16777216.99999999999999999999999999999999999999999",
    "0.1",
    "0.2",
    "0.3",
    "123456789012345678",
    "1234567890123456789",
    "12345678901234567890123456789",
    "0.123456789012345678901234567",
    "99999999999999999",
    "999999999999999999",
    "9999999999999999999",
    "1000000000000000000000",
    "123456.7",
    "12345678",
    "1234567.1234567",
    "12345678.12345678",
    "1.00000005960464477539",
    "1.000000059604644775390625",
    "1.0000000596046447753906251",
    "1e0",
    "1e00000000005",
    "0.00000000000000000000000000000000000000000000000000000000000001e62",
    "1e-400",
    "1e-1000",
    "1677721700e-2",
    "9007199254740993",
    "9007199254740993e-10",
]


def kernels(form, *names):
    return [getattr(name, form) for name in names]


def text_for(form, token, after="\n"):
    whole = (token + after).encode() + bytes(PADDING)
    is_array = form == "compiled" and near_single.compiled is not near_single.plain
    return np.frombuffer(bytearray(whole), np.uint8) if is_array else whole


def parse(form, token, after="\n"):
    """The float32 of an unsigned decimal as kernels see it, and whether they are certain."""
    scan_short, scan, near, sure = kernels(
        form, scan_short_decimal, scan_decimal, near_single, nearest_single
    )
    text = text_for(form, token, after)
    end, whole, power = scan_short(text, 0)
    if end == len(token):
        value, certain = near(whole, power)
        if certain:
            return value, True
    end, whole, power = scan(text, 0)
    assert end == len(token)
    return sure(whole, power)


def assert_nearest(token):
    expected = np.float32(nearest_float32(token))
    assert same(nearest_single_of(token), expected)
    for form in FORMS:
        value, certain = parse(form, token.lstrip("+-"))
        assert same(value, abs(expected)) if certain else token_is_long_or_huge(token)


def same(value, expected):
    """Whether two numbers are the same float32, bit for bit; compiled kernels give Python's floats."""
    return value == np.float32(value) and np.float32(value).tobytes() == np.float32(expected).tobytes()


def token_is_long_or_huge(token):
    """Kernels may leave to Python what overflows, and what is near a middle and has many digits."""
    value = exact(token.lstrip("+-"))
    return value >= 2**53 or sum(map(str.isdigit, token)) >= 14


@pytest.mark.parametrize("token", ADVERSARIAL)
def test_adversarial_numbers_are_nearest(token):
    assert_nearest(token)


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        ("1e999999999999999999999", np.inf),
        ("6.9e-99999999999999999999", 0.0),
        ("0e999999999999999999999", 0.0),
    ],
)
def test_exponents_beyond_all_bounds(token, expected):
    assert same(nearest_single_of(token), np.float32(expected))
    for form in FORMS:
        value, certain = parse(form, token)
        assert same(value, np.float32(expected)) if certain else expected == np.inf


digits = st.text("0123456789", max_size=25)
decimals = st.builds(
    lambda whole, point, fraction, exponent: (whole or "0") + point * ("." + fraction) + exponent,
    digits,
    st.booleans(),
    digits,
    st.just("") | st.integers(-70, 60).map("e{}".format) | st.integers(0, 50).map("E+{}".format),
)


@FEW
@given(decimals)
def test_random_numbers_are_nearest(token):
    assert_nearest(token)


@FEW
@given(
    st.integers(0, 0x7F7FFFFE),
    st.integers(-3, 3),
    st.integers(0, 45),
    st.sampled_from(["plain", "scientific"]),
)
@example(0x4B800000, 0, 0, "plain")
def test_numbers_beside_a_middle_are_nearest(bits, steps, places, style):
    """Decimals at, or a few last digits away from, the middle of two neighbouring float32s."""
    low, high = (np.array([bits, bits + 1], np.uint32)).view(np.float32)
    middle = (Fraction(float(low)) + Fraction(float(high))) / 2
    magnitude = len(str(int(middle))) if middle >= 1 else -len(str(int(1 / middle)))
    scale = Fraction(10) ** (places - (magnitude if style == "scientific" else 0))
    number = max(0, round(middle * scale) + steps)
    if style == "plain":
        text = f"{number:0{places + 1}d}"
        assert_nearest(f"{text[: len(text) - places]}.{text[len(text) - places :]}")
    else:
        assert_nearest(f"{number}e{magnitude - places}")


@FEW
@given(st.integers(0, 0x7F7FFFFF))
def test_every_float32_is_read_back_from_nine_digits(bits):
    value = np.uint32(bits).view(np.float32)
    for token in (f"{value:.9g}", f"{value:.8e}", f"{float(value):.17g}"):
        assert_nearest(token)
        assert same(nearest_single_of(token), value)


@pytest.mark.parametrize("form", FORMS)
@FEW
@given(text=st.text("0123456789./:a", max_size=9), after=st.sampled_from("\n :.x\xff"))
def test_leading_digits_are_those_of_the_first_eight_characters(form, text, after):
    head = (text + after * 9)[:8]
    run = head[: len(head) - len(head.lstrip("0123456789"))]
    encoded = (text + after * 9).encode("latin-1") + bytes(PADDING)
    given_text = encoded
    if form == "compiled" and leading_digits.compiled is not leading_digits.plain:
        given_text = np.frombuffer(bytearray(encoded), np.uint8)
    assert kernels(form, leading_digits)[0](given_text, 0) == (int(run or 0), len(run))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("token", ["", ".", "e5", ".e5", "x", "-1", "1e", "1e+", "1.5e-"])
def test_what_is_no_decimal_ends_where_it_starts(form, token):
    scan_short, scan = kernels(form, scan_short_decimal, scan_decimal)
    text = text_for(form, token)
    assert scan(text, 0)[0] == 0
    assert scan_short(text, 0)[0] in (0, len(token.partition("e")[0]))


def test_a_million_digits_take_no_time():
    token = "1" + "0" * 1_000_000 + ".5e-1000000"
    assert nearest_single_of(token) == 1.0
    text = text_for("compiled", token)
    end, whole, power = scan_decimal.compiled(text, 0)
    assert end == len(token) and nearest_single.plain(whole, power) == (1.0, True)
