"""The papers' numbers and claims, run again: ``rankwright reproduce``.

Each is a ``Row`` of data, and what measures it is an ``Experiment``, run in pieces whose results are kept as
JSON. There is one module a paper, ``paper_2010_….py``; all are found by their name. To add a table or figure:

1. **Write the experiment's pieces**: a function of a ``Setting`` that gives a dict of functions by name, each
   of which takes nothing and gives plain data (numbers, text, lists, dicts by text). ``setting.full`` tells
   the full form from the short one, ``setting.folder("mq2008")`` gives a folder of ``--data``,
   ``setting.fold(…)`` a fold of LETOR data in it. Pieces are what a run resumes by, so cut hours into pieces
   that end within half an hour in the full form, and keep the short form of an experiment to seconds.
2. **Write the function that sums them up**: from the pieces' results by name to a dict of figures, which the
   rows name. A claim in words ("A above B above C") is a figure too: the numbers that it orders.
3. **Write the rows**: where the number is printed, what the paper has, how ours is judged (``Within``,
   ``AtLeast``, ``AtMost``, ``Equals``, ``Descending``, and ``Drawn`` over random draws), and why with that
   tolerance. ``short`` is how the short form judges, where its data is smaller than the paper's;
   ``full_only`` leaves the row to the full form. A row that could not be run, or whose figure is missing,
   has failed.
4. **Put the Experiment into EXPERIMENTS** of its module. ``tables`` may make ``Table``s of what the pieces
   found, for the page; with ``chart=(x, y, series)`` a table is drawn too.

``paper_2010.py`` begins with the smallest complete example. No tolerance is widened to pass: a row that
misses stays a FAIL, and its ``found`` says what was found out about it.
"""

from __future__ import annotations

from rankwright.reproductions.experiments import Experiment, MissingData, Setting, Table
from rankwright.reproductions.rows import AtLeast, AtMost, Check, Descending, Drawn, Equals, Row, Within

__all__ = [
    "AtLeast",
    "AtMost",
    "Check",
    "Descending",
    "Drawn",
    "Equals",
    "Experiment",
    "MissingData",
    "Row",
    "Setting",
    "Table",
    "Within",
]
