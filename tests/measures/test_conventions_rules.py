"""Conventions of tools that are scripts or need Java, against examples worked out from their rules by hand.

A query is a string of labels in ranked order here; "2010" is a list of four documents, the best first.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankwright as rw


def evaluated(
    measure: str, *queries: str, scores: list[float] | None = None, documents: list[str] | None = None
):
    """The result for some lists of labels, ranked as they are written unless scores are given."""
    labels = [float(label) for query in queries for label in query]
    qid = [number for number, query in enumerate(queries) for _ in query]
    documents = documents or [f"d{number}" for number in range(len(labels))]
    given = rw.QuerySet(np.zeros((len(labels), 1)), labels, qid=qid, documents=documents)
    ranked = [-float(rank) for query in queries for rank in range(len(query))]
    return rw.evaluate(scores or ranked, given, [measure])[measure]


def log2(x: float) -> float:
    return math.log2(x)


EXAMPLES = [
    # LETOR: gains 0, 1, 3; the first two ranks count fully, rank r as 1/log2(r).
    ("ndcg@2:letor", "2010", (3 + 0) / (3 + 1)),
    ("ndcg@3:letor", "2010", (3 + 0 + 1 / log2(3)) / (3 + 1 + 0)),
    ("ndcg@4:letor", "0012", (1 / log2(3) + 3 / log2(4)) / (3 + 1)),
    ("ndcg@4:letor", "0112", (1 + 1 / log2(3) + 3 / log2(4)) / (3 + 1 + 1 / log2(3))),
    ("ndcg@5:letor", "2010", 0.0),  # four documents: nothing stands at rank 5
    ("ndcg@2:letor", "0000", 0.0),
    ("p@5:letor", "2010", 2 / 5),  # padded with documents that are not relevant
    ("p@3:letor", "2010", 2 / 3),
    ("map:letor", "0210", (1 / 2 + 2 / 3) / 2),
    ("map:letor", "0000", 0.0),
    # MSLR: the same with gains 0, 1, 3, 7, 15, and relevant from label 2.
    ("ndcg@2:mslr", "1304", (1 + 7) / (15 + 7)),
    ("ndcg@4:mslr", "1304", (1 + 7 + 0 + 15 / log2(4)) / (15 + 7 + 1 / log2(3))),
    ("ndcg@5:mslr", "1304", 0.0),
    ("map:mslr", "1304", (1 / 2 + 2 / 4) / 2),
    ("map:mslr", "1011", 0.0),
    ("p@5:mslr", "1304", 2 / 5),
    # gdeval: gains 2^l − 1, discounts 1/ln(r + 1), whose base cancels; ERR stops with (2^l − 1)/16.
    ("ndcg@2:gdeval", "1304", (1 + 7 / log2(3)) / (15 + 7 / log2(3))),
    ("ndcg@20:gdeval", "1304", (1 + 7 / log2(3) + 15 / log2(5)) / (15 + 7 / log2(3) + 1 / log2(4))),
    ("err@2:gdeval", "1403", 1 / 16 + (15 / 16) * (15 / 16) / 2),
    ("err@20:gdeval", "1403", 1 / 16 + (15 / 16) * (15 / 16) / 2 + (15 / 16) * (1 / 16) * (7 / 16) / 4),
    # RankLib: gains 2^l − 1, 1/log2(r + 1), precision over the documents there are.
    ("ndcg@10:ranklib", "0210", (3 / log2(3) + 1 / log2(4)) / (3 + 1 / log2(3))),
    ("ndcg@10:ranklib", "0000", 0.0),
    ("ndcg@10:ranklib", "056", (31 / log2(3) + 63 / log2(4)) / (63 + 31 / log2(3))),
    ("dcg@2:ranklib", "0210", 3 / log2(3)),
    ("dcg@10:ranklib", "05", 31 / log2(3)),
    ("map:ranklib", "0210", (1 / 2 + 2 / 3) / 2),
    ("map:ranklib", "0000", 0.0),
    ("p@10:ranklib", "0210", 2 / 4),
    ("p@2:ranklib", "0210", 1 / 2),
    ("rr@10:ranklib", "0210", 1 / 2),
    ("rr@1:ranklib", "0210", 0.0),
    ("err@10:ranklib", "0210", (3 / 16) / 2 + (13 / 16) * (1 / 16) / 3),
    ("err@10:ranklib", "0000", 0.0),
]


IN_FILE_ORDER = [
    "ndcg@1:letor",
    "map:letor",
    "p@1:letor",
    "ndcg@1:mslr",
    "map:mslr",
    "p@1:mslr",
    "ndcg@1:ranklib",
    "dcg@1:ranklib",
    "map:ranklib",
    "rr@1:ranklib",
    "err@1:ranklib",
    "p@1:ranklib",
]


@pytest.mark.parametrize(("measure", "labels", "expected"), EXAMPLES)
def test_a_worked_example(measure: str, labels: str, expected: float) -> None:
    assert evaluated(measure, labels).mean == pytest.approx(expected, abs=1e-15)


def test_gdeval_leaves_blank_queries_out() -> None:
    assert evaluated("ndcg@2:gdeval", "10", "00", "01").mean == pytest.approx(
        (1 + 1 / log2(3)) / 2, abs=1e-15
    )
    assert evaluated("err@2:gdeval", "10", "00").mean == pytest.approx(1 / 16, abs=1e-15)


@pytest.mark.parametrize("measure", IN_FILE_ORDER)
def test_the_others_count_blank_queries_as_zero(measure: str) -> None:
    assert evaluated(measure, "20", "00").mean == evaluated(measure, "20").mean / 2 > 0


@pytest.mark.parametrize("measure", ["ndcg@1:gdeval", "err@1:gdeval"])
@pytest.mark.parametrize(("labels", "ranked"), [("01", "10"), ("10", "01")])
def test_gdeval_orders_ties_by_document_from_the_last(measure: str, labels: str, ranked: str) -> None:
    # "d9" stands behind "d10" as text, so it comes first.
    tied = evaluated(measure, labels, scores=[0.5, 0.5], documents=["d10", "d9"])
    assert tied.mean == evaluated(measure, ranked).mean


@pytest.mark.parametrize("measure", IN_FILE_ORDER)
@pytest.mark.parametrize("labels", ["02", "20"])
def test_the_others_keep_the_order_of_the_file(measure: str, labels: str) -> None:
    tied = evaluated(measure, labels, scores=[0.5, 0.5], documents=["d10", "d9"])
    assert tied.mean == evaluated(measure, labels).mean


@pytest.mark.parametrize(("measure", "expected"), [("map", 1 / 2), ("rr@2", 1 / 2), ("p@2", 1 / 2)])
def test_ranklib_finds_relevant_what_is_above_zero(measure: str, expected: float) -> None:
    result = rw.evaluate([2.0, 1.0], [0.0, 0.25], [f"{measure}:ranklib"], qid=1)
    assert result[f"{measure}:ranklib"].mean == expected


@pytest.mark.parametrize(
    ("measure", "label"),
    [
        ("ndcg@10:gdeval", "5"),
        ("err@10:gdeval", "5"),
        ("ndcg@10:letor", "3"),
        ("ndcg@10:mslr", "5"),
        ("err@10:ranklib", "5"),
    ],
)
def test_labels_beyond_the_scale_of_the_tool_are_refused(measure: str, label: str) -> None:
    with pytest.raises(rw.InputError, match=f"label {label} "):
        evaluated(measure, f"{label}0")
