"""TREC files line by line, and a run joined with its judgements one document at a time."""

from __future__ import annotations


def table(text, document, number):
    """A nested dictionary of a file's numbers."""
    tables = {}
    for line in text.splitlines():
        if line.strip():
            fields = line.split()
            tables.setdefault(fields[0], {})[fields[document]] = float(fields[number])
    return tables


def joined(run, judgements, complete):
    """By query: (document, score, label or None) as retrieved, and the labels of all judged documents."""
    lists = {}
    for query, scores in run.items():
        if query in judgements:
            lists[query] = [
                (document, score, label_of(judgements[query], document)) for document, score in scores.items()
            ]
    if complete:
        for query in judgements:
            lists.setdefault(query, [])
    return {
        query: (retrieved, [label for label in judgements[query].values() if label >= 0])
        for query, retrieved in lists.items()
    }


def label_of(judged, document):
    label = judged.get(document, -1)
    return label if label >= 0 else None
