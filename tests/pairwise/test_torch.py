import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwright.measures import measure as read_measure
from rankwright.measures.lists import Lists
from rankwright.pairwise.forces import Forces
from rankwright.pairwise.rules import rule
from rankwright.runtime.errors import InputError

torch = pytest.importorskip("torch", reason="the bridge to PyTorch needs the extra torch")

from rankwright.pairwise.torch import LambdaLoss  # noqa: E402

batches = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=6).filter(any), min_size=1, max_size=4)


def drawn(lists, seed=0):
    """Scores and labels in one row, offsets, and the same padded with a mask."""
    rng = np.random.default_rng(seed)
    sizes = [len(labels) for labels in lists]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    labels, scores = np.concatenate(lists).astype(float), rng.normal(size=offsets[-1])
    mask = np.zeros((len(lists), max(sizes)), bool)
    for q, size in enumerate(sizes):
        # Documents need not stand at the left.
        mask[q, rng.permutation(max(sizes))[:size]] = True
    return scores, labels, offsets, mask


def padded(values, mask):
    out = np.full(mask.shape, 7.0)
    out[mask] = values
    return out


def ranknet(scores, labels, offsets):
    """RankNet's cost as anyone would write it in PyTorch."""
    total = torch.zeros((), dtype=scores.dtype)
    for a, b in itertools.pairwise(offsets):
        for i in range(a, b):
            for j in range(a, b):
                if labels[i] > labels[j]:
                    total = total + torch.nn.functional.softplus(scores[j] - scores[i])
    return total


@settings(max_examples=25)
@given(lists=batches, seed=st.integers(0, 1000))
def test_without_a_measure_it_is_ranknet(lists, seed):
    scores, labels, offsets, _ = drawn(lists, seed)
    ours, theirs = (torch.tensor(scores, requires_grad=True) for _ in range(2))
    loss = LambdaLoss(None, reduction="sum")(ours, labels, offsets)
    expected = ranknet(theirs, labels, offsets)
    assert loss.item() == pytest.approx(expected.item())
    loss.backward()
    if expected.requires_grad:
        expected.backward()
        np.testing.assert_allclose(ours.grad, theirs.grad, atol=1e-12)
    else:
        assert not ours.grad.any()


@pytest.mark.parametrize("measure", [None, "ndcg", "map"])
def test_gradcheck(measure):
    # At random scores a small step changes no order, and so the cost is smooth for any measure.
    scores, labels, offsets, mask = drawn([[2, 0, 1], [1], [0, 1, 0, 2]])
    loss = LambdaLoss(measure)
    flat = torch.tensor(scores, requires_grad=True)
    assert torch.autograd.gradcheck(lambda s: loss(s, labels, offsets), (flat,))
    square = torch.tensor(padded(scores, mask), requires_grad=True)
    assert torch.autograd.gradcheck(lambda s: loss(s, padded(labels, mask), mask=mask), (square,))


@settings(max_examples=25)
@given(
    lists=batches,
    measure=st.sampled_from([None, "ndcg@2", "map", "mrr", "err"]),
    name=st.sampled_from(["ranknet-weight-pairs", "spring-smooth", "step-potential"]),
)
def test_what_goes_backward_is_minus_lambda(lists, measure, name):
    scores, labels, offsets, mask = drawn(lists)
    rng = np.random.default_rng(1)
    weights = {"sample_weight": rng.uniform(size=len(labels)), "query_weight": rng.uniform(size=len(lists))}
    forces = Forces(
        rule(name),
        Lists(labels, offsets),
        None if measure is None else read_measure(measure),
        weights=weights["sample_weight"],
        query_weight=weights["query_weight"],
    )
    expected = forces.at(scores)
    loss = LambdaLoss(measure, rule=name, reduction="sum")
    flat = torch.tensor(scores, requires_grad=True)
    value = loss(flat, labels, offsets, **weights)
    value.backward()
    np.testing.assert_allclose(flat.grad, -expected.lambdas, atol=1e-15)
    assert value.item() == pytest.approx(expected.potentials.sum())
    square = torch.tensor(padded(scores, mask), requires_grad=True)
    weights["sample_weight"] = padded(weights["sample_weight"], mask)
    loss(square, torch.tensor(padded(labels, mask)), mask=torch.tensor(mask), **weights).backward()
    np.testing.assert_array_equal(square.grad[mask], flat.grad)
    assert not square.grad[~mask].any()


def test_mean_is_over_queries_and_slopes_follow_the_chain_rule():
    scores, labels, offsets, _ = drawn([[1, 0], [0, 2, 1]])
    one, two = (torch.tensor(scores, requires_grad=True) for _ in range(2))
    LambdaLoss("ndcg", reduction="sum")(one, labels, offsets).backward()
    (6 * LambdaLoss("ndcg")(two, labels, offsets)).backward()
    np.testing.assert_allclose(two.grad, 3 * one.grad)


def test_a_batch_of_equal_lists_needs_no_mask():
    scores = torch.tensor([[0.3, 0.1], [0.2, 0.9]], requires_grad=True)
    LambdaLoss("mrr")(scores, [[0, 1], [1, 0]]).backward()
    assert scores.grad.dtype == torch.float32
    assert (scores.grad.sum(dim=1) == 0).all()
    assert scores.grad[0, 1] < 0 < scores.grad[0, 0] and scores.grad[1, 0] < 0


def test_unjudged_documents_and_blank_queries_are_left_alone():
    scores = torch.tensor([0.3, 0.1, 0.2, 0.5, 0.6], requires_grad=True)
    LambdaLoss("ndcg")(scores, [0, 1, float("nan"), 0, 0], offsets=[0, 3, 5]).backward()
    assert scores.grad[2:].tolist() == [0, 0, 0] and scores.grad[0] > 0


def test_it_trains_a_module_as_any_loss_does():
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    features, labels = torch.randn(40, 3), np.zeros(40)
    labels[features[:, 0] > 0.3] = 1.0
    loss, optimiser = LambdaLoss("ndcg"), torch.optim.Adam(net.parameters(), lr=0.05)
    values = []
    for _ in range(40):
        optimiser.zero_grad()
        value = loss(net(features)[:, 0], labels, [0, 20, 40])
        value.backward()
        optimiser.step()
        values.append(value.item())
    assert values[-1] < 0.1 * values[0]
    assert "measure=ndcg, rule=RankNetWeightPairs(" in repr(loss)


def test_no_second_derivative():
    scores = torch.tensor([0.0, 1.0], requires_grad=True)
    factor = torch.tensor(2.0, requires_grad=True)
    loss = factor * LambdaLoss(None)(scores, [1, 0], [0, 2])
    [slope] = torch.autograd.grad(loss, scores, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        slope.sum().backward()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.0, 1.0], [1, 0]), r"the scores have shape \(2,\); give one row of them with offsets"),
        (([0.0, 1.0], [1, 0], [0, 1]), "offsets must rise from 0 to the number of scores"),
        (([0.0, 1.0], [1, 0], [0, 2, 1, 2]), "offsets must rise"),
        (([[0.0, 1.0]], [[1, 0]], [0, 2]), "which lie in one row"),
        (([0.0, 1.0], [1], [0, 2]), r"labels have shape \(1,\) and the scores \(2,\)"),
        (([[0.0, 1.0]], [[1, 0]], None, [[True]]), r"the mask has shape \(1, 1\)"),
        (([0.0, float("nan")], [1, 0], [0, 2]), "row 1: the score is nan"),
        (([0, 1], [1, 0], [0, 2]), "the scores are a tensor of torch.int64; give a tensor of floating"),
        (([0.0, 1.0], [1, 0], [0, 1.5, 2]), "in whole numbers"),
        (([0.0, 1.0], [1, 0], [0, 2], [1, 1]), "without a mask"),
        (([0.0, 1.0], None, [0, 2]), "labels are None; give a tensor, an array or a list of numbers"),
        (([0.0, 1.0], [1, 0], "all"), "offsets are 'all'"),
    ],
)
def test_bad_batches_are_named(arguments, message):
    with pytest.raises(InputError, match=message):
        LambdaLoss("ndcg")(torch.tensor(arguments[0]), *arguments[1:])


@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf")])
def test_bad_weights_are_named(bad):
    scores = torch.tensor([0.0, 1.0])
    with pytest.raises(InputError, match=r"sample_weight, row 1: .* is no weight"):
        LambdaLoss("ndcg")(scores, [1, 0], [0, 2], sample_weight=[1.0, bad])
    with pytest.raises(InputError, match=r"query_weight, row 0: .* is no weight"):
        LambdaLoss("ndcg")(scores, [1, 0], [0, 2], query_weight=[bad])


def test_bad_settings_are_named():
    with pytest.raises(InputError, match=r"the scores are \[0.0, 1.0\]; give a tensor"):
        LambdaLoss("ndcg")([0.0, 1.0], [1, 0], [0, 2])
    with pytest.raises(InputError, match="use ties=input"):
        LambdaLoss("ndcg(ties=average)")
    with pytest.raises(InputError, match="reduction is 'max'"):
        LambdaLoss("ndcg", reduction="max")
    with pytest.raises(InputError, match=r"query_weight has shape \(2,\) for 1 queries"):
        LambdaLoss("ndcg")(torch.tensor([0.0, 1.0]), [1, 0], [0, 2], query_weight=[1.0, 1.0])
    with pytest.raises(InputError, match="give it a measure"):
        LambdaLoss(None, rule="discrete-bounded")
