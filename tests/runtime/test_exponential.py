import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwright.runtime.exponential import exponential


@settings(max_examples=200, deadline=None)
@given(st.floats(-87, 88, width=32))
def test_nearly_exact_where_float32_has_room(x):
    exact = np.exp(float(x))
    assert abs(float(exponential.plain(np.float32(x))) / exact - 1) < 3e-7 * max(1, abs(x) / 4)


def test_compiled_and_plain_give_the_same_bits():
    for x in np.linspace(-130, 130, 501, dtype=np.float32):
        assert exponential(x) == exponential.plain(x)


def test_held_where_float32_ends():
    assert exponential.plain(np.float32(-1e30)) == np.float32(2.0**-126)
    assert exponential.plain(np.float32(1e30)) == np.float32(2.0**127)
