import numpy as np
import pytest
from tests.naive import margins as naive

import rankwright as rw
from rankwright.solvers import quadratic
from rankwright.solvers.cutting_plane import IDLE_STEPS, OneSlack, WorkingSet
from rankwright.solvers.frank_wolfe import Corners
from rankwright.solvers.problem import Progress, objective, slacks_of
from rankwright.solvers.quadratic import multipliers
from rankwright.solvers.solve import SOLVERS, chosen, solve

all_solvers = pytest.mark.parametrize("solver", SOLVERS)


def auc(seed=0, queries=6, documents=8, features=4):
    """The last query has no good document."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((queries * documents, features))
    y = (X[:, 0] + random.standard_normal(len(X)) > 0.5).astype(float)
    y[-documents:] = 0
    y[::documents] = 1
    y[-documents] = 0
    y[1::documents] = 0
    return naive.AUC(X, y, np.repeat(np.arange(queries), documents))


class Listed:
    """Blocks whose planes are listed."""

    def __init__(self, losses, vectors, shares):
        self.losses, self.vectors, self.shares = losses, vectors, np.asarray(shares)
        self.n_features = vectors.shape[2]
        self.calls = 0

    def worst(self, w, blocks=None):
        self.calls += 1
        blocks = np.arange(len(self.shares)) if blocks is None else blocks
        best = np.argmax(self.losses - self.vectors @ w, axis=1)
        return self.losses[blocks, best[blocks]], self.vectors[blocks, best[blocks]]


def listed(seed, blocks=3, planes=5, features=2):
    random = np.random.default_rng(seed)
    return Listed(
        random.random((blocks, planes)), random.standard_normal((blocks, planes, features)),
        random.random(blocks),
    )  # fmt: skip


@all_solvers
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_reaches_the_optimum_of_a_general_solver(solver, C):
    problem = auc()
    differences, bounds = problem.pairs()
    best, _ = naive.hinge_optimum(differences, C * bounds)
    found = solve(problem, C, solver=solver, tol=1e-4)
    assert not found.message and 0 <= found.relative_gap <= 1e-4
    assert found.dual <= best * (1 + 1e-6) and best <= found.primal * (1 + 1e-6)
    assert found.primal <= best * (1 + 1.1e-4)
    assert found.primal == pytest.approx(objective(found.weights, problem.shares @ found.slacks, C), rel=1e-9)
    assert (found.slacks >= 0).all()


@all_solvers
@pytest.mark.parametrize("seed", range(3))
def test_planes_in_a_list(solver, seed):
    problem = listed(seed)
    found = solve(problem, 5.0, solver=solver, tol=1e-6)
    assert not found.message
    best = naive.planes_optimum(problem.losses, problem.vectors, problem.shares, 5.0)
    assert found.primal == pytest.approx(best, rel=2e-6)


@all_solvers
def test_history_tells_primal_dual_and_gap(solver):
    records = []
    found = solve(auc(), 10.0, solver=solver, watch=records.append)
    assert [record["step"] for record in records] == [*range(1, found.steps + 1)]
    assert (np.diff([record["dual"] for record in records]) >= 0).all()
    assert all(record["primal"] >= record["dual"] and record["gap"] >= 0 for record in records)
    assert [record.get("ended") for record in records] == [None] * (found.steps - 1) + ["gap reached"]


@all_solvers
def test_warm_starts_need_fewer_steps_and_end_where_cold_ones_do(solver):
    problem, state, warm, cold = auc(), None, 0, 0
    for C in (0.3, 1.0, 3.0, 10.0, 30.0):
        found = solve(problem, C, solver=solver, state=state)
        again = solve(problem, C, solver=solver)
        state, warm, cold = found.state, warm + found.steps, cold + again.steps
        assert found.primal == pytest.approx(again.primal, rel=1e-3)
    assert warm < cold


@all_solvers
def test_zero_may_be_the_answer(solver):
    problem = Listed(np.ones((1, 2)), np.array([[[1.0, 2.0], [-1.0, -2.0]]]), [1.0])
    found = solve(problem, 3.0, solver=solver)
    assert not found.message and found.primal == pytest.approx(3.0, rel=1e-3) and found.flat
    nothing = Listed(np.zeros((1, 1)), np.ones((1, 1, 2)), [1.0])
    found = solve(nothing, 3.0, solver=solver)
    assert not found.message and found.primal == found.dual == found.gap == 0.0 and not found.weights.any()


@all_solvers
def test_where_zero_is_as_good_the_answer_lies_where_the_risk_falls_at_first(solver):
    """2008 section 4.2: SVM-NDCG stays close to w = 0, but, luckily, not quite at it."""
    losses, vectors = np.array([[1.0, 0.9999]]), np.array([[[1.0, 2.0], [-30.0, -60.0]]])
    found = solve(Listed(losses, vectors, [1.0]), 10.0, solver=solver)
    assert found.flat and found.weights[1] == 2 * found.weights[0] != 0 and found.relative_gap <= 1e-3
    least = naive.planes_optimum(losses, vectors, np.ones(1), 10.0)
    assert found.dual <= least * (1 + 1e-9) <= found.primal * (1 + 1e-9)
    assert not solve(auc(), 10.0, solver=solver).flat


@all_solvers
def test_an_end_before_the_gap_is_said(solver):
    found = solve(auc(), 1000.0, solver=solver, tol=1e-9, max_iter=3)
    assert "max_iter=3 ended it" in found.message and found.steps == 3 and found.relative_gap > 1e-9


@all_solvers
def test_an_oracle_that_misses_the_highest_plane_is_refused(solver):
    """Otherwise what looks like a certificate would be none."""
    problem = listed(0)
    best = problem.worst
    problem.worst = lambda w, blocks=None: tuple(part * (not w.any()) for part in best(w, blocks))
    with pytest.raises(rw.InputError, match="above the objective"):
        solve(problem, 0.1, solver=solver, tol=1e-6)


def test_a_gap_that_stops_falling_is_said():
    progress, steps = Progress(2.0, 1e-3, 1000, 5), 0
    while not progress.step(1.0, 0.5, np.ones(1)):
        steps += 1
    assert steps == 5 and "has not fallen by 1 % in 5 steps" in progress.message
    assert "at C=2 the relative duality gap is 0.5 after 6 steps" in progress.message


def test_where_rounding_ends_it_that_is_said():
    found = solve(auc(), 1e4, tol=1e-15)
    assert "rounding" in found.message or not found.gap


@pytest.mark.parametrize("solver", SOLVERS)
def test_losses_that_are_no_numbers_are_refused(solver):
    problem = listed(0)
    problem.losses[1] = np.nan
    with pytest.raises(rw.InputError, match="not finite"):
        solve(problem, 1.0, solver=solver)


def test_a_solver_that_there_is_not():
    with pytest.raises(rw.InputError, match="n-slack, 1-slack"):
        chosen("simplex", 3)


def test_one_slack_is_the_sum_of_all():
    problem = auc()
    w = np.random.default_rng(1).standard_normal(4)
    losses, vectors = problem.worst(w)
    [loss], [vector] = OneSlack(problem).worst(w)
    assert loss - vector @ w == pytest.approx(problem.shares @ slacks_of(w, losses, vectors))


def test_idle_planes_leave_the_working_set():
    planes = WorkingSet(2)
    planes.add(np.array([1.0, 0.5]), np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([0, 0]))
    for _ in range(IDLE_STEPS):
        weights, dual = planes.solve(np.array([1.0]))
    assert planes.losses.tolist() == [1.0]
    assert weights == pytest.approx([1.0, 0.0], abs=1e-3) and dual == pytest.approx(0.5)


def test_corners_without_weight_give_way():
    corners, w = Corners(1.0, 1), np.zeros(1)
    for k in range(40):
        corners.move(w, corners.meet(1.0 + 0.1 * k, np.array([1.0 + 0.001 * k])))
    assert corners.alphas.sum() == pytest.approx(1.0) and len(corners.losses) < 20
    assert corners.meet(corners.losses[-1], corners.vectors[-1]) == len(corners.losses) - 1
    assert w == pytest.approx(corners.alphas @ corners.vectors)


@pytest.mark.parametrize("planes", [3, 40])
def test_multipliers_against_a_box(planes):
    """One plane a block is a box, also where planes depend on each other."""
    random = np.random.default_rng(0)
    vectors = random.standard_normal((planes, 6))
    vectors[1] = vectors[0]
    limits = random.random(planes)
    alphas = multipliers(vectors, np.ones(planes), np.arange(planes), limits)
    assert (alphas >= 0).all() and (alphas <= limits * (1 + 1e-12)).all()
    w = alphas @ vectors
    best, _ = naive.hinge_optimum(vectors, limits)
    assert alphas.sum() - 0.5 * w @ w == pytest.approx(best, rel=1e-6)


def test_multipliers_that_no_solver_finds_are_zero(monkeypatch):
    monkeypatch.setattr(
        quadratic, "_solve", lambda vectors, losses, members, limits: np.array([np.nan, -1e-9])
    )
    assert multipliers(np.ones((2, 1)), np.ones(2), np.zeros(2, int), np.ones(1)).tolist() == [0.0, 0.0]
