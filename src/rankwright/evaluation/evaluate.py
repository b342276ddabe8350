"""``evaluate``: how good rankings are, by as many measures as wanted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from rankwright.data.queries import QuerySet
from rankwright.data.rankings import Rankings
from rankwright.data.trec import Qrels, Run
from rankwright.evaluation.result import Evaluation, MeasureResult
from rankwright.measures import measure as read_measure
from rankwright.measures.base import Measure
from rankwright.measures.lists import Lists
from rankwright.runtime.errors import InputError

Measures = str | Measure | Iterable[str | Measure]


def evaluate(
    what: Any,
    queries: Any = None,
    measures: Measures = "ndcg@10",
    *,
    qid: Any = None,
    documents: Any = None,
    query_weight: Any = None,
    complete: bool = False,
    n_jobs: int | None = None,
) -> Evaluation:
    """Measure a ranking of every query, and their means.

    ``what`` ranks: a fitted ranker or scorer, an array of scores (one a row, in the order in which the rows
    were given), a TREC run, or ``Rankings``. ``queries`` is a ``QuerySet``; for scores it may be the labels,
    with ``qid`` (and ``documents``, where ties are settled by id) beside it; for a run it is the qrels, and
    ``complete`` counts judged queries that the run lacks as 0 (run and qrels may be mappings, as pytrec_eval
    has them). ``query_weight`` weighs queries in the means.

    >>> result = evaluate([0.9, 0.2, 0.4], [0, 1, 2], ["ndcg@10", "p@1"], qid=["a", "a", "b"])
    >>> round(result["ndcg@10"].mean, 4)
    0.8155
    >>> result["p@1"].per_query
    array([0., 1.])
    """
    rankings = as_rankings(what, queries, qid=qid, documents=documents, complete=complete)
    if query_weight is not None:
        rankings = rankings.weighted(query_weight)
    return evaluate_rankings(rankings, as_measures(measures), n_jobs)


def evaluate_rankings(
    rankings: Rankings, measures: tuple[Measure, ...], n_jobs: int | None = None
) -> Evaluation:
    """Measure rankings: each list is sorted once, whatever the number of measures."""
    lists = Lists(
        rankings.labels,
        rankings.offsets,
        judged=rankings.judged,
        judged_offsets=rankings.judged_offsets,
        rows=rankings.rows,
        n_jobs=n_jobs,
    )
    ranked = lists.ranked(rankings.scores, rankings.documents)
    return Evaluation(
        MeasureResult(
            measure=measure,
            query_ids=rankings.query_ids,
            per_query=ranked.values(measure),
            query_weight=rankings.query_weight,
            ranked=ranked,
        )
        for measure in measures
    )


def as_measures(measures: Measures) -> tuple[Measure, ...]:
    """One measure or several, each an object or its syntax; none twice.

    >>> as_measures("ndcg@10")
    (ndcg@10,)
    """
    given: list[Any] = [measures]
    if isinstance(measures, Iterable) and not isinstance(measures, str):
        given = list(measures)
    if not given:
        raise InputError('no measure was given; give at least one, such as "ndcg@10"')
    read = (each if isinstance(each, Measure) else read_measure(each) for each in given)
    return tuple(dict.fromkeys(read))


def as_rankings(
    what: Any, queries: Any, *, qid: Any = None, documents: Any = None, complete: bool = False
) -> Rankings:
    """Whatever ranks, and what is known of the documents, as the one form that is evaluated."""
    if isinstance(what, Rankings):
        if queries is not None:
            raise InputError("rankings hold their own labels; give no queries beside them")
        return what
    if queries is None:
        raise InputError("there is nothing to evaluate on; give a QuerySet, labels with qid=…, or qrels")
    if isinstance(what, Run | Mapping) or isinstance(queries, Qrels | Mapping):
        return _of_run(what, queries, complete)
    if not isinstance(queries, QuerySet):
        return _of_labels(what, queries, qid, documents)
    if qid is not None or documents is not None:
        raise InputError("a QuerySet has its own qid and documents; give none beside it")
    return Rankings.of(queries, predictions(what, queries) if hasattr(what, "predict") else what)


def predictions(ranker: Any, queries: QuerySet) -> Any:
    """A ranker's scores; our own see the queries, any other object that predicts sees their features."""
    if is_ours(ranker):
        return ranker.predict(queries)
    return queries.in_given_order(np.asarray(ranker.predict(queries.features)))


def is_ours(ranker: Any) -> bool:
    """Whether a ranker takes query sets: those that derive from a class of Rankwright do."""
    return any(base.__module__.partition(".")[0] == "rankwright" for base in type(ranker).__mro__)


def _of_run(what: Any, qrels: Any, complete: bool) -> Rankings:
    """A run and its judgements; both may be mappings, the form of pytrec_eval."""
    run = Run.from_dict(what) if isinstance(what, Mapping) else what
    judged = Qrels.from_dict(qrels) if isinstance(qrels, Mapping) else qrels
    if not isinstance(run, Run):
        raise InputError(
            f"judgements go with a TREC run, and {type(run).__name__} is none; give rw.read_run(path)"
        )
    if not isinstance(judged, Qrels):
        raise InputError(
            f"a TREC run goes with judgements, and {type(judged).__name__} is none; give rw.read_qrels(path)"
        )
    return run.against(judged, complete=complete)


def _of_labels(what: Any, labels: Any, qid: Any, documents: Any) -> Rankings:
    if hasattr(what, "predict"):
        raise InputError(
            f"{type(what).__name__} predicts from features; give a QuerySet, or the scores in its place"
        )
    if qid is None:
        raise InputError("qid is missing; labels come with the query of each row, qid=…, or in a QuerySet")
    return Rankings.from_arrays(what, labels, qid=qid, documents=documents)
