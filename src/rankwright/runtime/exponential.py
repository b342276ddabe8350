"""e^x in float32, by a polynomial: a loop that calls it becomes vector instructions.

    e^x = 2^n · 2^f   with n the integer nearest to x / ln 2, and |f| ≤ 1/2

2^f is its Taylor series to the sixth power (relative error 1.2e-7); 2^n is written into the exponent's bits.
"""

from __future__ import annotations

import numpy as np

from rankwright.runtime.intrinsics import float_of_bits
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
    return power * float_of_bits(np.int32(n << np.int32(23)))
