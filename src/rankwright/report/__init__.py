"""The report: a comparison as one page that opens offline, and the same figures from Python.

``Comparison.to_html`` and ``Comparison.plot`` are the way in.
"""

from __future__ import annotations

from rankwright.report.figures import plot
from rankwright.report.html import page

__all__ = ["page", "plot"]
