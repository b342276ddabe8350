import re
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import rankwright as rw
from rankwright.diagnostics import local_optimality
from rankwright.learners.torch import TorchRanker
from rankwright.runtime.errors import InputError, MissingExtra

torch = pytest.importorskip("torch", reason="TorchRanker needs the extra torch")

from rankwright.pairwise.torch import LambdaLoss  # noqa: E402


def queries(seed=0, n_queries=12, n=10, noise=0.0, **about):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * n, 3)) * [1.0, 10.0, 0.1]
    y = np.digitize(X[:, 0] + noise * rng.normal(size=len(X)), [0.0, 1.0])
    return rw.QuerySet(X, y, qid=rng.permutation(np.repeat(np.arange(n_queries), n)), **about)


def net(n_features):
    return torch.nn.Sequential(torch.nn.Linear(n_features, 5), torch.nn.Tanh(), torch.nn.Linear(5, 1))


QUICK = {"epochs": 15, "learning_rate": 0.05, "batch_size": 4}


def test_it_learns_to_rank():
    ranker = TorchRanker(net, **QUICK).fit(queries(), valid=queries(1))
    assert ranker.score(queries(2)) > 0.97
    assert [record["epoch"] for record in ranker.history_] == list(range(1, 16))
    assert ranker.history_[-1]["loss"] < 0.3 * ranker.history_[0]["loss"]
    assert max(record["valid"] for record in ranker.history_) == pytest.approx(ranker.score(queries(1)))


def test_saved_to_safetensors_and_loaded(tmp_path):
    ranker = TorchRanker(net, measure="map", **QUICK).fit(queries())
    ranker.save(tmp_path / "net.rw")
    loaded = TorchRanker.load(tmp_path / "net.rw", net(3))
    np.testing.assert_array_equal(loaded.predict(queries(2)), ranker.predict(queries(2)))
    assert loaded.score(queries(2)) == ranker.score(queries(2)) and str(loaded.selection_measure) == "map"
    scorer = rw.load(tmp_path / "net.rw").with_module(net(3))
    np.testing.assert_array_equal(scorer.predict(queries(2)), ranker.predict(queries(2)))
    rw.LinearScorer([1.0]).save(tmp_path / "linear.rw")
    with pytest.raises(InputError, match="holds a linear model"):
        TorchRanker.load(tmp_path / "linear.rw", net(3))
    with pytest.raises(InputError, match=r"give a torch\.nn\.Module of the make that was saved"):
        TorchRanker.load(tmp_path / "net.rw", 3)


def test_scikit_learns_conventions():
    start = net(3)
    before = [tensor.detach().clone() for tensor in start.parameters()]
    ranker = TorchRanker(start, **QUICK)
    assert ranker.get_params()["module"] is start
    copied = clone(ranker)
    assert copied.get_params()["epochs"] == 15
    ranker.fit(queries())
    assert all(torch.equal(a, b) for a, b in zip(before, start.parameters(), strict=True))
    np.testing.assert_array_equal(copied.fit(queries()).predict(queries(2)), ranker.predict(queries(2)))
    y, X = queries().in_given_order(queries().labels), queries().in_given_order(queries().features)
    with pytest.raises(InputError, match="qid is missing"):
        ranker.fit(X, y)


def test_random_state_says_it_all_and_disturbs_nothing():
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    one, two, three = (
        TorchRanker(net, random_state=seed, **QUICK).fit(queries()).predict(queries(2)) for seed in (0, 0, 1)
    )
    assert torch.equal(torch.rand(1), expected)
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, three)


def test_early_stopping_keeps_the_best_epoch():
    valid = queries(1, noise=2.0)
    ranker = TorchRanker(net, epochs=200, learning_rate=0.2, early_stopping_rounds=3).fit(
        queries(noise=2.0), valid=valid
    )
    values = [record["valid"] for record in ranker.history_]
    assert len(values) < 200 and int(np.argmax(values)) == len(values) - 4
    assert ranker.score(valid) == pytest.approx(max(values))


def test_loss_and_optimiser_of_ones_own():
    ranker = TorchRanker(
        net,
        loss=LambdaLoss(None),
        optimiser=lambda parameters: torch.optim.SGD(parameters, lr=0.05, momentum=0.9),
        epochs=15,
    )
    assert ranker.fit(queries()).score(queries(2)) > 0.9
    seen = []
    TorchRanker(net, epochs=2, optimiser="sgd").fit(queries(), progress=seen.append)
    assert [record["epoch"] for record in seen] == [1, 2]


def test_weights_of_nothing_teach_nothing():
    weights = np.ones(12)
    weights[3:] = 0.0
    some = queries().with_weights(query_weight=weights)
    few = queries().select(np.arange(3))
    settings = {"module": net, "epochs": 3, "batch_size": 12, "optimiser": "sgd", "standardise": False}
    one = TorchRanker(learning_rate=0.01, **settings).fit(some).predict(queries(2))
    two = TorchRanker(learning_rate=0.01, **settings).fit(few).predict(queries(2))
    np.testing.assert_array_equal(one, two)
    with pytest.raises(InputError, match="there is nothing to learn from"):
        TorchRanker(net).fit(queries().with_weights(sample_weight=np.zeros(120)))


def test_diagnostics_move_its_weights():
    ranker = TorchRanker(lambda n: torch.nn.Linear(n, 1, bias=False), **QUICK).fit(queries())
    found = local_optimality(ranker, queries(), n_directions=4)
    linear = rw.LinearScorer(ranker.scorer_.weights_vector(), transform=ranker.scorer_.transform)
    assert found.start == pytest.approx(local_optimality(linear, queries(), n_directions=1).start)
    assert found.along.shape == (4, 10)


def test_diverging_training_names_the_step_and_the_rate():
    class Runaway(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(1))

        def forward(self, rows):
            return rows[:, 0] * torch.exp(self.weight * 50)

    with pytest.raises(
        InputError, match=r"diverged at step 3 with a learning rate of 5: .* lower learning_rate"
    ):
        TorchRanker(Runaway(), optimiser=lambda p: _Growing(p), learning_rate=5, batch_size=12).fit(queries())


class _Growing:
    """An optimiser that lets the one weight grow by half a unit a step."""

    def __init__(self, parameters):
        self.parameters = list(parameters)

    def zero_grad(self):
        pass

    def step(self):
        with torch.no_grad():
            self.parameters[0] += 0.3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"module": None}, "module is None; give a torch.nn.Module"),
        ({"module": lambda n: 3}, "give a torch.nn.Module, or a function of the number of features"),
        ({"module": lambda n: torch.nn.Linear(n, 2)}, r"makes \(\d+, 2\) of \d+ rows"),
        ({"module": torch.nn.Linear(5, 1)}, "the module cannot score rows of 3 float32 features"),
        ({"module": lambda n: net(n).double()}, "the module cannot score rows of 3 float32 features"),
        ({"learning_rate": "fast"}, "learning_rate is 'fast'"),
        ({"loss": 3}, "loss is 3; give a function"),
        ({"epochs": 0}, "epochs is 0"),
        ({"batch_size": True}, "batch_size is True"),
        ({"learning_rate": 0.0}, "learning_rate is 0.0"),
        ({"optimiser": "lbfgs"}, "optimiser is 'lbfgs'"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(InputError, match=message):
        TorchRanker(**{"module": net, "epochs": 1, **settings}).fit(queries())


def test_bad_data_is_named():
    with pytest.raises(InputError, match="there is nothing to learn from"):
        TorchRanker(net).fit(rw.QuerySet([[1.0], [2.0]], [1, 1], qid=1))
    with pytest.raises(InputError, match="feature 0 is missing"):
        TorchRanker(net, standardise=False).fit(rw.QuerySet([[np.nan], [2.0]], [0, 1], qid=1))


def test_what_the_page_shows_runs():
    page = (Path(__file__).resolve().parents[2] / "docs" / "lambda-rules.md").read_text(encoding="utf-8")
    [block] = re.findall(r"^```py\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    names = {"rw": rw}
    exec(compile(block, "lambda-rules.md", "exec"), names)
    assert names["scores"].grad.tolist()[0] < 0


def test_without_pytorch_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"rankwright\[torch\]"):
        TorchRanker(net).fit(queries())
