"""Decimal text to the nearest binary number, ties to even, and back by the shortest text.

A number is first read as whole · 10^power with at most 18 digits. Its product with a table of powers is off
by less than a known error; where both ends of that error round to one float32, that is the nearest one, and
rounding twice does no harm. The few that are left lie beside the middle of two float32s: most are settled by
exact arithmetic on whole numbers, the rest in Python with decimal fractions of any length.
"""

from __future__ import annotations

import decimal
import math
from typing import Any

import numpy as np

from rankwright.runtime.intrinsics import byte_at, eight_bytes, trailing_zeros
from rankwright.runtime.kernels import kernel

# Bytes, or an array of uint8 where kernels are compiled. It ends with a newline, at which every loop over it
# stops, and after which as many bytes may be read.
Text = Any
PADDING = 8
PLUS, MINUS, POINT, ZERO, E = b"+-.0e"

DIGITS = 18  # As many as always fit an int64.
LOWEST, HIGHEST = -66, 39  # Below 10^-66 an 18-digit number is nearest to zero, above 10^39 it overflows.
POWERS = np.array([float(f"1e{power}") for power in range(LOWEST, HIGHEST + 1)])
# The number, the power and their product are each off by at most 2^-53 of themselves, lost digits by less.
SLACK = 2.0**-50
OVERFLOW = float(2**128 - 2**103)  # From here on the nearest float32 is infinite.
TENS = np.array([10**power for power in range(19)])
FAR = 10**15  # No text has so many digits that a greater exponent would be brought back into range.
EXACT = 2**53  # Whole numbers up to here are float64s.


@kernel()
def nearest_single(whole: int, power: int) -> tuple[np.float32, bool]:
    """The float32 nearest to whole · 10^power, and whether it is certain."""
    if whole == 0 or power < LOWEST:
        return np.float32(0.0), True
    if power > HIGHEST:
        return np.float32(0.0), False
    near = whole * POWERS[power - LOWEST]
    if near >= OVERFLOW * (1.0 - SLACK):
        return np.float32(0.0), False
    low, high = np.float32(near - near * SLACK), np.float32(near + near * SLACK)
    if low == high:
        return low, True
    while power < 0 and whole % 10 == 0:
        whole //= 10
        power += 1
    while power > 0 and whole < EXACT:
        whole *= 10
        power -= 1
    if whole >= EXACT or power < -12:
        return low, False
    # A middle has 25 bits and 10^12 has 28 once its factors of two are set aside: their product is exact.
    middle = (np.float64(low) + np.float64(high)) * 0.5
    scaled = middle * POWERS[-power - LOWEST]
    if whole > scaled:
        return high, True
    return (low, True) if whole < scaled else (np.float32(middle), True)


def nearest_single_of(text: str) -> np.float32:
    """The float32 nearest to a decimal text of any length; infinite where it overflows.

    >>> [float(nearest_single_of(text)) for text in ("16777217", "16777217.00000000000000000000000000001")]
    [16777216.0, 16777218.0]
    """
    double = float(text)
    with np.errstate(over="ignore"):
        single = np.float32(double)
        below, above = (np.float32(math.nextafter(double, end)) for end in (-math.inf, math.inf))
    # Rounding twice goes wrong only where the first rounding lands on the middle of two float32s. Beyond the
    # last of them stands 2^128 for infinity.
    if math.isinf(double) or below == above or 2.0 * double != _bounded(below) + _bounded(above):
        return single
    exact, middle = decimal.Decimal(text), decimal.Decimal(double)
    if exact == middle:
        return single
    return above if exact > middle else below


def _bounded(single: np.float32) -> float:
    return max(-(2.0**128), min(2.0**128, float(single)))


@kernel()
def is_space(character: int) -> bool:
    """Whether it is a blank, a tab, a newline or the like."""
    return character == 32 or 9 <= character <= 13


@kernel()
def leading_digits(text: Text, at: int) -> tuple[int, int]:
    """The number that the first of the next eight characters make that are digits, and how many they are."""
    word = eight_bytes(text, at) ^ 0x3030303030303030  # A digit becomes its value, all else 10 or more,
    above = ((word + 0x7676767676767676) | word) & -0x7F7F7F7F7F7F7F80  # and has its highest bit set here.
    n = trailing_zeros(above) >> 3
    # The digits move to the end, with zeros before them; then neighbours are joined: by two, four and eight.
    word = (word << (64 - 8 * n & 63)) & 0x0F0F0F0F0F0F0F0F
    word = (word * 2561 >> 8) & 0x00FF00FF00FF00FF
    word = (word * 6553601 >> 16) & 0x0000FFFF0000FFFF
    word = (word * 42949672960001 >> 32) & 0xFFFFFFFF
    return word if n > 0 else 0, n


@kernel()
def scan_short_decimal(text: Text, at: int) -> tuple[int, int, int]:
    """The unsigned decimal that starts at ``at`` if it is one like 12.345, up to seven digits on either side.

    It ends where it starts if it is not. As this and ``near_single`` call nothing with an array, they cost no
    counting of references, and they are small enough to become part of the loop that they are called in.
    """
    whole, before = leading_digits(text, at)
    point = at + before
    if byte_at(text, point) != POINT and 0 < before < 8:
        return point, whole, 0
    point += byte_at(text, point) == POINT
    fraction, after = leading_digits(text, point)
    if before == 8 or after == 8 or before + after == 0:
        return at, 0, 0
    return point + after, whole * TENS[after] + fraction, -after


@kernel()
def near_single(whole: int, power: int) -> tuple[np.float32, bool]:
    """The float32 nearest to whole · 10^power, for small powers, and whether it is certain."""
    near = whole * POWERS[power - LOWEST]
    low, high = np.float32(near - near * SLACK), np.float32(near + near * SLACK)
    return low, low == high


@kernel()
def scan_decimal(text: Text, at: int) -> tuple[int, int, int]:
    """The unsigned decimal that starts at ``at``, however long: where it ends, its whole and its power.

    It ends where it starts if there is none. Of its digits 18 are kept; the last one is not 0 where something
    was left out, so that it is never taken for exact.
    """
    begin = at
    whole = power = digits = kept = 0
    point = dropped = False
    while True:
        digit = text[at] - ZERO
        if text[at] == POINT and not point:
            point = True
        elif not 0 <= digit <= 9:
            break
        else:
            digits += 1
            if kept < DIGITS:
                whole = whole * 10 + digit
                kept += whole != 0
                power -= point
            else:
                dropped |= digit != 0
                power += not point
        at += 1
    if digits == 0:
        return begin, 0, 0
    if dropped and whole % 10 == 0:
        whole += 1
    if text[at] | 32 == E:
        end, exponent = scan_exponent(text, at + 1)
        return (end, whole, power + exponent) if end > at + 1 else (begin, 0, 0)
    return at, whole, power


@kernel()
def scan_exponent(text: bytes, at: int) -> tuple[int, int]:
    """The exponent that starts at ``at``, sign and all; it ends where it starts if it has no digits."""
    begin = at
    negative = text[at] == MINUS
    if negative or text[at] == PLUS:
        at += 1
    first = at
    exponent = 0
    while 0 <= text[at] - ZERO <= 9:
        if exponent < FAR:
            exponent = exponent * 10 + (text[at] - ZERO)
        at += 1
    if at == first:
        return begin, 0
    return at, -exponent if negative else exponent


@kernel()
def shortest_decimal(value: np.float32) -> tuple[int, int]:
    """The whole and power with the fewest digits whose nearest float32 is a positive ``value``."""
    near = np.float64(value)
    if near < 2**24 and near == math.floor(near):
        return int(near), 0
    magnitude = math.floor(math.log10(near))
    for digits in range(1, 9):
        power = magnitude + 1 - digits
        whole = int(near / POWERS[power - LOWEST] + 0.5)
        # Of two decimals within reach, the more distant one may be the one that is nearest to a power of two.
        for candidate in (whole, whole + 1, whole - 1):
            if nearest_single(candidate, power) == (value, True):
                return candidate, power
    # Nine digits tell any two float32s apart.
    return int(near / POWERS[magnitude - 8 - LOWEST] + 0.5), magnitude - 8
