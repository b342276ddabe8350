"""What "NDCG@10" stands for: one ranking, one set of labels, every tool's figure.

    python -m benchmarks.ndcg_confusion [FOLDER_OR_FILE] [--feature 25] [--json]

The folder holds LETOR's S1.txt to S5.txt (MQ2008's, where it lies beside the repository, unless another is
given); one feature is the score.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

import rankwright as rw
from rankwright.measures.conventions import CONVENTIONS

MQ2008 = Path(__file__).resolve().parents[2] / "shared" / "data" / "mq2008"
NDCG = ["ndcg@10", *(f"ndcg@10:{tool}" for tool in CONVENTIONS)]
OTHERS = {
    "from LETOR to LightGBM, one rule at a time": [
        "ndcg@10:letor",
        "ndcg@10(short=as-is):letor",
        "ndcg@10:ranklib",
        "ndcg@10:lightgbm",
    ],
    "a blank query, and what is relevant": [
        "map",
        "map(blank=0)",
        "map(blank=1)",
        "map(threshold=2, blank=0)",
    ],
    "what AP@5 divides by": ["ap@5(blank=0)", "ap@5(denominator=min(R,k), blank=0)"],
    "the discount": ["ndcg@5(blank=0)", "ndcg@5:letor"],
    "ties": [f"ndcg@10(blank=0, ties={ties})" for ties in ("input", "docid", "average", "worst")],
}


def read(path: Path) -> rw.QuerySet:
    """One LETOR file, or all of a folder's as one query set."""
    files = sorted(path.glob("S*.txt")) or sorted(path.glob("*.txt")) if path.is_dir() else [path]
    if not files:
        raise rw.InputError(
            f"{path}: there is no .txt file in this folder; give the folder of S1.txt to S5.txt"
        )
    parts = [rw.read_letor(file) for file in files]
    return rw.QuerySet(
        np.concatenate([part.features for part in parts]),
        np.concatenate([part.labels for part in parts]),
        qid=[
            query
            for part in parts
            for query, n in zip(part.query_ids, part.sizes, strict=True)
            for _ in range(n)
        ],
        documents=[document for part in parts for document in part.documents],
    )


def figures(queries: rw.QuerySet, feature: int) -> dict[str, dict[str, dict[str, Any]]]:
    """Every measure's mean and the number of queries in it, by topic."""
    if not 1 <= feature <= queries.n_features:
        raise rw.InputError(f"there is no feature {feature}; the data has 1 to {queries.n_features}")
    scores = queries.features[:, feature - 1]
    topics = {"NDCG@10": NDCG, **OTHERS}
    result = rw.evaluate(scores, queries, [measure for measures in topics.values() for measure in measures])
    return {
        topic: {
            measure: {
                "mean": result[measure].mean,
                "queries": int(np.isfinite(result[measure].per_query).sum()),
                "in full": repr(rw.measure(measure).replace()),
            }
            for measure in measures
        }
        for topic, measures in topics.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("path", type=Path, nargs="?", default=MQ2008)
    parser.add_argument("--feature", type=int, default=25, help="the feature that is the score, from 1 (25)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    table = figures(read(arguments.path), arguments.feature)
    if arguments.json:
        print(json.dumps({"feature": arguments.feature, "figures": table}, indent=2))
        return
    for topic, rows in table.items():
        print(f"\n{topic}\n")
        for measure, row in rows.items():
            print(f"  {measure:38} {row['mean']:.4f}  over {row['queries']:4} queries   {row['in full']}")


if __name__ == "__main__":
    main()
