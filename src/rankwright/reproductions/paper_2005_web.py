"""2005: RankNet beside the systems before it (section 6), in kind: MQ2008 in the place of the web data."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

import rankwright as rw
from rankwright.reproductions.experiments import FOLDS, Experiment, Setting, Table
from rankwright.reproductions.rows import Descending, Row

MEASURE = "ndcg@15"
PAPER = {  # Table 4's test column, Table 6's minutes
    "Quad PRank": (0.327, 2392),
    "Linear PRank": (0.412, 11),
    "OAP-BPM": (0.454, 623),
    "RankProp": (0.460, 23),
    "One layer net": (0.477, 67),
    "Two layer net": (0.488, 351),
}


def systems(setting: Setting) -> dict[str, Any]:
    """The six systems; the nets as section 5.1 trains them."""
    epochs = 100 if setting.full else 10
    plain: dict[str, Any] = {"measure": MEASURE, "epochs": epochs}
    pairs: dict[str, Any] = plain | {"training": "pair", "optimiser": "sgd", "init": "small"}
    pairs |= {"learning_rate": 0.001, "decay": 0.5}
    return {
        "Quad PRank": rw.PRank(form="quadratic", **plain),
        "Linear PRank": rw.PRank(**plain),
        "OAP-BPM": rw.OAPBPM(tau=0.3, n_perceptrons=100, n_jobs=1, **plain),
        "RankProp": rw.RankProp(hidden=0, n_jobs=1, **plain),
        "One layer net": rw.RankNet(hidden=0, **pairs),
        "Two layer net": rw.RankNet(hidden=10, **pairs),
    }


def pieces(setting: Setting) -> dict[str, Any]:
    """A fold and system a piece."""
    return {
        f"{name} {k}": lambda name=name, k=k: of_fold(setting, name, k)
        for k in range(1, FOLDS + 1 if setting.full else 2)
        for name in PAPER
    }


def of_fold(setting: Setting, name: str, k: int) -> dict[str, Any]:
    """NDCG@15 of each test query, that of the training queries, and the seconds of 100 epochs."""
    train, valid, test = setting.fold("mq2008", k)
    few = train.select(slice(0, 50))
    systems(setting)[name].set_params(epochs=1).fit(few, valid=few)  # its kernels are compiled
    ranker, began = systems(setting)[name], time.perf_counter()
    ranker.fit(train, valid=valid)
    seconds = 100 * (time.perf_counter() - began) / max(1, len(ranker.history_))
    values = {
        part: rw.evaluate(ranker, queries, MEASURE)[MEASURE].per_query
        for part, queries in (("test", test), ("train", train))
    }
    return {"seconds": seconds} | {
        part: each[~np.isnan(each)].round(6).tolist() for part, each in values.items()
    }


def figures(results: Mapping[str, Any]) -> dict[str, Any]:
    """Means over all folds' queries, and the mean seconds."""
    found: dict[str, dict[str, float]] = {"test": {}, "train": {}, "seconds": {}}
    for name in PAPER:
        folds = [each for piece, each in results.items() if piece.rpartition(" ")[0] == name]
        for part in ("test", "train"):
            found[part][name] = float(np.mean(np.concatenate([fold[part] for fold in folds])))
        found["seconds"][name] = float(np.mean([fold["seconds"] for fold in folds]))
    return found


def tables(results: Mapping[str, Any]) -> list[Table]:
    """Tables 4 to 6 with ours."""
    found = figures(results)
    rows = [
        {
            "system": name,
            "the paper's test": test,
            "ours test": found["test"][name],
            "ours train": found["train"][name],
            "the paper's minutes": minutes,
            "ours seconds": found["seconds"][name],
        }
        for name, (test, minutes) in PAPER.items()
    ]
    return [Table("NDCG@15 and the time of 100 epochs", rows)]


CLOSE = (
    "MQ2008 has 564 queries with relevant documents, so that a mean has a standard error above 0.01, as "
    "much as these two are apart. The paper, with 2,834 queries, does not find its two nets significantly "
    "different"
)
ON_THE_FLY = (
    "the paper's quadratic features were computed on the fly, 162,734 of 569; of MQ2008's 46 there are 1,127"
)


def rows() -> tuple[Row, ...]:
    """The orders of neighbours in Table 4, of the nets in Table 5, and of times in Table 6."""
    names = list(PAPER)
    about: dict[str, Any] = {"why": "an order; the numbers are of other data", "full_only": True}
    return (
        *(
            Row(
                figure="test",
                where="Table 4",
                what=f"NDCG@15 on test data: {better} and {worse}",
                published=f"{PAPER[better][0]:.3f} and {PAPER[worse][0]:.3f}",
                expected=Descending(better, worse),
                found=CLOSE,
                **about,
            )
            for worse, better in itertools.pairwise(names)
        ),
        Row(
            figure="test",
            where="Table 4",
            what="NDCG@15 on test data: the linear net and the linear PRank",
            published="0.477 and 0.412",
            expected=Descending("One layer net", "Linear PRank"),
            short=Descending("One layer net", "Linear PRank", margin=-0.1),
            why="an order; the short form has ten epochs of one fold",
        ),
        Row(
            figure="train",
            where="Table 5",
            what="NDCG@15 on training data: two layers and one",
            published="0.500 and 0.479",
            expected=Descending("Two layer net", "One layer net"),
            found=CLOSE,
            **about,
        ),
        *(
            Row(
                figure="seconds",
                where="Table 6",
                what=f"training time: {slow} and {fast}",
                published=f"{PAPER[slow][1]} and {PAPER[fast][1]} minutes",
                expected=Descending(slow, fast),
                found=ON_THE_FLY if slow == "Quad PRank" else "",
                **about,
            )
            for slow, fast in (
                ("Quad PRank", "OAP-BPM"),
                ("Two layer net", "One layer net"),
                ("One layer net", "RankProp"),
                ("RankProp", "Linear PRank"),
                ("OAP-BPM", "Linear PRank"),
            )
        ),
    )


TABLES_4_TO_6 = Experiment(
    name="2005-tables-4-6",
    title="RankNet beside PRank, OAP-BPM and RankProp",
    paper="2005",
    data="MQ2008, five folds, in the place of web search data",
    pieces=pieces,
    figures=figures,
    tables=tables,
    rows=rows(),
    revision=2,
)

EXPERIMENTS = (TABLES_4_TO_6,)
