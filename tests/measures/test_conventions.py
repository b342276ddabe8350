from __future__ import annotations

import dataclasses

import pytest

import rankwright as rw
from rankwright.measures.conventions import CONVENTIONS, CUT, WHOLE
from rankwright.measures.syntax import known


def written(tool: str, name: str) -> list[str]:
    """The measure with and without a cut-off, where the tool has it so."""
    whole, cut = f"{name}:{tool}", f"{name}@7:{tool}"
    always_cut = "k" in CONVENTIONS[tool][name]
    if name in CUT:
        return [] if always_cut else [whole]
    if name in WHOLE or always_cut:
        return [cut]
    return [whole, cut] if takes_a_cutoff(name) else [whole]


def takes_a_cutoff(name: str) -> bool:
    kind, _ = known()[name]
    return any(field.name == "k" for field in dataclasses.fields(kind))


@pytest.mark.parametrize(
    "text", [text for tool, table in CONVENTIONS.items() for name in table for text in written(tool, name)]
)
def test_every_convention_makes_a_measure_that_prints_as_it_is_written(text: str) -> None:
    made = rw.measure(text)
    assert repr(made) == text
    assert rw.measure(repr(made.replace())) == made  # spelled out, without the name of the tool


def test_a_parameter_overrides_the_convention_and_is_spelled_out() -> None:
    made = rw.measure("ndcg@10(blank=0):xgboost")
    assert made == rw.measure("ndcg@10(blank=0)")
    assert repr(made) == "ndcg@10(blank=0)"
    assert repr(rw.measure("ndcg@10(ties=input):trec_eval")) == "ndcg@10(gain=linear, blank=0)"


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("ndcg:xgboost", "ndcg@32:xgboost"),
        ("map:xgboost", "ap@32:xgboost"),
        ("p:xgboost", "p@32:xgboost"),
        ("ndcg:ranklib", "ndcg@10:ranklib"),
        ("dcg:ranklib", "dcg@10:ranklib"),
        ("err:ranklib", "err@10:ranklib"),
        ("p:ranklib", "p@10:ranklib"),
        ("ndcg:gdeval", "ndcg@20:gdeval"),
        ("err:gdeval", "err@20:gdeval"),
        ("ndcg:catboost", "ndcg:catboost"),
    ],
)
def test_the_cutoff_that_a_tool_takes_where_none_is_written(text: str, printed: str) -> None:
    assert repr(rw.measure(text)) == printed


def test_all_that_a_convention_has_to_say_is_said() -> None:
    for tool, table in CONVENTIONS.items():
        for name, parameters in table.items():
            assert {"blank", "ties", "short"} <= set(parameters), (tool, name)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("err@10:lightgbm", "lightgbm has no err; it has ap@k, map, ndcg"),
        ("mrr@10:trec_eval", "trec_eval has no rr@k; it has ap@k, bpref, map, mrr, ndcg, p, recall"),
        ("map@10:ranklib", "ranklib has no ap@k; it has dcg, err, map, ndcg, p, rr@k"),
        ("rr:ranklib", "ranklib has no mrr; it has dcg, err, map, ndcg, p, rr@k"),
    ],
)
def test_a_measure_that_the_tool_lacks_is_refused_with_those_that_it_has(text: str, sentence: str) -> None:
    with pytest.raises(rw.InputError, match=f"^{sentence}$"):
        rw.measure(text)


def test_a_tool_that_is_not_known_is_refused_with_those_that_are() -> None:
    with pytest.raises(
        rw.InputError, match="there is no convention 'lucene'; there are catboost, gdeval, letor"
    ):
        rw.measure("ndcg@10:lucene")
