"""Decimal text to the nearest binary number, ties to even, and back by the shortest text.

A number is first read as whole · 10^power with at most 18 digits. Its product with a table of powers is off
by less than a known error; where both ends of that error round to one float32, that is the nearest one, and
rounding twice does no harm. The few that are left lie beside the middle of two float32s: most are settled by
exact arithmetic on whole numbers, the rest in Python with decimal fractions of any length.
"""

from __future__ import annotations

import decimal
import math

import numpy as np

from rankwright.runtime.kernels import kernel

DIGITS = 18  # As many as always fit an int64.
LOWEST, HIGHEST = -66, 39  # Below 10^-66 an 18-digit number is nearest to zero, above 10^39 it overflows.
POWERS = np.array([float(f"1e{power}") for power in range(LOWEST, HIGHEST + 1)])
# The number, the power and their product are each off by at most 2^-53 of themselves, lost digits by less.
SLACK = 2.0**-50
OVERFLOW = float(2**128 - 2**103)  # From here on the nearest float32 is infinite.
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
    return beside_middle(whole, power, low, high)


@kernel()
def beside_middle(whole: int, power: int, low: np.float32, high: np.float32) -> tuple[np.float32, bool]:
    """Which of two neighbours is nearest to whole · 10^power, where int64s and float64s can tell."""
    while power < 0 and whole % 10 == 0:
        whole //= 10
        power += 1
    if whole >= EXACT or power > 0 or power < -12:
        return low, False
    # A middle has 25 bits and 10^12 has 28 once its factors of two are set aside: their product is exact.
    middle = (np.float64(low) + np.float64(high)) * 0.5
    scaled = middle * POWERS[-power - LOWEST]
    if whole > scaled:
        return high, True
    return (low, True) if whole < scaled else (np.float32(middle), True)


def nearest_single_of(text: str) -> np.float32:
    """The float32 nearest to a decimal text of any length; infinite where it overflows.

    >>> float(nearest_single_of("16777217")), float(nearest_single_of("16777217.00000000000000000000000000001"))
    (16777216.0, 16777218.0)
    """
    double = float(text)
    if abs(double) >= OVERFLOW:
        below = (
            decimal.Decimal(text).copy_abs() < decimal.Decimal(OVERFLOW) if math.isfinite(double) else False
        )
        return np.float32(math.copysign(2.0**128 - 2.0**104 if below else math.inf, double))
    single = np.float32(double)
    # Rounding twice goes wrong only where the first rounding lands on the middle of two float32s.
    towards = np.float32(math.copysign(math.inf, double - float(single)))
    neighbour = np.nextafter(single, towards)
    if double == float(single) or float(single) + float(neighbour) != 2.0 * double:
        return single
    exact, middle = decimal.Decimal(text), decimal.Decimal(double)
    if exact == middle:
        return single
    return max(single, neighbour) if exact > middle else min(single, neighbour)


@kernel()
def scan_decimal(text: bytes, at: int) -> tuple[int, int, int]:
    """The unsigned decimal that starts at ``at``: where it ends, its whole and its power.

    It ends where it starts if there is none. Text ends with a newline, at which every loop here stops.
    """
    begin = at
    stop = begin + DIGITS + 1
    whole = 0
    power = 0
    digit = text[at] - 48
    while 0 <= digit <= 9 and at < stop:
        whole = whole * 10 + digit
        at += 1
        digit = text[at] - 48
    digits = at - begin
    if digit == -2:  # "."
        at += 1
        fraction = at
        digit = text[at] - 48
        while 0 <= digit <= 9 and at < stop:
            whole = whole * 10 + digit
            at += 1
            digit = text[at] - 48
        power = fraction - at
        digits -= power
    if digits == 0:
        return begin, 0, 0
    if at >= stop:
        at, whole, power = scan_long_decimal(text, begin)
        digit = text[at] - 48
    if digit == 21 or digit == 53:  # "E" or "e"
        end, exponent = scan_exponent(text, at + 1)
        return (end, whole, power + exponent) if end > at + 1 else (begin, 0, 0)
    return at, whole, power


@kernel()
def scan_long_decimal(text: bytes, at: int) -> tuple[int, int, int]:
    """The same for any number of digits: 18 are kept, the last one not 0 where something was left out."""
    whole = 0
    power = 0
    kept = 0
    point = False
    dropped = False
    while True:
        digit = text[at] - 48
        if digit == -2 and not point:
            point = True
        elif not 0 <= digit <= 9:
            break
        elif kept < DIGITS:
            whole = whole * 10 + digit
            kept += whole != 0
            power -= point
        else:
            dropped |= digit != 0
            power += not point
        at += 1
    if dropped and whole % 10 == 0:
        whole += 1
    return at, whole, power


@kernel()
def scan_exponent(text: bytes, at: int) -> tuple[int, int]:
    """The exponent that starts at ``at``, sign and all; it ends where it starts if it has no digits."""
    begin = at
    negative = text[at] == 45
    if negative or text[at] == 43:
        at += 1
    first = at
    exponent = 0
    while 48 <= text[at] <= 57:
        if exponent < 10**15:
            exponent = exponent * 10 + (text[at] - 48)
        at += 1
    if at == first:
        return begin, 0
    return at, -exponent if negative else exponent
