import numpy as np
import pytest

import rankwright as rw
from rankwright.runtime.errors import InputError
from rankwright.scorers import Standardising
from rankwright.scorers.torch import TorchScorer

torch = pytest.importorskip("torch", reason="scorers of PyTorch modules need the extra torch")


def module(n=3, hidden=4):
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(n, hidden), torch.nn.BatchNorm1d(hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, 1)
    )


def data(n=50):
    return np.random.default_rng(0).normal(size=(n, 3)).astype(np.float32)


def test_scores_are_the_modules():
    net = module().eval()
    scorer = TorchScorer.of(net, 3)
    with torch.no_grad():
        expected = net(torch.from_numpy(data()))[:, 0].numpy()
    np.testing.assert_allclose(scorer.predict(data()), expected, rtol=1e-5, atol=1e-6)


def test_the_rows_around_a_row_change_no_more_than_its_rounding():
    """Products of PyTorch round by a row's place: each of at most 37 terms by at most half a unit."""
    rounding = 2 * 37 * float(np.finfo(np.float32).eps)
    values = np.random.default_rng(0).normal(size=(700, 37)).astype(np.float32)
    order = np.random.default_rng(1).permutation(700)
    for net in (
        torch.nn.Linear(37, 1),
        torch.nn.Sequential(torch.nn.Linear(37, 19), torch.nn.Tanh(), module(19)),
    ):
        scorer = TorchScorer.of(net, 37)
        scores = scorer.predict(values)
        np.testing.assert_array_equal(scorer.predict(values), scores)
        np.testing.assert_allclose(scorer.predict(values[order]), scores[order], rtol=0, atol=rounding)
        for rows in (slice(0, 1), slice(3, 20), slice(255, 258), slice(699, 700)):
            np.testing.assert_allclose(scorer.predict(values[rows]), scores[rows], rtol=0, atol=rounding)


def test_saved_and_loaded_with_the_code_beside(tmp_path):
    transform = Standardising.of(data())
    scorer = TorchScorer.of(module(), 3, transform=transform, measure="map")
    scorer.save(tmp_path / "net.rw")
    loaded = rw.load(tmp_path / "net.rw")
    assert isinstance(loaded, TorchScorer) and loaded.measure == "map" and loaded.n_features == 3
    with pytest.raises(InputError, match="not its code"):
        loaded.predict(data())
    again = loaded.with_module(module())
    np.testing.assert_array_equal(again.predict(data()), scorer.predict(data()))
    assert again.arrays().keys() == scorer.arrays().keys()
    assert again.arrays()["module.1.num_batches_tracked"].shape == ()


def test_the_module_given_is_left_alone():
    net = module().train()
    scorer = TorchScorer.of(net, 3)
    before = scorer.predict(data())
    with torch.no_grad():
        net[0].weight.zero_()
    assert net.training
    np.testing.assert_array_equal(scorer.predict(data()), before)


def test_a_module_of_another_make_is_refused():
    scorer = TorchScorer.of(module(), 3)
    with pytest.raises(InputError, match="not of the make that was saved"):
        scorer.with_module(module(hidden=5))


def test_what_no_file_holds_and_what_is_no_score_is_refused():
    with pytest.raises(InputError, match=r"'weight' is torch\.bfloat16"):
        TorchScorer.of(torch.nn.Linear(3, 1).bfloat16(), 3)
    with pytest.raises(InputError, match=r"makes \(50, 2\) of 50 rows"):
        TorchScorer.of(torch.nn.Linear(3, 2), 3).predict(data())


def test_weights_are_shown_and_changed():
    scorer = TorchScorer.of(module(), 3)
    weights = scorer.weights_vector()
    assert len(weights) == 4 * 3 + 4 + 4 + 4 + 4 + 1
    np.testing.assert_array_equal(scorer.with_weights(weights).predict(data()), scorer.predict(data()))
    moved = scorer.with_weights(weights + 0.5)
    np.testing.assert_allclose(moved.weights_vector(), weights + 0.5, rtol=1e-6)
    np.testing.assert_array_equal(scorer.weights_vector(), weights)
    np.testing.assert_array_equal(moved.arrays()["module.0.weight"], moved.module[0].weight.detach())
