import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import networks as naive

from rankwright.networks.backward import backward, backward_one, collect, push_down
from rankwright.networks.forward import affine, forward, forward_one, squash
from rankwright.networks.net import layers, n_weights, net, random_weights

shapes = st.tuples(
    st.lists(st.integers(1, 6), min_size=1, max_size=3), st.integers(1, 20), st.integers(0, 1000)
)


def example(hidden_first, rows, seed):
    """A random net that takes the first of these numbers as inputs and the rest as hidden units."""
    sizes = (*hidden_first, 1)
    random = np.random.default_rng(seed)
    weights = random.standard_normal(n_weights(sizes)).astype(np.float32)
    return sizes, weights, random.standard_normal((rows, sizes[0])).astype(np.float32)


def passed_forward(sizes, weights, X, run=forward):
    activations = np.zeros((sum(sizes[1:]), len(X)), np.float32)
    run(np.array(sizes, np.uint64), weights, np.ascontiguousarray(X.T), activations)
    return activations


@settings(max_examples=25)
@given(shapes)
def test_forward_is_the_papers_net(shape):
    sizes, weights, X = example(*shape)
    expected = [naive.output(sizes, weights, x) for x in X]
    np.testing.assert_allclose(passed_forward(sizes, weights, X)[-1], expected, rtol=1e-5, atol=1e-5)


@settings(max_examples=10)
@given(shapes)
def test_a_row_has_the_same_bits_in_any_panel_and_in_both_forms(shape):
    sizes, weights, X = example(*shape)
    whole = passed_forward(sizes, weights, X)
    for begin, end in ((0, 1), (0, len(X) // 2 + 1), (len(X) // 2, len(X))):
        part = np.ascontiguousarray(X[begin:end])
        assert np.array_equal(passed_forward(sizes, weights, part), whole[:, begin:end])
        assert np.array_equal(passed_forward(sizes, weights, part, forward.plain), whole[:, begin:end])


@settings(max_examples=25)
@given(shapes)
def test_gradient_is_that_of_finite_differences(shape):
    sizes, weights, X = example(*shape)
    slopes = np.random.default_rng(1).standard_normal(len(X)).astype(np.float32)
    total = lambda w: sum(s * naive.output(sizes, w, x) for s, x in zip(slopes, X, strict=True))  # noqa: E731
    expected = naive.slopes(total, weights)
    activations = passed_forward(sizes, weights, X)
    activations[-1] = slopes
    gradient = np.zeros(len(weights), np.float32)
    backward(np.array(sizes, np.uint64), weights, np.ascontiguousarray(X.T), activations, gradient)
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())

    one_by_one, stored = np.zeros(len(weights), np.float32), np.zeros(sum(sizes[1:]), np.float32)
    for slope, x in zip(slopes, X, strict=True):
        output = forward_one(np.array(sizes, np.uint64), weights, x, stored)
        assert output == pytest.approx(naive.output(sizes, weights, x), rel=1e-5, abs=1e-5)
        backward_one(np.array(sizes, np.uint64), weights, x, stored, slope, one_by_one)
    np.testing.assert_allclose(one_by_one, gradient, rtol=1e-4, atol=1e-4 * np.abs(expected).max())


def test_gradients_add_up():
    sizes, weights, X = example((3, 4), 5, 0)
    gradient = np.full(len(weights), 7, np.float32)
    activations = passed_forward(sizes, weights, X)
    activations[-1] = 0
    backward(np.array(sizes, np.uint64), weights, np.ascontiguousarray(X.T), activations, gradient)
    assert (gradient == 7).all()


def test_tanh():
    for x in np.linspace(-30, 30, 101, dtype=np.float32):
        assert squash(x) == pytest.approx(np.tanh(float(x)), abs=3e-7)


def test_kernels_of_one_layer():
    weights = np.array([1, 2, 3, 4, 5, 6, 0.5, -0.5], np.float32)  # two units, three inputs
    panel, out = np.eye(3, dtype=np.float32), np.zeros((2, 3), np.float32)
    affine(weights, np.uint64(0), np.uint64(3), np.uint64(2), panel, np.uint64(0), out, np.uint64(0))
    assert out.tolist() == [[1.5, 2.5, 3.5], [3.5, 4.5, 5.5]]
    gradient = np.zeros(8, np.float32)
    collect(np.uint64(3), np.uint64(2), panel, np.uint64(0), out, np.uint64(0), np.uint64(0), gradient)
    assert gradient.tolist() == [1.5, 2.5, 3.5, 3.5, 4.5, 5.5, 7.5, 13.5]
    stacked = np.vstack([np.zeros((3, 3), np.float32), out])  # tanh of nothing, whose slope is 1
    push_down(weights, np.uint64(0), np.uint64(3), np.uint64(2), np.uint64(0), stacked)
    assert stacked[:3].tolist() == (weights[:6].reshape(2, 3).T @ out).tolist()


def test_layers_are_views_of_all_weights():
    weights = np.arange(13.0)
    (first, first_offsets), (second, second_offsets) = layers((2, 3, 1), weights)
    assert first.tolist() == [[0, 1], [2, 3], [4, 5]] and first_offsets.tolist() == [6, 7, 8]
    assert second.tolist() == [[9, 10, 11]] and second_offsets.tolist() == [12]
    second[0, 0] = -1
    assert weights[9] == -1


def test_the_penalty_spares_offsets():
    made = net((2, 3, 1), np.ones(13), l2=0.5)
    assert made.decay.tolist() == [0.5] * 6 + [0] * 3 + [0.5] * 3 + [0]


def test_random_weights():
    random = np.random.default_rng(0)
    small = layers((50, 10, 1), random_weights((50, 10, 1), "small", random))
    assert not small[0][0].any() and np.abs(small[1][0]).max() <= 0.1 and small[1][0].any()
    scaled = layers((400, 50, 1), random_weights((400, 50, 1), "scaled", random))
    assert np.std(scaled[0][0]) == pytest.approx(0.05, rel=0.05)
    assert not any(offsets.any() for _, offsets in small + scaled)
