"""2009: "On the Local Optimality of LambdaRank".

Its web data is not ours to have: the random polynomial with its shape (26 documents a query, five levels,
binary measures that count labels of at least 2) stands in, and rows state the paper's claims.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from rankwright.data import QuerySet
from rankwright.data.synthetic import WEB_LEVELS, random_polynomial
from rankwright.diagnostics import directions_needed, effective_pairs, local_optimality
from rankwright.diagnostics.local_optimality import STEPS
from rankwright.evaluation import evaluate
from rankwright.evaluation.significance import paired_t
from rankwright.learners.base import Ranker
from rankwright.learners.lambdarank import LambdaRank
from rankwright.pairwise.rules import RULES
from rankwright.reproductions.contests import best_net, contest
from rankwright.reproductions.experiments import Experiment, Setting, Table
from rankwright.reproductions.rows import AtLeast, AtMost, Descending, Equals, Row
from rankwright.scorers import LinearScorer

Results = Mapping[str, Any]

NDCG, AT_TEN, MAP, MRR = MEASURES = ("ndcg", "ndcg@10", "map(threshold=2)", "mrr(threshold=2)")
NETS = {0: "single layer", 10: "two layers"}
SCHEDULE: Mapping[str, Any] = {"decay_chance": 0.3, "standardise": False}
DATA = "artificial polynomial of the web set's shape: 26 documents a query, five levels"
IN_KIND = "the paper's web data is not public; the claim is tested, not the number"


def web_like(queries: int, random_state: int = 0) -> QuerySet:
    """Artificial data of the shape of the paper's."""
    return random_polynomial(queries, 26, 50, levels=WEB_LEVELS, random_state=random_state)


def queries_from(data: QuerySet, begin: int, count: int) -> QuerySet:
    """So many queries from this one on."""
    return data.select(slice(begin, begin + count))


# Figures 1 to 4 and 6: 459 directions around the weights learned, and around random ones


def optimality_pieces(setting: Setting) -> dict[str, Any]:
    """Each measure and net; weights of early epochs and those for another measure; random weights."""
    pieces: dict[str, Any] = {}
    nets = NETS if setting.full else {0: NETS[0]}
    for measure in MEASURES if setting.full else (NDCG, MRR):
        for hidden, name in nets.items():
            pieces[f"{short(measure)}, {name}"] = lambda m=measure, h=hidden: learned(setting, m, h)
    pieces["random, single layer"] = lambda: random_weights(setting)
    if setting.full:
        for epochs in (7, 12):
            pieces[f"epoch {epochs}"] = lambda epochs=epochs: early(setting, AT_TEN, epochs)
        pieces["another measure"] = lambda: early(setting, MRR, EPOCHS[True])
    return pieces


EPOCHS = {True: 100, False: 30}
TRAINED_ON = {True: 10_000, False: 4000}
"""Queries; on a thousand the measure is too rough a staircase, and one direction in thirty rises by 0.001."""


def short(measure: str) -> str:
    """A measure's name without its parameters."""
    return measure.partition("(")[0]


def learned(setting: Setting, measure: str, hidden: int) -> dict[str, Any]:
    """Directions around the weights that LambdaRank learns for a measure."""
    train = web_like(TRAINED_ON[setting.full])
    net = best_net(
        "LambdaRank", train, train, measure=measure, hidden=hidden, epochs=EPOCHS[setting.full],
        n_jobs=setting.n_jobs, **SCHEDULE,
    )  # fmt: skip
    return around(net, train, measure, setting)


def around(net: Any, train: QuerySet, measure: str, setting: Setting) -> dict[str, Any]:
    """What 459 directions find around a net, and in the full form each weight alone."""
    steps = STEPS if setting.full else STEPS[::4]
    found = local_optimality(
        net, train, measure, steps=steps, every_weight=setting.full, n_jobs=setting.n_jobs
    )
    return {
        "directions": len(found.along),
        "ascents": int(found.ascents.any(axis=1).sum()),
        "alone": int(found.alone_ascents.any(axis=1).sum()),
        "start": found.start,
        "steps": found.steps.tolist(),
        "curves": found.along[:4].tolist(),
    }


def random_weights(setting: Setting) -> dict[str, Any]:
    """Directions around random weights, mean NDCG."""
    train = web_like(TRAINED_ON[setting.full])
    weights = np.random.default_rng(1).standard_normal(train.n_features)
    return around(LinearScorer(weights), train, NDCG, setting)


def early(setting: Setting, measure: str, epochs: int) -> dict[str, Any]:
    """Two-layer weights of few epochs or for another measure: directions for NDCG@10, and training on."""
    train = web_like(TRAINED_ON[setting.full])
    settings: dict[str, Any] = {"hidden": 10, "n_jobs": setting.n_jobs, **SCHEDULE}
    start = best_net("LambdaRank", train, train, measure=measure, epochs=epochs, **settings)
    on = best_net("LambdaRank", train, train, measure=AT_TEN, epochs=20, init=start, **settings)
    before = around(start, train, AT_TEN, setting)
    return before | {"gain": max(record["train"] for record in on.history_) - before["start"]}


def optimality_figures(results: Results) -> dict[str, Any]:
    """How many directions rise in each piece, what training on gains, and the number of directions."""
    figures: dict[str, Any] = {f"{name}, ascents": found["ascents"] for name, found in results.items()}
    figures |= {f"{name}, alone": found["alone"] for name, found in results.items()}
    figures |= {f"{name}, gain": found["gain"] for name, found in results.items() if "gain" in found}
    return figures | {"directions": directions_needed(0.01, 0.01)}


def optimality_tables(results: Results) -> list[Table]:
    """The curves of two directions a piece."""
    rows = [
        {"weights": name, "step": step, "direction": f"{name} {number}", "measure": value}
        for name, found in results.items()
        for number, curve in enumerate(found["curves"][:1], 1)
        for step, value in zip([0.0, *found["steps"]], [found["start"], *curve], strict=True)
    ]
    return [Table("The measure along the first direction", rows, ("step", "measure", "direction"))]


STAIRCASE = (
    "one weight moved by a tenth of the weights' root mean square turns a linear model by less than a "
    "degree. At that scale the measure is a staircase, and rises or falls by some 0.0001 by chance. The "
    "paper does not say how far it moves them"
)

OPTIMALITY = Experiment(
    name="2009-optimality",
    title="Learned weights are at local optima of their measures, random ones are not",
    paper="2009",
    data=DATA,
    pieces=optimality_pieces,
    figures=optimality_figures,
    tables=optimality_tables,
    revision=2,
    rows=(
        Row(
            figure="directions",
            where="section 5",
            what="directions for p₀ = δ = 0.01",
            published="459",
            expected=Equals(459),
            why="arithmetic",
        ),
        *(
            Row(
                figure=f"{short(measure)}, {name}, ascents",
                where=f"Figure {number}",
                what=f"of 459 directions, those that raise {short(measure)}, {name}",
                published="none",
                expected=Equals(0),
                short=AtMost(4),
                why=f"{IN_KIND}. The short form trains less; there it is the test's own claim, less than 1 %",
                full_only=hidden != 0 or measure not in (NDCG, MRR),
            )
            for number, measure in ((1, NDCG), (2, AT_TEN), (3, MAP), (4, MRR))
            for hidden, name in NETS.items()
        ),
        *(
            Row(
                figure=f"{short(measure)}, {name}, alone",
                where="section 7.1",
                what=f"weights that raise {short(measure)} when they are moved alone, {name}",
                published="none: the gradient vanishes at each learned weight",
                expected=Equals(0),
                why=IN_KIND,
                full_only=True,
                found=STAIRCASE,
            )
            for measure in MEASURES
            for hidden, name in NETS.items()
        ),
        Row(
            figure="random, single layer, ascents",
            where="Figure 6",
            what="of 459 directions, those that raise mean NDCG from random weights",
            published="some (two of four plotted)",
            expected=AtLeast(46),
            why="a tenth of the directions, of which four draws show two only once in twenty",
        ),
        *(
            row
            for piece, words in (
                ("epoch 7", "weights of epoch 7"),
                ("epoch 12", "weights of epoch 12"),
                ("another measure", "weights learned for MRR"),
            )
            for row in (
                Row(
                    figure=f"{piece}, ascents",
                    where="section 8",
                    what=f"of 459 directions, those that raise NDCG@10, {words}",
                    published="none",
                    expected=Equals(0),
                    why=IN_KIND,
                    full_only=True,
                ),
                Row(
                    figure=f"{piece}, gain",
                    where="section 8",
                    what=f"what training on gains, {words}",
                    published="training escapes them",
                    expected=AtLeast(1e-4),
                    why="a rise of the training NDCG@10 that shows in four digits",
                    full_only=True,
                ),
            )
        ),
    ),
)

# Tables 1 and 2: the λ constructions on a validation set


def rules_pieces(setting: Setting) -> dict[str, Any]:
    """A measure and rule a piece."""
    return {
        f"{short(measure)} {rule.__name__}": lambda m=measure, r=rule: rule_values(setting, m, r.__name__)
        for measure in (MAP, MRR)
        for rule in RULES
    }


def rule_values(setting: Setting, measure: str, rule: str) -> list[float]:
    """The measure of each query of validation data, by a linear net that follows a rule."""
    n = 1000 if setting.full else 60
    data = web_like(2 * n)
    train, valid = queries_from(data, 0, n), queries_from(data, n, n)
    net = best_net(
        "LambdaRank", train, valid, measure=measure, rule=rule, hidden=0, n_jobs=setting.n_jobs,
        epochs=40 if setting.full else 4, **SCHEDULE,
    )  # fmt: skip
    values = evaluate(net, valid, measure)[measure].per_query
    return list(values[~np.isnan(values)])


def rules_figures(results: Results) -> dict[str, Any]:
    """By measure, how far the best other rule is above RankNetWeightPairs, and the p of that difference."""
    figures: dict[str, Any] = {}
    for measure in (short(MAP), short(MRR)):
        found = {
            name.split()[1]: np.array(each)
            for name, each in results.items()
            if name.startswith(f"{measure} ")
        }
        own = found.pop("RankNetWeightPairs")
        best = max(found.values(), key=np.mean)
        figures[measure] = float(best.mean() - own.mean())
        figures[f"{measure}, p"] = paired_t(own - best)
    return figures


def rules_tables(results: Results) -> list[Table]:
    """All of them, best first, with the standard error."""
    rows: list[dict[str, Any]] = [
        {
            "measure": name.split()[0],
            "rule": name.split()[1],
            "mean": float(np.mean(each)),
            "standard error": float(np.std(each, ddof=1) / np.sqrt(len(each))),
        }
        for name, each in results.items()
    ]
    ranked = sorted(rows, key=lambda row: (row["measure"], -row["mean"]))
    return [Table("Means on validation data", ranked)]


def rules_rows(number: int, measure: str) -> tuple[Row, ...]:
    """The order, and whether it is more than chance."""
    return (
        Row(
            figure=measure,
            where=f"Table {number}",
            what=f"{measure} of the best other rule minus that of RankNetWeightPairs",
            published="RankNetWeightPairs is best",
            expected=AtMost(0.0),
            short=AtMost(0.1),
            why="the order; the short form has 60 queries and four epochs",
        ),
        Row(
            figure=f"{measure}, p",
            where=f"Table {number}",
            what=f"p of the paired t-test of RankNetWeightPairs and the best other rule, {measure}",
            published="it outperforms the others with statistical significance",
            expected=AtMost(0.05),
            why="significant at 95 %",
            full_only=True,
        ),
    )


RULES_RANKED = Experiment(
    name="2009-tables-1-2",
    title="The λ constructions ranked on validation data",
    paper="2009",
    data=DATA,
    pieces=rules_pieces,
    figures=rules_figures,
    tables=rules_tables,
    revision=2,
    rows=tuple(row for number, measure in ((1, "map"), (2, "mrr")) for row in rules_rows(number, measure)),
)
# Tables 3 and 4: training measure × test measure; Figure 5: the test measure at equal numbers of pairs

TEST = {True: 5000, False: 100}
VALID = {True: 2000, False: 50}
TRAIN = {True: {"small": 2500, "large": 10_000}, False: {"small": 100}}


def matching_pieces(setting: Setting) -> dict[str, Any]:
    """A size of training data a piece; the large one's pairs in pieces of their own."""
    pieces: dict[str, Any] = {
        name: functools.partial(matched, setting, dict.fromkeys(MEASURES, n))
        for name, n in TRAIN[setting.full].items()
    }
    pieces["pairs"] = lambda: pairs(setting)
    if setting.full:
        pieces["equal pairs"] = lambda: equal_pairs(setting)
    return pieces


def trained_for(measure: str, n: int, data: QuerySet, setting: Setting) -> Ranker:
    """A two-layer net for a measure on the first so many of the training queries."""
    train = queries_from(data, TEST[setting.full] + VALID[setting.full], n)
    valid = queries_from(data, TEST[setting.full], VALID[setting.full])
    return best_net(
        "LambdaRank", train, valid, rates=(1e-3, 1e-2), measure=measure, hidden=10, n_jobs=setting.n_jobs,
        epochs=60 if setting.full else 5, **SCHEDULE,
    )  # fmt: skip


def matched(setting: Setting, sizes: Mapping[str, int]) -> dict[str, Any]:
    """Nets for each measure on so many queries, tested by all."""
    data = web_like(TEST[setting.full] + VALID[setting.full] + max(sizes.values()))
    nets = {short(measure): trained_for(measure, n, data, setting) for measure, n in sizes.items()}
    found = contest(nets, queries_from(data, 0, TEST[setting.full]), MEASURES)
    return {part: {short(name): by for name, by in found[part].items()} for part in ("means", "p")}


def pairs(setting: Setting) -> dict[str, Any]:
    """Effective pairs of each measure with the documents as a net of few epochs ranks them; the bounds."""
    data = web_like(200 if setting.full else 100)
    net = LambdaRank(hidden=0, epochs=5, standardise=False, learning_rate=0.01).fit(data)
    found = {short(measure): effective_pairs(net, data, measure) for measure in MEASURES}
    rising = effective_pairs(net, data, MRR, counting="rising")
    return {
        "effective": {name: each.total for name, each in found.items()} | {"mrr": rising.total},
        "binary": int(found["map"].distinct.sum()),
        "multilevel": int(found["ndcg"].distinct.sum()),
    }


def equal_pairs(setting: Setting) -> dict[str, Any]:
    """MRR on all training queries, the others on as many as have so many effective pairs."""
    counted, most = pairs(setting)["effective"], TRAIN[True]["large"]
    sizes = {measure: max(20, round(most * counted["mrr"] / counted[short(measure)])) for measure in MEASURES}
    return matched(setting, sizes) | {"queries": {short(name): n for name, n in sizes.items()}}


def matching_figures(results: Results) -> dict[str, Any]:
    """Which training measure is best for each test measure, how surely, and the counts."""
    figures: dict[str, Any] = {}
    for size in ("small", "large"):
        for measure, means in results.get(size, {"means": {}})["means"].items():
            best = max(means, key=means.__getitem__)
            figures[f"{size}, {measure}"] = best
            figures[f"{size}, {measure}, matched"] = best == measure
            figures[f"{size}, {measure}, p"] = max(
                p for pair, p in results[size]["p"][measure].items() if measure in pair.split(" - ")
            )
    if "large" in results:
        for measure in ("mrr", "ndcg@10"):
            means = {size: results[size]["means"][measure] for size in ("small", "large")}
            figures[f"gap of {measure}"] = {size: by["ndcg"] - by[measure] for size, by in means.items()}
    counted = results["pairs"]
    figures["pairs"] = counted["effective"]
    figures["MRR's share"] = counted["effective"]["mrr"] / counted["binary"]
    figures["MAP's share"] = counted["effective"]["map"] / counted["binary"]
    figures["NDCG's share"] = counted["effective"]["ndcg"] / counted["multilevel"]
    figures["bounds"] = {"multilevel": counted["multilevel"], "binary": counted["binary"]}
    if "equal pairs" in results:
        for measure in ("mrr", "ndcg@10"):
            means = results["equal pairs"]["means"][measure]
            figures[f"equal pairs, {measure}"] = max(means, key=means.__getitem__)
            figures[f"equal pairs, {measure}, p"] = max(
                p for pair, p in results["equal pairs"]["p"][measure].items() if measure in pair.split(" - ")
            )
    return figures


def matching_tables(results: Results) -> list[Table]:
    """Each size of training data, a line a training measure."""
    return [
        Table(
            f"Means on test data, training data: {name}",
            [
                {"trained for": trained, **{test: found["means"][test][trained] for test in found["means"]}}
                for trained in next(iter(found["means"].values()))
            ],
        )
        for name, found in results.items()
        if "means" in found
    ]


def matching_rows() -> tuple[Row, ...]:
    """Tables 3 and 4, the counts, and Figure 5."""
    tables = (("small", 3, ("ndcg", "map")), ("large", 4, ("ndcg", "map")))
    matches = [
        row
        for size, number, measures in tables
        for measure in measures
        for row in match_rows(f"{size}, {measure}", f"Table {number}", measure)
    ]
    others = [
        Row(
            figure=f"{size}, {measure}, matched",
            where=f"Table {number}",
            what=f"whether training for {measure} is best for {measure}",
            published="no: training for mean NDCG is",
            expected=Equals(False),
            why="an order of means",
            full_only=True,
            found=NO_LESS,
        )
        for size, number, _ in tables
        for measure in ("ndcg@10", "mrr")
    ]
    gaps = [
        Row(
            figure=f"gap of {measure}",
            where="Tables 3 and 4",
            what=f"what training for NDCG gains in {measure} over training for it, less and more data",
            published=published,
            expected=Descending("small", "large"),
            why="the gap closes as pairs grow in number; the numbers are of other data",
            full_only=True,
        )
        for measure, published in (("mrr", "0.02, then 0.011"), ("ndcg@10", "0.02, then 0.004"))
    ]
    equal = [
        row
        for measure in ("mrr", "ndcg@10")
        for row in match_rows(f"equal pairs, {measure}", "Figure 5", measure)
    ]
    return (*matches, *others, *gaps, *equal, *counts_rows())


NO_LESS = (
    "the paper puts it down to too few effective pairs, and says that with more of them the match would win; "
    "here it wins already"
)


def match_rows(figure: str, where: str, measure: str) -> tuple[Row, Row]:
    """Training for the measure that is tested is best, and significantly so."""
    equal = " at equal numbers of effective pairs" * figure.startswith("equal")
    return (
        Row(
            figure=figure,
            where=where,
            what=f"the best training measure for {measure}{equal}",
            published=measure,
            expected=Equals(measure),
            why="the highest mean",
            full_only=True,
        ),
        Row(
            figure=f"{figure}, p",
            where=where,
            what=f"the largest p of training for {measure} against training for another{equal}",
            published="significant at 95 %",
            expected=AtMost(0.05),
            why="significant at 95 %",
            full_only=True,
        ),
    )


def counts_rows() -> tuple[Row, ...]:
    """Effective pairs and their bounds."""
    return (
        Row(
            figure="pairs",
            where="section 7.2",
            what="effective pairs",
            published="mean NDCG > NDCG@10 > MAP > MRR",
            expected=Descending("ndcg", "ndcg@10", "map", "mrr"),
            why="an order of counts",
        ),
        Row(
            figure="bounds",
            where="section 7.2",
            what="upper bounds of pairs",
            published="73 and 27 million (162 and 60 with more data)",
            expected=Descending("multilevel", "binary"),
            why="an order of counts; the numbers are of other data",
        ),
        Row(
            figure="MRR's share",
            where="section 7.2",
            what="MRR's effective pairs over the binary bound",
            published="1 to 2 magnitudes less",
            expected=AtMost(0.1),
            why="a magnitude",
        ),
        Row(
            figure="MAP's share",
            where="section 7.2",
            what="MAP's effective pairs over the binary bound",
            published="within a constant",
            expected=AtLeast(0.5),
            why="a constant of at most 2",
        ),
        Row(
            figure="NDCG's share",
            where="section 7.2",
            what="mean NDCG's effective pairs over the multilevel bound",
            published="within a constant",
            expected=AtLeast(0.5),
            why="a constant of at most 2",
        ),
    )


MATCHING = Experiment(
    name="2009-tables-3-4",
    title="Training for the measure that is tested, and how many pairs train",
    paper="2009",
    data=DATA,
    pieces=matching_pieces,
    figures=matching_figures,
    tables=matching_tables,
    rows=matching_rows(),
)

EXPERIMENTS = (OPTIMALITY, RULES_RANKED, MATCHING)
