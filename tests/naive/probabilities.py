"""Probabilities of pairs, straight from the equations of 2005 section 3.1."""

import itertools
from fractions import Fraction


def combine(p, q):
    """Equation 5, with fractions."""
    p, q = Fraction(p), Fraction(q)
    return p * q / (1 + 2 * p * q - p - q)


def along(chain):
    """The probability that a chain of neighbours implies for its ends, one link at a time."""
    total = Fraction(chain[0])
    for p in chain[1:]:
        total = combine(total, p)
    return total


def strengths(ends, targets):
    """Bradley and Terry's strengths among 0 and the powers of 2 up to 2^6, tried one after the other."""
    n = max(max(pair) for pair in ends) + 1
    for tried in itertools.product([0, *(2**k for k in range(7))], repeat=n):
        sums = [tried[i] + tried[j] for i, j in ends]
        if all(sums) and all(
            Fraction(tried[i], total) == p for (i, _), total, p in zip(ends, sums, targets, strict=True)
        ):
            return tried
    return None
