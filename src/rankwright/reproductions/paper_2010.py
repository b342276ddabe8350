"""2010: "From RankNet to LambdaRank to LambdaMART: An Overview"."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwright.data import QuerySet
from rankwright.data.synthetic import web_search
from rankwright.evaluation import evaluate
from rankwright.learners.base import Ranker
from rankwright.learners.lambdamart import LambdaMART
from rankwright.measures import measure as read_measure
from rankwright.reproductions.contests import best_net, contest
from rankwright.reproductions.experiments import FOLDS, Experiment, Setting, Table
from rankwright.reproductions.rows import AtLeast, AtMost, Descending, Equals, Row, Within

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
    values = {name: read_measure(name).value(labels) for name in ("ndcg", "err")}
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

# LambdaMART beside LambdaRank and RankNet (section 7), and ERR trained for and tested (section 4.1)

MEASURES = ("ndcg@10", "err")


def rankers_pieces(setting: Setting) -> dict[str, Any]:
    """Artificial data, and a fold a piece of real data."""
    pieces: dict[str, Any] = {"artificial": lambda: artificial(setting)}
    for k in range(1, FOLDS + 1 if setting.full else 2):
        pieces[f"fold {k}"] = lambda k=k: per_query(setting, k)
    return pieces


def rankers(train: QuerySet, valid: QuerySet, setting: Setting) -> dict[str, Ranker]:
    """LambdaMART and LambdaRank for both measures, and RankNet."""
    epochs, trees = (100, 300) if setting.full else (5, 20)
    made: dict[str, Ranker] = {}
    for measure in MEASURES:
        about: dict[str, Any] = {"measure": measure, "n_jobs": setting.n_jobs}
        made[f"LambdaMART {measure}"] = LambdaMART(
            n_estimators=trees, max_leaf_nodes=15, early_stopping_rounds=50, **about
        ).fit(train, valid=valid)
        made[f"LambdaRank {measure}"] = best_net(
            "LambdaRank", train, valid, hidden=10, epochs=epochs, **about
        )
    made["RankNet"] = best_net("RankNet", train, valid, hidden=10, epochs=epochs, n_jobs=setting.n_jobs)
    return made


def artificial(setting: Setting) -> dict[str, Any]:
    """All of them on artificial data of a web search's shape."""
    train, valid, test = split_three(*((2000, (1000, 500, 500)) if setting.full else (150, (60, 30, 60))))
    return contest(rankers(train, valid, setting), test, MEASURES)


def split_three(queries: int, sizes: tuple[int, int, int]) -> list[QuerySet]:
    """Data to train, validate and test on."""
    data, ends = web_search(queries), np.cumsum(sizes)
    return [data.select(slice(int(end - size), int(end))) for end, size in zip(ends, sizes, strict=True)]


def per_query(setting: Setting, k: int) -> dict[str, Any]:
    """Each ranker's measures on each query of a fold's test part."""
    train, valid, test = setting.fold("mq2008", k)
    return {
        name: {measure: evaluate(ranker, test, measure)[measure].per_query.tolist() for measure in MEASURES}
        for name, ranker in rankers(train, valid, setting).items()
    }


def rankers_figures(results: Any) -> dict[str, Any]:
    """Means and p-values on both kinds of data."""
    found, folds = results["artificial"], [fold for name, fold in results.items() if name != "artificial"]
    figures = {f"artificial, {measure}": found["means"][measure] for measure in MEASURES}
    figures["artificial, p"] = found["p"]["ndcg@10"]["LambdaMART ndcg@10 - LambdaRank ndcg@10"]
    for measure in MEASURES:
        figures[f"MQ2008, {measure}"] = {
            name: float(np.nanmean(np.concatenate([np.array(fold[name][measure], float) for fold in folds])))
            for name in folds[0]
        }
    return figures


def rankers_tables(results: Any) -> list[Table]:
    """Means by ranker and measure."""
    figures = rankers_figures(results)
    return [
        Table(
            f"Means on test data, {data}",
            [
                {"ranker": name, **{measure: figures[f"{data}, {measure}"][name] for measure in MEASURES}}
                for name in figures[f"{data}, ndcg@10"]
            ],
        )
        for data in ("artificial", "MQ2008")
    ]


FEW = (
    "of 1,000 artificial queries LambdaRank ranks those that it is trained on better than RankNet does "
    "(an NDCG@10 of 0.516 beside 0.514), and others worse (0.493 beside 0.500): with so few, what it "
    "gains at the top of the list does not carry over. MQ2008 has fewer still; the papers trained on ten "
    "times as many"
)


def rankers_rows() -> tuple[Row, ...]:
    """The orders that the paper tells of."""
    trees, net, pairs = "LambdaMART ndcg@10", "LambdaRank ndcg@10", "RankNet"
    rows = []
    for data, slack in (("artificial", -0.1), ("MQ2008", -0.05)):
        rows += [
            Row(
                figure=f"{data}, ndcg@10",
                where="section 7",
                what=f"NDCG@10, {data}: {a} and {b}",
                published=f"{a.split()[0]} above {b.split()[0]}",
                expected=Descending(a, b),
                short=Descending(a, b, margin=slack),
                why="the order of the means; the short form has a tenth of the queries or steps",
                found=FEW if b == pairs else "",
            )
            for a, b in ((trees, net), (net, pairs))
        ]
        rows.append(
            Row(
                figure=f"{data}, err",
                where="section 4.1",
                what=f"ERR, {data}: LambdaRank trained for ERR, and RankNet",
                published="λ's for ERR optimise ERR",
                expected=Descending("LambdaRank err", pairs),
                short=Descending("LambdaRank err", pairs, margin=slack),
                why="the order of the means",
                found=FEW,
            )
        )
        rows.append(
            Row(
                figure=f"{data}, err",
                where="section 7",
                what=f"ERR, {data}: LambdaMART and LambdaRank, both trained for ERR",
                published="LambdaMART above LambdaRank",
                expected=Descending("LambdaMART err", "LambdaRank err"),
                short=Descending("LambdaMART err", "LambdaRank err", margin=slack),
                why="the order of the means",
            )
        )
    return (
        *rows,
        Row(
            figure="artificial, p",
            where="section 7",
            what="p of the paired t-test of LambdaMART against LambdaRank, NDCG@10, artificial",
            published="LambdaMART is better",
            expected=AtMost(0.05),
            why="significant at 95 %",
            full_only=True,
        ),
    )


RANKERS = Experiment(
    name="2010-rankers",
    title="LambdaMART beside LambdaRank and RankNet; ERR trained for and tested",
    paper="2010",
    data="artificial of a web search's shape, and MQ2008 (five folds)",
    pieces=rankers_pieces,
    figures=rankers_figures,
    tables=rankers_tables,
    rows=rankers_rows(),
)

# Adaptation (section 7: LambdaMART begins with a base model's scores) and combination (section 7.1)


def further_pieces(setting: Setting) -> dict[str, Any]:
    """A model adapted to few queries of its own, and two rankers combined."""
    return {"adaptation": lambda: adaptation(setting), "combination": lambda: combination(setting)}


def adaptation(setting: Setting) -> dict[str, Any]:
    """NDCG@10 on a second domain: of a base model, of one adapted to few queries, and of one without base."""
    n, trees = (600, 100) if setting.full else (60, 20)
    elsewhere, (few, valid, test) = web_search(n, random_state=0), split_three(n, (n // 10, n // 5, n // 2))
    few, valid, test = (shifted(part) for part in (few, valid, test))
    settings: dict[str, Any] = {
        "n_estimators": trees, "max_leaf_nodes": 7, "learning_rate": 0.05, "n_jobs": setting.n_jobs,
    }  # fmt: skip
    base = LambdaMART(**settings).fit(elsewhere)
    adapted = LambdaMART(**settings).fit(few, valid=valid, base=base.scorer_)
    alone = LambdaMART(**settings).fit(few, valid=valid)
    return contest({"adapted": adapted, "base": base, "without base": alone}, test, ("ndcg@10",))


def shifted(queries: QuerySet) -> QuerySet:
    """The same queries where a tenth of the features has the other sign: a domain near by."""
    signs = np.where(np.arange(queries.n_features) % 10 == 0, -1, 1)
    assert queries.labels is not None
    return QuerySet(
        queries.features * signs.astype(np.float32),
        queries.labels,
        qid=np.repeat(np.arange(queries.n_queries), queries.sizes),
    )


def combination(setting: Setting) -> dict[str, Any]:
    """NDCG@10 on the data that combines, and the best of 1,001 weights tried one by one."""
    import rankwright as rw

    n = 300 if setting.full else 40
    train, held_out, test = split_three(3 * n, (n, n, n))
    trees = LambdaMART(n_estimators=50, n_jobs=setting.n_jobs).fit(train)
    net = best_net("LambdaRank", train, held_out, hidden=10, epochs=20, n_jobs=setting.n_jobs)
    both = rw.combine(trees, net, "ndcg@10", held_out)
    learned = rw.blend([trees, net], "ndcg@10", held_out, learner=rw.LambdaRank(hidden=0, epochs=20))
    systems = {"combined": both, "learned": learned, "trees": trees, "net": net}
    first, second = trees.predict(held_out), net.predict(held_out)
    grid = [
        evaluate((1 - alpha) * first + alpha * second, held_out, "ndcg@10")["ndcg@10"].mean
        for alpha in np.linspace(0.0, 1.0, 1001 if setting.full else 101)
    ]
    return {
        "held out": {
            name: evaluate(each, held_out, "ndcg@10")["ndcg@10"].mean for name, each in systems.items()
        },
        "grid": max(grid),
        "test": contest(systems, test, ("ndcg@10",))["means"]["ndcg@10"],
    }


def further_figures(results: Any) -> dict[str, Any]:
    """What adapting and combining gain."""
    adapted, found = results["adaptation"]["means"]["ndcg@10"], results["combination"]
    held_out = found["held out"]
    return {
        "adaptation": adapted,
        "combined": held_out["combined"] - max(held_out["trees"], held_out["net"]),
        "grid": held_out["combined"] - found["grid"],
        "learned": found["test"]["learned"] - found["test"]["combined"],
    }


def further_tables(results: Any) -> list[Table]:
    """Both contests on test data."""
    found = {
        "Adaptation": results["adaptation"]["means"]["ndcg@10"],
        "Combination": results["combination"]["test"],
    }
    return [
        Table(
            f"{title}: NDCG@10 on test data", [{"ranker": name, "mean": mean} for name, mean in means.items()]
        )
        for title, means in found.items()
    ]


FURTHER = Experiment(
    name="2010-adaptation-combination",
    title="A base model adapted, and two rankers combined at the best weight",
    paper="2010",
    data="artificial of a web search's shape",
    pieces=further_pieces,
    figures=further_figures,
    tables=further_tables,
    revision=2,
    rows=(
        Row(
            figure="adaptation",
            where="section 7",
            what="NDCG@10 on another domain: adapted, and the base model",
            published="one can easily perform model adaptation",
            expected=Descending("adapted", "base"),
            short=Descending("adapted", "base", margin=-0.05),
            why="the order of the means; the short form adapts to 6 queries",
        ),
        Row(
            figure="adaptation",
            where="section 7",
            what="NDCG@10 on another domain: adapted, and trained on the same few queries alone",
            published="one can easily perform model adaptation",
            expected=Descending("adapted", "without base"),
            why="the order of the means",
        ),
        Row(
            figure="combined",
            where="section 7.1",
            what="NDCG@10 gained on the better ranker, on the data that combines",
            published="the highest possible of all linear combinations",
            expected=AtLeast(0.0),
            why="either ranker alone is a combination",
        ),
        Row(
            figure="grid",
            where="section 7.1",
            what="NDCG@10 above the best of 1,001 weights tried one by one",
            published="the highest possible of all linear combinations",
            expected=AtLeast(-1e-9),
            why="exact but for rounding",
        ),
        Row(
            figure="learned",
            where="section 7.1",
            what="test NDCG@10 of a linear LambdaRank on both scores, less that of the best combination",
            published="usually gives equally good results",
            expected=Within(0.0, 0.01),
            short=Within(0.0, 0.05),
            why="the width of a 95 % interval of a mean difference over 300 queries (40 in short)",
        ),
    ),
)

EXPERIMENTS = (FIGURE_1, RANKERS, FURTHER)
