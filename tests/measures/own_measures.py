"""A module with a measure of its own, as a user has one: pickled measures are found here by name."""

from __future__ import annotations

import rankwright as rw


@rw.measure
def second_is_relevant(labels):  # type: ignore[no-untyped-def]
    return float(labels[1] > 0) if labels.size > 1 else 0.0
