import numpy as np
import pytest
from tests.naive import networks as naive

from rankwright.networks.net import net
from rankwright.networks.optimisers import STEPS, rates, step


def follow(gradients, optimiser, rate, momentum=0.0, l2=0.0, share=1.0):
    made = net((3, 1), np.array([0.5, -1.0, 2.0, 0.25]), l2)
    settings = rates(optimiser, rate, momentum)
    for gradient in gradients:
        made.gradient[:] = gradient
        assert step(settings, share, made.decay, made.gradient, made.moments, made.exact, made.weights)
        assert not made.gradient.any()
    assert settings[STEPS] == len(gradients)
    assert np.array_equal(made.weights, made.exact.astype(np.float32))
    return made.exact


START = [0.5, -1.0, 2.0, 0.25]


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_momentum(momentum):
    gradients = np.random.default_rng(0).standard_normal((5, 4)).astype(np.float32)
    expected = naive.momentum(START, gradients, 0.1, momentum)
    np.testing.assert_allclose(follow(gradients, "sgd", 0.1, momentum), expected, rtol=1e-12)


def test_adam():
    gradients = np.random.default_rng(0).standard_normal((5, 4)).astype(np.float32)
    np.testing.assert_allclose(follow(gradients, "adam", 0.1), naive.adam(START, gradients, 0.1), rtol=1e-10)


def test_the_penalty_pulls_weights_but_no_offsets():
    moved = follow([np.zeros(4)], "sgd", 0.1, l2=0.5, share=0.2)
    np.testing.assert_allclose(moved, [*(np.array(START[:3]) * (1 - 0.1 * 0.5 * 0.2)), 0.25], rtol=1e-12)


def test_steps_that_single_precision_would_lose_add_up():
    moved = follow([np.ones(4)] * 1000, "sgd", 1e-10)
    np.testing.assert_allclose(moved - START, -1e-7, rtol=1e-6)


def test_tells_of_weights_that_are_not_finite():
    made = net((1, 1), np.zeros(2))
    made.gradient[:] = np.float32(1e38)
    assert not step(
        rates("sgd", 1e30, 0.0), 1.0, made.decay, made.gradient, made.moments, made.exact, made.weights
    )
