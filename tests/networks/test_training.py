import numpy as np
import pytest

from rankwright.networks.net import net
from rankwright.networks.optimisers import LEARNING_RATE
from rankwright.networks.training import Descent
from rankwright.runtime.errors import InputError

PLAIN = {
    "epochs": 6,
    "learning_rate": 0.1,
    "optimiser": "sgd",
    "momentum": 0.0,
    "batch_size": 1,
    "decay": 1.0,
    "decay_chance": 1.0,
    "restart_rounds": None,
    "early_stopping_rounds": None,
    "l2_regularization": 0.0,
}


def run(losses, values=None, **settings):
    """Train a net of one weight, which counts epochs, on costs that are known beforehand."""
    made, seen = net((1, 1), np.zeros(2)), []

    def epoch(order, rates):
        number = len(seen)
        seen.append(float(rates[LEARNING_RATE]))
        made.exact[0] += 1
        record = {"loss": losses[number]}
        return record if values is None else record | {"value": values[number]}

    descent = Descent(**{**PLAIN, "epochs": len(losses), **settings})
    history = descent.run(made, 1, epoch, lambda: np.array([100.0, 0.0]), np.random.default_rng(0))
    return made, seen, history


def test_keeps_the_best_epoch():
    assert run([3, 1, 2])[0].weights[0] == 2
    assert run([3, 2, 1], values=[5, 9, 7])[0].weights[0] == 2


def test_2005_halves_the_rate_after_the_cost_rose():
    _, rates, history = run([3, 4, 2, 2, 5, 1], decay=0.5)
    assert rates == [0.1, 0.1, 0.05, 0.05, 0.05, 0.025]
    assert [record["epoch"] for record in history] == [1, 2, 3, 4, 5, 6]


def test_2009_slows_down_by_chance():
    _, rates, _ = run(list(range(2000)), decay=0.999, decay_chance=0.3)
    slowed = np.sum(np.diff(rates) < 0)
    assert 0.25 * 2000 < slowed < 0.35 * 2000


def test_starts_again_after_epochs_without_progress():
    made, rates, _ = run([5, 6, 7, 3, 4, 5], decay=0.5, restart_rounds=2)
    assert rates == [
        0.1,
        0.1,
        0.05,
        0.1,
        0.1,
        0.05,
    ]  # 6 and 7 are no progress; the fourth epoch is a new start
    assert made.weights[0] == 101  # and the best


def test_stops_after_epochs_without_progress():
    assert len(run([5, 4, 6, 7, 1], early_stopping_rounds=2)[2]) == 4
    assert len(run([5, 4, 6, 3, 7], early_stopping_rounds=2)[2]) == 5


def test_progress_is_told():
    told = []
    made = net((1, 1), np.zeros(2))
    Descent(**PLAIN).run(
        made,
        1,
        lambda order, rates: {"loss": 1.0, "cost": 2.0},
        lambda: np.zeros(2),
        np.random.default_rng(0),
        told.append,
    )
    assert [record["cost"] for record in told] == [2.0] * 6


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("epochs", 0),
        ("epochs", 1.5),
        ("batch_size", True),
        ("restart_rounds", 0),
        ("early_stopping_rounds", "10"),
        ("optimiser", "lbfgs"),
        ("learning_rate", 0),
        ("learning_rate", float("nan")),
        ("learning_rate", float("inf")),
        ("momentum", 1.0),
        ("decay", 0),
        ("decay", 1.5),
        ("decay_chance", -0.1),
        ("l2_regularization", -1),
        ("l2_regularization", "none"),
    ],
)
def test_refuses_what_makes_no_sense(name, value):
    with pytest.raises(InputError, match=name):
        Descent(**{**PLAIN, name: value})


def test_adam_has_no_momentum_of_the_users():
    with pytest.raises(InputError, match="momentum"):
        Descent(**{**PLAIN, "optimiser": "adam", "momentum": 0.5})
