import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import diagnostics as naive
from tests.naive import rules as naive_rules

from rankwright.diagnostics import conservative
from rankwright.diagnostics.conservative import LONGEST, _Field
from rankwright.measures import measure as read_measure
from rankwright.pairwise.rules import rule
from rankwright.runtime.errors import InputError

FEW = {"n_points": 4, "n_loops": 4}
QUICK = {**FEW, "labels": (2, 1, 0, 0)}

# (rule, measure): symmetric between changes of order, conservative, convex
VERDICTS = {
    "constant forces": (rule("step-potential", margin=math.inf), None, (True, True, True)),
    "steps": (rule("step-potential"), None, (True, True, True)),
    "springs": (rule("spring", elastic=True), None, (True, True, True)),
    "springs that let go": (rule("spring"), None, (True, True, True)),
    "RankNet": (rule("ranknet-weight-pairs"), None, (True, True, True)),
    "RankNet, regularised": (rule("ranknet-weight-pairs", alpha=0.5), None, (True, True, True)),
    "SpringSmooth of RR is RankNet": (rule("spring-smooth"), "mrr", (True, True, True)),
    "finite differences": (rule("local-gradient", neighbours=None, margin=1.0), None, (True, True, False)),
    "finite differences, regularised": (
        rule("local-gradient", neighbours=None, margin=1.0, alpha=12.0),
        None,
        (True, True, True),
    ),
    "LambdaRank": (rule("ranknet-weight-pairs"), "ndcg", (True, False, False)),
    "LambdaRank for AP": (rule("ranknet-weight-pairs"), "map", (True, False, False)),
    "constant forces by gain": (rule("step-potential", margin=math.inf), "ndcg", (True, False, False)),
    "springs by gain": (rule("spring", elastic=True), "ndcg", (True, False, False)),
    "nearest neighbours": (rule("local-cost"), None, (True, False, False)),
    "DiscreteBounded": (rule("discrete-bounded"), "ndcg", (True, False, False)),
}


@pytest.mark.parametrize("name", VERDICTS)
def test_worked_verdicts(name):
    made, measure, expected = VERDICTS[name]
    verdict = conservative(made, measure, **FEW)
    assert (verdict.symmetric, verdict.conservative, verdict.convex) == expected
    assert verdict.derivative_error < 1e-6


def test_ranknet_closes_its_loops_and_lambdarank_does_not():
    ranknet = conservative("RankNetWeightPairs", **FEW)
    assert ranknet.circulation < 1e-13 and ranknet.relative_circulation < 1e-14
    assert conservative("RankNetWeightPairs", "ndcg", **FEW).relative_circulation > 0.01


def test_two_documents_cannot_tell():
    # With two documents there is one swap gain, the same in either order: a cost exists.
    assert conservative("RankNetWeightPairs", "ndcg", labels=(1, 0), **FEW).convex


@settings(max_examples=5)
@given(seed=st.integers(0, 1000), measure=st.sampled_from([None, "ndcg", "map"]))
def test_circulation_is_the_work_done_round_the_loop(seed, measure):
    labels = [2, 0, 1]
    loop = np.random.default_rng(seed).normal(size=(3, 3))
    field = _Field(
        rule("ranknet-weight-pairs"), None if measure is None else read_measure(measure), labels, None
    )

    def lambdas(scores):
        return naive_rules.pair_lambdas(
            scores, labels, measure, lambda d, gain, n: naive_rules.cross_entropy(d, abs(gain))
        )

    slow = naive.circulation(loop.tolist(), lambdas, pieces=600)
    fast, work = field.circulation(loop, LONGEST)
    assert fast == pytest.approx(slow, abs=3e-3)
    assert abs(fast) <= work


@pytest.mark.parametrize("weights", [None, (1.0, 2.0, 0.5, 1.0)])
def test_own_derivatives_agree_with_finite_differences(weights):
    for made in (
        rule("spring-smooth", alpha=0.3, sigma=2.0, margin=0.2),
        rule("local-gradient", neighbours=2),
        rule("discrete-bounded", alpha=0.3),
    ):
        assert conservative(made, "ndcg", weights=weights, **QUICK).derivative_error < 1e-6


def leaning(i, n, constant, scores, levels, swaps, parameters, out):
    # Depends on where the pair stands, not only on how far apart: no cost has such a gradient.
    for j in range(i + 1, n):
        out[0, j] = (levels[i] - levels[j]) * (1.0 + 0.3 * scores[i])


def wrong_derivative(i, n, constant, scores, levels, swaps, parameters, out):
    for j in range(i + 1, n):
        out[0, j] = (levels[i] - levels[j]) - 0.5 * (scores[i] - scores[j])
        out[1, j] = 0.7
        out[2, j] = 0.0


def test_a_rule_of_the_users_own_is_found_out():
    verdict = conservative(leaning, **QUICK)
    assert not verdict.symmetric and not verdict.conservative and verdict.derivative_error is None
    assert "none given" in str(verdict)
    verdict = conservative(wrong_derivative, **QUICK)
    assert verdict.conservative and verdict.derivative_error > 0.1


def test_the_report_fits_and_is_plain_data():
    for made, measure in (("RankNetWeightPairs", "ndcg"), ("Spring", None)):
        verdict = conservative(made, measure, **QUICK)
        assert max(len(line) for line in str(verdict).splitlines()) <= 80
        assert json.loads(json.dumps(verdict.as_dict()))["conservative"] is verdict.conservative
        assert verdict.loop.shape == (3, 4)


def test_the_same_seed_gives_the_same_figures():
    one, two = (conservative("LocalCost", "ndcg", random_state=3, **QUICK) for _ in range(2))
    assert one.as_dict() == two.as_dict()
    assert one.as_dict() != conservative("LocalCost", "ndcg", random_state=4, **QUICK).as_dict()


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"labels": (1,)}, "two to 100 documents"),
        ({"labels": (0, 1) * 60}, "two to 100 documents"),
        ({"labels": (0, "a")}, "labels are"),
        ({"labels": (0, 0), "measure": "ndcg"}, "finds nothing in the labels"),
        ({"weights": (1.0,)}, "1 weights for 6 labels"),
        ({"weights": (1.0,) * 5 + (-1.0,)}, "weight 5 is -1"),
        ({"n_loops": 0}, "n_loops is 0; give a whole number of at least 1"),
        ({"n_points": 1.5}, "n_points is 1.5"),
        ({"spread": 0.0}, "spread is 0.0; give a number above 0"),
        ({"spread": math.inf}, "spread is inf"),
        ({"spread": math.nan}, "spread is nan"),
        ({"random_state": "x"}, "random_state"),
        ({"rule": "discrete-bounded"}, "give it a measure"),
    ],
)
def test_bad_input_is_named(settings_, message):
    with pytest.raises(InputError, match=message):
        conservative(**settings_)
