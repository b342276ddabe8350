"""A ranker trained elsewhere, adapted to a small new set (2010 section 7), beside training afresh.

    python -m benchmarks.adaptation

The old market has 300 queries of web-search data. In the new one half of the features are turned round, high
for low. 5 to 80 of its queries are labelled; 300 more are the test. LambdaMART adds trees to the old one's
scores, LambdaRank goes on from the old net, and a net is added to the old trees; beside them stand the old
rankers as they are, and the same learners trained afresh. NDCG@10 on the test.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import rankwright as rw
from benchmarks.common import arguments, table, write_json

OLD, TEST, SIZES = 300, 300, (5, 20, 80)


def shifted(queries: rw.QuerySet) -> rw.QuerySet:
    """The same queries with every other feature turned round about its middle."""
    X = np.array(queries.features)
    X[:, ::2] = X[:, ::2].max(axis=0) - X[:, ::2]
    return queries.with_features(queries.in_given_order(X))


def mean(ranker: Any, queries: rw.QuerySet) -> float:
    return float(rw.evaluate(ranker, queries, ["ndcg@10"])["ndcg@10"].mean)


def main() -> None:
    options = arguments(__doc__).parse_args()
    rows = []
    everything = rw.synthetic.web_search(OLD + TEST + SIZES[-1], random_state=3)
    old = everything.select(np.arange(OLD))
    test = shifted(everything.select(np.arange(OLD, OLD + TEST)))
    trees = {"n_estimators": 100, "learning_rate": 0.1, "max_leaf_nodes": 16}
    nets = {"hidden": 10, "epochs": 20}
    old_trees, old_net = rw.LambdaMART(**trees).fit(old), rw.LambdaRank(**nets).fit(old)
    few = {**trees, "n_estimators": 30, "min_samples_leaf": 50}
    for size in SIZES:
        new = shifted(everything.select(np.arange(OLD + TEST, OLD + TEST + size)))
        rows.append(
            {
                "new queries": size,
                "old LambdaMART": mean(old_trees, test),
                "afresh": mean(rw.LambdaMART(**few).fit(new), test),
                "adapted": mean(rw.LambdaMART(**few).fit(new, base=old_trees), test),
                "old LambdaRank": mean(old_net, test),
                "net afresh": mean(rw.LambdaRank(**nets).fit(new), test),
                "net adapted": mean(rw.LambdaRank(**nets, init=old_net).fit(new), test),
                "net on trees": mean(rw.LambdaRank(**nets).fit(new, base=old_trees), test),
            }
        )
    print(table(rows))
    if options.json:
        write_json(options.json, rows)


if __name__ == "__main__":
    main()
