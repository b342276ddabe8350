import numpy as np
import pytest

from rankwright.solvers.smooth import minimise_smooth

A, B = np.random.default_rng(0).standard_normal((8, 3)), np.arange(8.0)


def risk(w):
    left = A @ w - B
    return 0.5 * left @ left, A.T @ left


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_least_squares_in_closed_form(C):
    told = []
    found = minimise_smooth(risk, 3, C, tol=1e-8, watch=told.append)
    best = np.linalg.solve(np.eye(3) + C * A.T @ A, C * A.T @ B)
    assert 0.5 * ((found.weights - best) ** 2).sum() <= found.gap * (1 + 1e-6)  # P is strongly convex
    least = 0.5 * best @ best + C * risk(best)[0]
    assert found.dual <= least * (1 + 1e-12) and least <= found.primal * (1 + 1e-12)
    assert not found.message and found.relative_gap <= 1e-8
    assert len(told) == found.steps and all(record["gap"] >= 0 for record in told)


def test_starts_where_it_is_told_to():
    cold = minimise_smooth(risk, 3, 1.0)
    assert minimise_smooth(risk, 3, 1.0, state=cold.state).steps == 1


def test_an_end_before_the_gap_is_said():
    assert "max_iter=2 ended it" in minimise_smooth(risk, 3, 1.0, tol=1e-12, max_iter=2).message
    assert "line search" in minimise_smooth(kinked, 3, 1.0).message


def kinked(w):
    """Not smooth, and its gradient not that of any plane below it."""
    return float(np.abs(w - 1).sum()), -np.sign(w - 1)
