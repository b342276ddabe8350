"""RankBoost and AdaRank from their boxes, pair by pair and query by query."""

import math


def rankboost(features, labels, queries, thresholds, rounds):
    """[(feature, θ, h of what is missing, α)] and the pairs' weights, which are kept one by one.

    ``thresholds[f]`` are those of feature f; the first of equals is taken, from the highest θ down.
    """
    pairs = [
        (i, j) for rows in queries for i in rows for j in rows if labels[i] < labels[j]
    ]  # (worse, better)
    d = {pair: 1 / len(pairs) for pair in pairs}
    total, made = len(pairs), []
    for _ in range(rounds):
        best = None
        for f in range(len(features[0])):
            for theta in sorted(thresholds[f], reverse=True):
                for missing in (0, 1):
                    h = [weak(x[f], theta, missing) for x in features]
                    r = sum(weight * (h[j] - h[i]) for (i, j), weight in d.items())
                    if best is None or abs(r) > abs(best[0]) + 1e-12:
                        best = (r, f, theta, missing, h)
        r, f, theta, missing, h = best
        least = 1 / (1 + total)
        alpha = 0.5 * math.log((1 + r + least) / (1 - r + least))
        made.append((f, theta, missing, alpha))
        d = {(i, j): weight * math.exp(alpha * (h[i] - h[j])) for (i, j), weight in d.items()}
        z = sum(d.values())
        d = {pair: weight / z for pair, weight in d.items()}
    return made, d


def weak(x, theta, missing):
    """1 above θ, 0 up to it."""
    return missing if math.isnan(x) else int(x > theta)


def adarank(features, queries, measure, rounds):
    """[(feature, sign, α)] of each round; ``measure(query, scores)``.

    The box would repeat a round that leaves the weights of queries as they were for ever: a weak ranker is
    set aside until they change.
    """
    m, n = len(queries), len(features[0])
    p, made, aside, total = [1 / m] * m, [], set(), [0.0] * len(features)
    rankers = [(f, sign) for sign in (1, -1) for f in range(n)]
    values = {
        (f, sign): [measure(q, [sign * features[i][f] for i in rows]) for q, rows in enumerate(queries)]
        for f, sign in rankers
    }
    for _ in range(rounds):
        left = [each for each in rankers if each not in aside]
        f, sign = max(left, key=lambda each: sum(a * b for a, b in zip(p, values[each], strict=True)))
        e = values[f, sign]
        above = sum(w * (1 + value) for w, value in zip(p, e, strict=True))
        alpha = 0.5 * math.log(above / sum(w * (1 - value) for w, value in zip(p, e, strict=True)))
        made.append((f, sign, alpha))
        total = [s + alpha * sign * x[f] for s, x in zip(total, features, strict=True)]
        powers = [math.exp(-measure(q, [total[i] for i in rows])) for q, rows in enumerate(queries)]
        before, p = p, [power / sum(powers) for power in powers]
        same = all(abs(a - b) < 1e-12 for a, b in zip(p, before, strict=True))
        aside = {*aside, (f, sign)} if same else set()
    return made
