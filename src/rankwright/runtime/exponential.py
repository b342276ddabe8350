"""e^x and ln x in float32, by polynomials: a loop that calls them becomes vector instructions.

    e^x = 2^n · 2^f                  with n the integer nearest to x / ln 2, and |f| ≤ 1/2
    ln x = n ln 2 + 2 artanh t       with x = 2^n · m, t = (m − 1) / (m + 1), m from √½ to √2

2^f is its Taylor series to the sixth power (relative error 1.2e-7), artanh t to the ninth (1e-9); 2^n is
read from and written into the exponent's bits.
"""

from __future__ import annotations

import numpy as np

from rankwright.runtime.intrinsics import bits_of_float, float_of_bits
from rankwright.runtime.kernels import kernel

ONE = np.float32(1)
BY_LN2 = np.float32(1.4426950408889634)
LOWEST, HIGHEST = np.float32(-126), np.float32(127)
BIAS, ROUNDING = np.float32(127), np.float32(127.5)
C1, C2, C3 = np.float32(0.6931471805599453), np.float32(0.2402265069591007), np.float32(0.0555041086648216)
C4, C5, C6 = (
    np.float32(0.009618129107628),
    np.float32(0.001333355814642844),
    np.float32(0.0001540353039338161),
)
TWO, LN2 = np.float32(2), np.float32(0.6931471805599453)
T3, T5, T7, T9 = np.float32(1 / 3), np.float32(1 / 5), np.float32(1 / 7), np.float32(1 / 9)
ROOT_HALF_BITS = np.int32(0x3F3504F3)
EXPONENT = np.int32(23)


@kernel("float32(float32)")
def exponential(x: np.float32) -> np.float32:
    """e^x for a number that is not NaN; held between 2^−126 and 2^127, so never 0 and never infinite.

    >>> float(exponential.plain(np.float32(0)))
    1.0
    """
    y = x * BY_LN2
    y = max(LOWEST, min(HIGHEST, y))
    n = np.int32(y + ROUNDING)
    f = y - (np.float32(n) - BIAS)
    power = ONE + f * (C1 + f * (C2 + f * (C3 + f * (C4 + f * (C5 + f * C6)))))
    return power * float_of_bits(np.int32(n << EXPONENT))


@kernel("float32(float32)")
def logarithm(x: np.float32) -> np.float32:
    """Natural logarithm of a positive finite number of at least 2^−126.

    >>> float(logarithm.plain(np.float32(1)))
    0.0
    """
    bits = bits_of_float(x)
    n = np.int32(np.int32(bits - ROOT_HALF_BITS) >> EXPONENT)
    m = float_of_bits(np.int32(bits - np.int32(n << EXPONENT)))
    t = (m - ONE) / (m + ONE)
    s = t * t
    return np.float32(n) * LN2 + TWO * t * (ONE + s * (T3 + s * (T5 + s * (T7 + s * T9))))
