"""TREC's judgements (qrels) and runs: read, joined as trec_eval joins them, and written.

A line of judgements is ``query iteration document label``, one of a run ``query Q0 document rank score tag``,
columns apart by blanks or tabs. As in trec_eval the rank column is not read, and a label below 0 means
that the document is not judged.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
from collections import Counter
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwright.data.checks import document_ids
from rankwright.data.columns import Layout, read_columns
from rankwright.data.description import counted
from rankwright.data.queries import QuerySet
from rankwright.data.rankings import Rankings, score_column
from rankwright.runtime.arrays import Floats, Integers, group
from rankwright.runtime.errors import InputError
from rankwright.runtime.files import written_whole

QRELS = Layout("judgements", ("query", "iteration", "document", "label"), finite=True)
RUN = Layout("a run", ("query", "Q0", "document", "rank", "score", "tag"), finite=False)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class _Lists:
    """Documents of queries with one number each, by query between ``offsets``."""

    query_ids: tuple[str, ...]
    offsets: Integers
    documents: tuple[str, ...]
    values: Floats

    @classmethod
    def _of_mapping(cls, lists: Mapping[Any, Mapping[Any, float]], layout: Layout) -> Self:
        name = layout.columns[layout.number]
        if not lists:
            raise InputError(
                f"there are no queries; give a mapping of queries to mappings of documents to {name}s"
            )
        documents: list[str] = []
        values: list[float] = []
        for query, by_document in lists.items():
            if not isinstance(by_document, Mapping):
                raise InputError(f"query {query!r}: give a mapping of documents to {name}s")
            for document, value in by_document.items():
                if not isinstance(value, int | float | np.number) or not layout.accepts(float(value)):
                    raise InputError(
                        f"query {query!r}, document {document!r}: the {name} {value!r} is not a number"
                    )
                documents.append(str(document))
                values.append(float(value))
        offsets = np.concatenate([[0], np.cumsum([len(each) for each in lists.values()])]).astype(np.int64)
        return cls(tuple(map(str, lists)), offsets, tuple(documents), np.array(values))._distinct()

    @classmethod
    def _of_file(cls, path: str | os.PathLike[str], layout: Layout) -> Self:
        columns = read_columns(path, layout)
        offsets, query_ids, order = group(columns.queries, len(columns.queries))
        documents, values = columns.documents, columns.numbers
        if order is not None:
            documents, values = list(map(documents.__getitem__, order.tolist())), values[order]
        lists = cls(tuple(map(str, query_ids)), offsets, tuple(documents), values)
        twice = lists._twice()
        if twice is not None:
            row = twice if order is None else order[twice]
            raise InputError(
                f"{path}, line {columns.lines[row]}: document {documents[twice]!r} of query "
                f"{columns.queries[row]!r} stands here a second time; keep one of its lines"
            )
        return lists

    def _twice(self) -> int | None:
        """The place of a document that its query has already."""
        for begin, end in itertools.pairwise(self.offsets.tolist()):
            of_query = self.documents[begin:end]
            if len(set(of_query)) < end - begin:
                first: dict[str, int] = {}
                return next(
                    begin + place
                    for place, document in enumerate(of_query)
                    if first.setdefault(document, place) != place
                )
        return None

    def _distinct(self) -> Self:
        """The same, where no two queries and no two documents of one query are called the same."""
        if len(set(self.query_ids)) < len(self.query_ids):
            name = Counter(self.query_ids).most_common(1)[0][0]
            raise InputError(f"two queries are called {name!r} once written as text; give them distinct ids")
        twice = self._twice()
        if twice is not None:
            query = self.query_ids[int(np.searchsorted(self.offsets, twice, side="right")) - 1]
            raise InputError(
                f"document {self.documents[twice]!r} stands twice in query {query!r}; give it once"
            )
        return self

    def __repr__(self) -> str:
        queries = counted(len(self.query_ids), "query", "queries")
        return f"{type(self).__name__}({queries}, {counted(len(self.documents), 'document', 'documents')})"

    def _tables(self) -> dict[str, dict[str, float]]:
        values = self.values.tolist()
        return {
            query: dict(zip(self.documents[begin:end], values[begin:end], strict=True))
            for query, (begin, end) in zip(
                self.query_ids, itertools.pairwise(self.offsets.tolist()), strict=True
            )
        }


class Qrels(_Lists):
    """Judgements: labels of documents by query. Made by ``read_qrels`` or from a mapping.

    >>> Qrels.from_dict({"q1": {"d1": 2, "d2": 0}})
    Qrels(1 query, 2 documents)
    """

    @classmethod
    def from_dict(cls, judgements: Mapping[Any, Mapping[Any, float]]) -> Qrels:
        """Judgements as ``{query: {document: label}}``; a label below 0 means not judged."""
        return cls._of_mapping(judgements, QRELS)

    @property
    def labels(self) -> Floats:
        """The label of each document."""
        return self.values


class Run(_Lists):
    """What a system retrieved: scores of documents by query. Made by ``read_run`` or from a mapping.

    >>> run = Run.from_dict({"q1": {"d1": 0.5, "d2": 0.7, "d3": 0.1}})
    >>> run.against(Qrels.from_dict({"q1": {"d1": 2, "d2": 0, "d9": 1}})).labels
    array([ 2.,  0., nan])
    """

    @classmethod
    def from_dict(cls, scores: Mapping[Any, Mapping[Any, float]]) -> Run:
        """A run as ``{query: {document: score}}``, the form of pytrec_eval."""
        return cls._of_mapping(scores, RUN)

    @classmethod
    def of(cls, queries: QuerySet, scores: ArrayLike, documents: Any = None) -> Run:
        """Scores of a query set, one a row in the order given; ``documents`` are ids if it has none.

        >>> Run.of(QuerySet([[0], [0]], qid=7, documents=["a", "b"]), [0.1, 0.2])
        Run(1 query, 2 documents)
        """
        if documents is not None:
            given = np.array(document_ids(documents, len(queries)), object)
            ids = tuple(queries.in_stored_order(given).tolist())
        elif queries.documents is not None:
            ids = queries.documents
        else:
            raise InputError("the data has no document ids; a run needs them: give documents, one id a row")
        values = queries.in_stored_order(score_column(scores, len(queries)))
        return cls(tuple(map(str, queries.query_ids)), queries.offsets, ids, values)._distinct()

    @property
    def scores(self) -> Floats:
        """The score of each document."""
        return self.values

    def against(self, qrels: Qrels, complete: bool = False) -> Rankings:
        """The run with the labels that its documents have in the judgements (NaN: not judged).

        Queries without judgements are left out. Judged queries that the run lacks are left out too, unless
        ``complete``: then they count as lists without documents, as with trec_eval's ``-c``.
        """
        judgements = qrels._tables()
        kept = [number for number, query in enumerate(self.query_ids) if query in judgements]
        if not kept and not complete:
            raise InputError(
                f"no query of the run is judged; its ids are like {self.query_ids[0]!r}, "
                f"those of the judgements like {qrels.query_ids[0]!r}"
            )
        query_ids = [self.query_ids[number] for number in kept]
        bounds = [(int(self.offsets[number]), int(self.offsets[number + 1])) for number in kept]
        documents = [self.documents[begin:end] for begin, end in bounds]
        unjudged = itertools.repeat(np.nan)
        labels = [
            list(map(judgements[query].get, ids, unjudged))
            for query, ids in zip(query_ids, documents, strict=True)
        ]
        if complete:
            missing = [query for query in qrels.query_ids if query not in set(query_ids)]
            query_ids += missing
            labels += [[] for _ in missing]
        judged = [[label for label in judgements[query].values() if label >= 0] for query in query_ids]
        found, offsets = _joined(labels)
        all_judged, judged_offsets = _joined(judged)
        return Rankings(
            query_ids=tuple(query_ids),
            offsets=offsets,
            scores=np.concatenate([np.zeros(0), *(self.values[begin:end] for begin, end in bounds)]),
            labels=np.where(found < 0, np.nan, found),
            judged=all_judged,
            judged_offsets=judged_offsets,
            documents=tuple(itertools.chain.from_iterable(documents)),
        )

    def write(self, path: str | os.PathLike[str], tag: str = "rankwright") -> None:
        """Write a run file, each query from its best document to its worst, ties as trec_eval breaks them."""
        for ids, name in ((self.query_ids, "query id"), (self.documents, "document id"), ((tag,), "tag")):
            for text in ids:
                if len(text.split()) != 1 or text.strip() != text:
                    raise InputError(
                        f"the {name} {text!r} is empty or holds a blank, which a run file cannot keep"
                    )
        with written_whole(path) as draft, draft.open("w", encoding="utf-8", newline="\n") as file:
            for query, (begin, end) in zip(
                self.query_ids, itertools.pairwise(self.offsets.tolist()), strict=True
            ):
                documents, scores = self.documents[begin:end], self.values[begin:end].tolist()
                # Sorting is stable: first by document id, which is what breaks ties, descending.
                order = sorted(range(end - begin), key=documents.__getitem__, reverse=True)
                order.sort(key=scores.__getitem__, reverse=True)
                file.writelines(
                    f"{query} Q0 {documents[row]} {rank} {scores[row]!r} {tag}\n"
                    for rank, row in enumerate(order, 1)
                )


def read_qrels(path: str | os.PathLike[str]) -> Qrels:
    """Read TREC judgements; .gz, .xz, .bz2 and .zst files too.

    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "qrels.txt"
    >>> _ = path.write_text("q1 0 d1 2\\nq1 0 d2 0\\n")
    >>> read_qrels(path)
    Qrels(1 query, 2 documents)
    """
    return Qrels._of_file(path, QRELS)


def read_run(path: str | os.PathLike[str]) -> Run:
    """Read a TREC run; .gz, .xz, .bz2 and .zst files too.

    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "bm25.run"
    >>> _ = path.write_text("q1 Q0 d1 1 7.5 bm25\\nq1 Q0 d2 2 3.25 bm25\\n")
    >>> read_run(path).scores
    array([7.5 , 3.25])
    """
    return Run._of_file(path, RUN)


def write_run(
    queries: QuerySet,
    scores: ArrayLike,
    path: str | os.PathLike[str],
    *,
    tag: str = "rankwright",
    documents: Any = None,
) -> None:
    """Write scores of a query set, one a row in the order given, as a TREC run.

    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "mine.run"
    >>> write_run(QuerySet([[0], [0]], qid="q1", documents=["a", "b"]), [0.25, 0.5], path)
    >>> print(path.read_text(), end="")
    q1 Q0 b 1 0.5 rankwright
    q1 Q0 a 2 0.25 rankwright
    """
    Run.of(queries, scores, documents).write(path, tag)


def _joined(lists: list[list[float]]) -> tuple[Floats, NDArray[np.int64]]:
    sizes = np.fromiter(map(len, lists), np.int64, len(lists))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return np.fromiter(itertools.chain.from_iterable(lists), np.float64, int(offsets[-1])), offsets
