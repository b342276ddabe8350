"""Measures of the user's own: let in, valued, trained for, named, pickled, and refused with a reason."""

from __future__ import annotations

import copy
import math
import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.measures import own_measures

import rankwright as rw
from rankwright.measures import custom
from rankwright.measures.lists import Lists
from rankwright.pairwise.lambdas import Lambdas

JIT_OFF = os.environ.get("NUMBA_DISABLE_JIT") == "1"


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    """Each test has the registry to itself."""
    before = dict(custom.REGISTERED)
    yield
    custom.REGISTERED.clear()
    custom.REGISTERED.update(before)


def first_two(labels: Any) -> Any:
    return (labels[:2] > 0).any()


def own_dcg(labels: Any) -> Any:
    total = 0.0
    for r in range(labels.size):
        total += labels[r] / math.log2(r + 2.0)
    return total


def own_dcg_prepare(n: Any, labels: Any, constant: Any, tables: Any) -> None:
    for r in range(n):
        tables[1, r] = 1.0 / math.log2(tables[0, r] + 1.0)


def own_dcg_row(i: Any, n: Any, labels: Any, tables: Any, out: Any) -> None:
    for j in range(i + 1, n):
        out[j] = (labels[j] - labels[i]) * (tables[1, i] - tables[1, j])


def in_words(labels: Any) -> Any:
    """What Numba cannot compile."""
    return {"first": labels.tolist()}["first"][0] / len({str(label) for label in labels})


def some_queries(seed: int = 0) -> tuple[Lists, Any]:
    random = np.random.default_rng(seed)
    lists = Lists(random.choice([0.0, 1.0, 2.0], 60), np.arange(0, 61, 12))
    return lists, random.normal(size=60)


def lambdas(chosen: Any) -> Any:
    lists, scores = some_queries()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rw.SlowWarning)
        return Lambdas(lists, chosen).at(scores)


def test_a_plain_function_is_a_measure() -> None:
    made = rw.measure(first_two)
    assert isinstance(made, rw.Measure)
    assert repr(made) == "first_two" and rw.measure("first_two") is made
    assert made.value([0, 1, 0]) == 1.0 and made.value([0, 0, 1]) == 0.0
    assert math.isnan(made.value([0, 0])), "a query without anything to find is left out of the mean"
    assert made(np.array([0.0, 2.0]))


def test_the_decorator_takes_a_name_and_what_blank_counts() -> None:
    @rw.measure(name="top", blank=0)
    def whatever(labels: Any) -> float:
        return float(labels[0])

    assert repr(whatever) == "top"
    assert rw.measure("top").value([0.0, 0.0]) == 0.0


def test_names_may_have_capitals() -> None:
    made = rw.measure(first_two, name="First_Two")
    assert rw.measure("First_Two") is made


def test_registering_again_replaces() -> None:
    rw.measure(lambda labels: 1.0, name="again")
    second = rw.measure(lambda labels: 0.0, name="again")
    assert rw.measure("again") is second


def test_how_ties_and_blank_queries_count_is_written_too() -> None:
    made = rw.measure(first_two)
    other = rw.measure("first_two(blank=0, ties=worst)")
    assert other == made.replace(blank=0, ties="worst") and other != made
    assert repr(other) == "first_two(blank=0, ties=worst)"
    assert other.value([0, 0]) == 0.0


def test_swap_gains_are_swapping_and_evaluating_again() -> None:
    labels = [2.0, 0.0, 1.0, 1.0, 0.0, 2.0]
    for made in (rw.measure(own_dcg), rw.measure(in_words)):
        gains = made.swap_gains(labels)
        for i in range(6):
            for j in range(i + 1, 6):
                moved = list(labels)
                moved[i], moved[j] = moved[j], moved[i]
                assert gains[i, j] == pytest.approx(made.value(moved) - made.value(labels), abs=1e-6)


def test_with_and_without_a_row_the_lambdas_are_the_same() -> None:
    by_force = lambdas(rw.measure(own_dcg))
    by_row = lambdas(rw.measure(own_dcg, name="quick", prepare=own_dcg_prepare, row=own_dcg_row, tables=1))
    built_in = lambdas(rw.measure("dcg(gain=linear)"))
    for got in (by_row, by_force):
        np.testing.assert_allclose(got[0], built_in[0], rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(got[1], built_in[1], rtol=1e-4, atol=1e-6)


def test_what_cannot_be_compiled_trains_and_evaluates_in_python() -> None:
    def compilable(labels: Any) -> Any:
        return labels[0] / np.unique(labels).size

    slow, quick = lambdas(rw.measure(in_words)), lambdas(rw.measure(compilable))
    np.testing.assert_allclose(slow[0], quick[0], rtol=1e-5, atol=1e-8)
    lists, scores = some_queries()
    ranked = lists.ranked(scores)
    np.testing.assert_array_equal(
        ranked.values(rw.measure("in_words")), ranked.values(rw.measure("compilable"))
    )


def test_a_row_that_cannot_be_compiled_runs_in_python() -> None:
    def prepare(n: Any, labels: Any, constant: Any, tables: Any) -> None:
        tables[1, :n] = [1.0 / math.log2(r + 2.0) for r in {"ranks": range(n)}["ranks"]]

    def row(i: Any, n: Any, labels: Any, tables: Any, out: Any) -> None:
        for j in {"below": range(i + 1, n)}["below"]:
            out[j] = (labels[j] - labels[i]) * (tables[1, i] - tables[1, j])

    made = rw.measure(own_dcg, name="words", prepare=prepare, row=row, tables=1)
    np.testing.assert_allclose(
        lambdas(made)[0], lambdas(rw.measure("dcg(gain=linear)"))[0], rtol=1e-4, atol=1e-6
    )


def test_an_error_inside_a_measure_reaches_the_user() -> None:
    def fragile(labels: Any) -> Any:
        if labels.size > 12:
            raise ArithmeticError("too long for me")
        return labels.tolist()[0]

    made = rw.measure(fragile)
    lists = Lists(np.array([0.0, 1.0] * 7), np.array([0, 14]))
    with pytest.warns(rw.SlowWarning), pytest.raises(ArithmeticError, match="too long for me"):
        Lambdas(lists, made).at(np.arange(14.0))


def test_what_is_no_number_is_not_left_out_of_the_mean() -> None:
    @rw.measure
    def doubtful(labels: Any) -> Any:
        return np.nan if labels.size > 12 else labels[0]

    message = (
        r"query number 1 \(from 0\): doubtful gives nan for the ranked labels \[2, 1, .*, …\]; a measure"
    )
    with pytest.raises(rw.InputError, match=message):
        rw.evaluate(range(15, 0, -1), [1, 2, *[1] * 13], doubtful, qid=[0, *[1] * 14])


def test_slowness_is_said_once() -> None:
    def slow_one(labels: Any) -> Any:
        return labels[0]

    made = rw.measure(slow_one)
    lists, scores = some_queries()
    with pytest.warns(rw.SlowWarning, match="slow_one has no row of swap gains: .* give row= for speed"):
        Lambdas(lists, made).at(scores)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Lambdas(lists, made).at(scores)
        Lambdas(lists, made.replace(blank=0)).at(scores)


@pytest.mark.skipif(JIT_OFF, reason="nothing is compiled")
def test_a_truth_made_a_float_compiles() -> None:
    def first_two_found(labels: Any) -> float:
        return float((labels[:2] > 0).any())

    made = rw.measure(first_two_found)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert made.value_kernel.compiled(np.array([0.0, 2.0, 0.0]), 1.0, np.ones(3)) == 1.0


@pytest.mark.skipif(JIT_OFF, reason="nothing is compiled")
def test_why_a_function_runs_in_python_is_said() -> None:
    def wordy(labels: Any) -> Any:
        return labels.tolist()[0]

    made = rw.measure(wordy)
    with pytest.warns(rw.SlowWarning, match="wordy runs in Python, .* Numba cannot compile it: .*tolist"):
        assert made.value_kernel.compiled(np.array([2.0]), 1.0, np.ones(1)) == 2.0


@pytest.mark.skipif(JIT_OFF, reason="Numba compiles nothing")
def test_what_numba_compiled_already_is_welcome() -> None:
    import numba

    made = rw.measure(numba.njit(own_dcg), name="compiled_before")
    np.testing.assert_array_equal(lambdas(made)[0], lambdas(rw.measure(own_dcg))[0])


def test_pickling_goes_by_name() -> None:
    made = own_measures.second_is_relevant
    custom.REGISTERED[made.name] = made
    assert pickle.loads(pickle.dumps(made)) is made
    assert copy.deepcopy(made) is made
    changed = pickle.loads(pickle.dumps(made.replace(blank=0)))
    assert changed == made.replace(blank=0) and changed != made


def test_another_process_finds_a_pickled_measure_in_its_module() -> None:
    custom.REGISTERED[own_measures.second_is_relevant.name] = own_measures.second_is_relevant
    text = pickle.dumps(own_measures.second_is_relevant).hex()
    code = f"import pickle; print(pickle.loads(bytes.fromhex('{text}')).value([0, 1]))"
    root = Path(__file__).parents[2]
    run = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "1.0"


def test_a_pickled_measure_that_is_nowhere_says_so() -> None:
    made = rw.measure(first_two, name="forgotten")
    text = pickle.dumps(made)
    del custom.REGISTERED["forgotten"]
    with pytest.raises(rw.InputError, match=r"forgotten .* not registered here; define it first"):
        pickle.loads(text)


def wrong_row(i: Any, n: Any, labels: Any, tables: Any, out: Any) -> None:
    for j in range(i + 1, n):
        out[j] = labels[j] - labels[i]


def lazy_row(i: Any, n: Any, labels: Any, tables: Any, out: Any) -> None:
    """Leaves out what does not change."""
    for j in range(i + 1, n):
        if i == 0 and labels[j] != labels[0]:
            out[j] = labels[j] - labels[0]


def failing_row(i: Any, n: Any, labels: Any, tables: Any, out: Any) -> None:
    out[n] = 0.0


def failing_prepare(n: Any, labels: Any, constant: Any, tables: Any) -> None:
    tables[7, 0] = 1.0


def sorting(labels: Any) -> float:
    labels.sort()
    return float(labels[0])


@pytest.mark.parametrize(
    ("function", "options", "words"),
    [
        (lambda labels: 1.0, {}, "'<lambda>' cannot be the name of a measure"),
        (
            lambda labels: labels[1],
            {"name": "x"},
            r"x fails on the labels \[1\]: IndexError.*single document",
        ),
        (
            lambda labels, k: 1.0,
            {"name": "x"},
            "x cannot be called as a function of the labels in ranked order",
        ),
        (lambda: 1.0, {"name": "x"}, "x cannot be called as a function of the labels"),
        (lambda labels: "high", {"name": "x"}, "x gives 'high'"),
        (lambda labels: None, {"name": "x"}, "x gives None"),
        (lambda labels: labels, {"name": "x"}, "x gives array"),
        (lambda labels: float("nan"), {"name": "x"}, "x gives nan"),
        (lambda labels: labels.sum() / 0.0 if labels.size > 2 else 0.0, {"name": "x"}, "x gives .*inf"),
        (sorting, {}, "sorting changes the labels that it is given"),
        (3, {"name": "x"}, "3 is not a measure; give its syntax"),
        (first_two, {"name": "ndcg"}, "ndcg is a measure already"),
        (first_two, {"name": "MAP"}, "MAP is a measure already"),
        (first_two, {"name": "first two"}, "'first two' cannot be the name"),
        (
            first_two,
            {"row": wrong_row},
            r"first_two's row gives 1 for swapping ranks 0 and 1 .* changes by 0",
        ),
        (lambda labels: labels[0], {"name": "x", "row": lazy_row}, "x's row gives nan"),
        (first_two, {"row": failing_row}, r"first_two's row fails on the labels \[1\]: IndexError"),
        (own_dcg, {"row": own_dcg_row, "prepare": failing_prepare, "tables": 1}, "own_dcg's prepare fails"),
        (own_dcg, {"row": own_dcg_row, "prepare": own_dcg_prepare}, "own_dcg's prepare fails .* IndexError"),
        (first_two, {"row": first_two}, "first_two's row cannot be called as a function of i, n, labels"),
        (first_two, {"row": wrong_row, "prepare": 1}, "first_two's prepare is 1"),
        (first_two, {"prepare": own_dcg_prepare}, "serve a row of swap gains; give row= too"),
        (first_two, {"tables": 2}, "give row= too"),
        (first_two, {"row": wrong_row, "tables": -1}, "tables is -1"),
        (first_two, {"blank": 3}, "blank=3"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_not_let_in(function: Any, options: dict[str, Any], words: str) -> None:
    before = dict(custom.REGISTERED)
    with pytest.raises(rw.InputError, match=words):
        rw.measure(function, **options)
    assert before == custom.REGISTERED


def test_what_a_measure_of_ones_own_does_not_take() -> None:
    rw.measure(first_two)
    with pytest.raises(rw.InputError, match="takes no cut-off and no convention"):
        rw.measure("first_two@3")
    with pytest.raises(rw.InputError, match="has no parameter 'gain'"):
        rw.measure("first_two(gain=linear)")
    with pytest.raises(rw.InputError, match="did you mean first_two"):
        rw.measure("first_tow")
