"""Solvers of regularised risks, of planes (cutting planes, Frank-Wolfe) and smooth ones.

They know no ranking. What they solve is written in ``problem.py``.
"""
