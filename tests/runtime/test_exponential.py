import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwright.runtime.exponential import exponential, logarithm


@settings(max_examples=200, deadline=None)
@given(st.floats(-87, 88, width=32))
def test_nearly_exact_where_float32_has_room(x):
    exact = np.exp(float(x))
    # x / ln 2 is rounded twice in single precision, the constant once: |x| 2⁻²³ at most; then the polynomial.
    assert abs(float(exponential.plain(np.float32(x))) / exact - 1) < abs(x) * 2**-23 + 3e-7


@settings(max_examples=200, deadline=None)
@given(st.floats(2.0**-126, 2.0**127, width=32))
def test_logarithm_nearly_exact(x):
    exact = np.log(float(x))
    assert abs(float(logarithm.plain(np.float32(x))) - exact) < 2e-7 * max(1.0, abs(exact))


@settings(max_examples=200, deadline=None)
@given(st.floats(0, 1, width=32))
def test_logarithm_of_one_and_a_little(x):
    one_and = np.float32(1) + np.float32(x)
    exact = np.log(float(one_and))
    assert abs(float(logarithm.plain(one_and)) - exact) <= 3e-7 * exact


def test_compiled_and_plain_give_the_same_bits():
    for x in np.linspace(-130, 130, 501, dtype=np.float32):
        assert exponential(x) == exponential.plain(x)
        assert logarithm(np.exp2(x / 2)) == logarithm.plain(np.exp2(x / 2))


def test_held_where_float32_ends():
    assert exponential.plain(np.float32(-1e30)) == np.float32(2.0**-126)
    assert exponential.plain(np.float32(1e30)) == np.float32(2.0**127)
