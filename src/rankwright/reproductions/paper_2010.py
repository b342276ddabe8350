"""2010: "From RankNet to LambdaRank to LambdaMART: An Overview"."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwright.measures import measure
from rankwright.reproductions import AtMost, Equals, Experiment, Row, Setting

# Figure 1: two relevant documents among sixteen; the top one goes down three ranks, the low one up five.

BEFORE, AFTER, LENGTH = (1, 15), (4, 10), 16


def figure_1_pieces(setting: Setting) -> dict[str, Any]:
    """Pairwise errors, NDCG and ERR of both lists."""
    return {"both lists": lambda: {"before": figure_1_list(BEFORE), "after": figure_1_list(AFTER)}}


def figure_1_list(relevant: tuple[int, ...]) -> dict[str, Any]:
    """What is measured of a list with relevant documents at these ranks."""
    labels = np.zeros(LENGTH)
    labels[np.array(relevant) - 1] = 1
    above = [int((labels[: rank - 1] == 0).sum()) for rank in relevant]
    values = {name: measure(name).value(labels) for name in ("ndcg", "err")}
    return {"errors": sum(above), **values}


def figure_1_figures(results: Any) -> dict[str, Any]:
    """The errors of both, and what the measures lose."""
    before, after = results["both lists"]["before"], results["both lists"]["after"]
    return {
        "errors before": before["errors"],
        "errors after": after["errors"],
        "NDCG's change": after["ndcg"] - before["ndcg"],
        "ERR's change": after["err"] - before["err"],
    }


FIGURE_1 = Experiment(
    name="2010-figure-1",
    title="Fewer pairwise errors, and a worse top",
    paper="2010",
    data="two relevant documents among sixteen",
    pieces=figure_1_pieces,
    figures=figure_1_figures,
    rows=(
        Row(
            figure="errors before",
            where="Figure 1, left",
            what="pairwise errors",
            published="13",
            expected=Equals(13),
            why="a count",
        ),
        Row(
            figure="errors after",
            where="Figure 1, right",
            what="pairwise errors",
            published="11",
            expected=Equals(11),
            why="a count",
        ),
        *(
            Row(
                figure=f"{name}'s change",
                where="Figure 1",
                what=f"{name} after minus before",
                published="this is not what we want",
                expected=AtMost(-0.01),
                why="a loss; the figure has no number",
            )
            for name in ("NDCG", "ERR")
        ),
    ),
)

EXPERIMENTS = (FIGURE_1,)
