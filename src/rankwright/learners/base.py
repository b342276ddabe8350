"""What all learners share: scikit-learn's conventions, the way in for data, predicting, scoring, saving.

A learner stores its parameters as given, implements ``_fit(queries, valid, …)``, and leaves ``scorer_`` (a
``Scorer``, which predicts, saves and is all that serving needs) and ``history_`` behind.
"""

from __future__ import annotations

import dataclasses
import inspect
import os
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from rankwright.data import QuerySet
from rankwright.measures import Measure
from rankwright.measures import measure as read_measure
from rankwright.measures.lists import Lists, mean_value
from rankwright.runtime.errors import InputError

DEFAULT_MEASURE = "ndcg@10"
NUMBERS = (int, float, np.number)
KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "int": (NUMBERS, "a whole number"),
    "float": (NUMBERS, "a number"),
    "bool": ((bool, np.bool_), "True or False"),
    "Sequence[int]": ((Sequence, np.ndarray), "whole numbers in a list"),
}
"""What a parameter that is declared so has to be, and how to say it."""
ROUTING = "sklearn.set_config(enable_metadata_routing=True)"


class Ranker(BaseEstimator):
    """The base of all learners.

    ``fit(X, y, qid=qid)`` and ``score(X, y, qid=qid)`` take arrays or a ``QuerySet`` in the place of ``X``;
    ``qid`` and ``query_weight`` are requested by default where scikit-learn routes metadata.
    """

    # How scikit-learn learns, on a class, what to route to which method.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"qid": True, "query_weight": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"qid": True, "query_weight": True}

    paper: ClassVar[str | None] = None
    """The paper that it comes from, by its year."""
    needs_swap_gains: ClassVar[bool] = False
    """Whether it trains on what a measure gains by a swap; others need a measure's value only, to select."""
    trains_for_measure: ClassVar[bool] = False
    """Whether it trains for its measure in another way."""
    always_for: ClassVar[tuple[str, ...]] = ()
    """The measures that it trains for by default, whatever it is selected by."""

    scorer_: Any
    history_: list[dict[str, Any]]
    n_features_in_: int

    @classmethod
    def accepts(cls, measure: str | Measure) -> bool:
        """Whether it can train for this measure, or needs no more than its value."""
        return not cls.needs_swap_gains or read_measure(measure).has_swap_gains

    def fit(
        self,
        X: ArrayLike | QuerySet,
        y: ArrayLike | None = None,
        *,
        qid: Any = None,
        sample_weight: ArrayLike | None = None,
        query_weight: ArrayLike | None = None,
        valid: QuerySet | tuple[Any, ...] | None = None,
        **options: Any,
    ) -> Self:
        """Learn from queries; ``valid`` (a QuerySet or ``(X, y, qid)``) selects and stops.

        ``progress=`` is called with each new record of ``history_``; the pairwise learners take
        ``preferences=`` in the place of labels.
        """
        _check_options(self._fit, options, type(self).__name__)
        _check_kinds(self)
        queries = as_queries(
            X,
            y,
            qid,
            sample_weight=sample_weight,
            query_weight=query_weight,
            labelled=options.get("preferences") is None,
        )
        if not queries.n_features:
            raise InputError("the data has no features; give at least one column")
        held_out = None
        if valid is not None:
            held_out = valid if isinstance(valid, QuerySet) else as_queries(*valid)
            if held_out.n_features != queries.n_features:
                raise InputError(
                    f"valid has {held_out.n_features} features and the training data {queries.n_features}; "
                    "give both the same features"
                )
        self.selection_measure  # noqa: B018 (a measure that there is not is refused before training)
        self.n_features_in_ = queries.n_features
        self._fit(queries, held_out, **options)
        return self

    def _fit(self, *data: Any, **options: Any) -> None:
        """Learn from ``(queries, valid, …)``, and set ``scorer_`` and ``history_``."""
        raise NotImplementedError

    def predict(self, X: ArrayLike | QuerySet, *, qid: Any = None) -> NDArray[np.float64]:
        """One score a row, in the order in which the rows were given."""
        return self._fitted().predict(X, qid=qid)

    def score(
        self,
        X: ArrayLike | QuerySet,
        y: ArrayLike | None = None,
        *,
        qid: Any = None,
        sample_weight: ArrayLike | None = None,
        query_weight: Any = None,
    ) -> float:
        """The mean of this learner's measure; queries may be weighted, documents may not."""
        if sample_weight is not None:  # a name that scikit-learn's pipelines ask every estimator to know
            raise InputError(
                f"{self.selection_measure!r} has no weights of documents; leave sample_weight out of score "
                "(in scikit-learn's searches: set_score_request(sample_weight=False))"
            )
        queries = as_queries(X, y, qid, query_weight=query_weight)
        return mean_measure(self.selection_measure, queries, self._fitted().predict(queries))

    @property
    def selection_measure(self) -> Measure:
        """The measure to select on and to ``score`` with."""
        given = getattr(self, "measure", None)
        return given if isinstance(given, Measure) else read_measure(given or DEFAULT_MEASURE)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write what was learned to a model file, which ``rankwright.load`` reads."""
        self._fitted().save(path)

    def _about(self, queries: QuerySet, **training: Any) -> dict[str, Any]:
        """What the scorer's file tells of where it comes from."""
        parameters = {
            name: value if value is None or isinstance(value, bool | int | float | str) else repr(value)
            for name, value in self.get_params(deep=False).items()
            if name != "n_jobs"  # the same model, byte for byte, at any number
        }
        return {
            "feature_names": queries.feature_names,
            "measure": self.selection_measure,
            "parameters": {"learner": type(self).__name__, **parameters},
            "training": {"queries": queries.n_queries, "documents": len(queries), **training},
        }

    def _fitted(self) -> Any:
        if not hasattr(self, "scorer_"):
            raise InputError(f"this {type(self).__name__} is not fitted; call fit first")
        return self.scorer_


def _check_options(fit: Callable[..., None], options: dict[str, Any], learner: str) -> None:
    """Refuse what this learner does not take."""
    known = inspect.signature(fit).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values()):
        return
    for name in options:
        if name not in known:
            raise InputError(f"{learner} has no {name}= to learn from; leave it out")


def _check_kinds(learner: Ranker) -> None:
    """Refuse parameters that are not of the kind that they are declared as; their bounds are for later."""
    for field in dataclasses.fields(learner) if dataclasses.is_dataclass(learner) else ():
        value, declared = getattr(learner, field.name), str(field.type)
        kind, _, none = declared.partition(" | ")
        if kind in KINDS and none in ("", "None") and not (none and value is None):
            kinds, wanted = KINDS[kind]
            if not isinstance(value, kinds) or isinstance(value, str):
                raise InputError(f"{field.name} is {value!r}; give {wanted}" + " or None" * bool(none))


def as_queries(
    X: ArrayLike | QuerySet,
    y: ArrayLike | None = None,
    qid: Any = None,
    *,
    sample_weight: ArrayLike | None = None,
    query_weight: ArrayLike | None = None,
    labelled: bool = True,
) -> QuerySet:
    """What a learner was given, as a QuerySet; refused without labels, unless they are not needed."""
    if isinstance(X, QuerySet):
        if y is not None or qid is not None:
            raise InputError("a QuerySet has its own labels and qid; give no y and no qid beside it")
        queries = X
        if sample_weight is not None or query_weight is not None:
            queries = queries.with_weights(sample_weight=sample_weight, query_weight=query_weight)
    else:
        if qid is None:
            raise InputError(
                "qid is missing; give the query of each row as qid=… "
                f"(inside scikit-learn's searches and pipelines, first call {ROUTING})"
            )
        queries = QuerySet(X, y, qid=qid, sample_weight=sample_weight, query_weight=query_weight)
    if labelled and queries.labels is None:
        raise InputError("the data has no labels; give y, one label a row")
    return queries


def mean_measure(measure: Measure, queries: QuerySet, scores: NDArray[np.float64]) -> float:
    """The (weighted) mean of a measure, for one score a row in the order in which the rows were given.

    >>> from rankwright.measures import NDCG
    >>> mean_measure(NDCG(), QuerySet([[0], [0]], [0, 1], qid=1), np.array([0.1, 0.2]))
    1.0
    """
    return judge(measure, queries)(queries.in_stored_order(scores))


def judge(measure: Measure, queries: QuerySet) -> Callable[[NDArray[np.float64]], float]:
    """A function that gives the mean of a measure for scores by stored row, for use again and again."""
    assert queries.labels is not None
    lists = Lists(queries.labels, queries.offsets, rows=queries.rows)
    return lambda scores: mean_value(
        lists.ranked(scores, queries.documents).values(measure), queries.query_weight
    )


def tells_apart(measure: Measure, queries: QuerySet, lists: Lists) -> NDArray[np.bool_]:
    """For each query, whether a measure tells two of its documents apart (those of weight 0 do not count).

    >>> from rankwright.measures import WTA
    >>> queries = QuerySet([[0], [0], [0], [0]], [0, 1, 1, 2], qid=[0, 0, 1, 1])
    >>> tells_apart(WTA(), queries, Lists(queries.labels, queries.offsets))
    array([ True, False])
    """
    assert queries.labels is not None
    out = np.isnan(queries.labels)
    if queries.sample_weight is not None:
        out |= queries.sample_weight == 0
    worth, firsts = np.where(out, np.nan, lists.gains(measure)[lists.codes]), queries.offsets[:-1]
    differ = np.fmax.reduceat(worth, firsts) > np.fmin.reduceat(worth, firsts)
    if queries.query_weight is not None:
        differ &= queries.query_weight > 0
    told: NDArray[np.bool_] = differ & (lists.constants(measure) != 0)
    return told


def generator(random_state: Any) -> np.random.Generator:
    """The random numbers that go with ``random_state``: a number, a generator of NumPy's, or None.

    >>> generator(0).integers(10) == generator(0).integers(10)
    np.True_
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"random_state is {random_state!r}; give a whole number, a generator or None"
        ) from error


def check_whole(learner: Any, *, none: bool = False, **least: int) -> None:
    """Refuse parameters that are no whole numbers of at least so much, nor None where that is allowed."""
    for name, lowest in least.items():
        value = getattr(learner, name)
        if value is None and none:
            continue
        if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < lowest:
            raise InputError(f"{name} is {value!r}; give a whole number of at least {lowest}")
