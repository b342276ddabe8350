import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwright.networks.net import n_weights
from rankwright.networks.panels import backward_group, empty_panels, fill_group, forward_group, score_groups


def panels_and_net(counts, sizes=(3, 4, 1)):
    random = np.random.default_rng(0)
    X = random.standard_normal((sum(counts), sizes[0])).astype(np.float32)
    panels = empty_panels(np.array(counts), sizes[0])
    bounds = np.concatenate([[0], np.cumsum(counts)])
    for group in range(len(counts)):
        fill_group(panels, group, X[bounds[group] : bounds[group + 1]])
    return X, panels, np.array(sizes, np.uint64), random.standard_normal(n_weights(sizes)).astype(np.float32)


@settings(max_examples=8)
@given(st.lists(st.sampled_from([0, 1, 15, 16, 17, 40, 300]), min_size=1, max_size=4))
def test_scores_do_not_depend_on_groups(counts):
    X, panels, sizes, weights = panels_and_net(counts)
    scores = np.empty(len(X))
    score_groups(sizes, weights, *panels, scores)
    _, alone, _, _ = panels_and_net([1])
    for row in range(0, len(X), 37):
        fill_group(alone, 0, X[row : row + 1])
        one = np.empty(1)
        score_groups(sizes, weights, *alone, one)
        assert one[0] == scores[row]


def test_the_gradient_of_a_long_group_is_the_sum_of_its_parts():
    X, panels, sizes, weights = panels_and_net([300])
    slopes = np.zeros(304, np.float32)
    slopes[:300] = np.random.default_rng(1).standard_normal(300)
    activations, scores = np.zeros(304 * 5, np.float32), np.zeros(304, np.float32)
    whole, parts = np.zeros(len(weights), np.float32), np.zeros(len(weights), np.float32)
    span = panels.starts[0], panels.starts[1]
    forward_group(sizes, weights, panels.values, *span, activations, scores)
    backward_group(sizes, weights, panels.values, *span, slopes, activations, whole)
    _, small, _, _ = panels_and_net([10])
    for begin in range(0, 300, 10):
        fill_group(small, 0, X[begin : begin + 10])
        part = np.zeros(16, np.float32)
        part[:10] = slopes[begin : begin + 10]
        forward_group(sizes, weights, small.values, *small.starts, activations, scores)
        backward_group(sizes, weights, small.values, *small.starts, part, activations, parts)
    np.testing.assert_allclose(whole, parts, rtol=1e-4, atol=1e-5)
