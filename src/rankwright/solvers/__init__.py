"""Solvers of regularised risks: quadratic programmes in planes, by cutting planes or Frank-Wolfe; smooth ones.

They know no ranking. What they solve is written in ``problem.py``.
"""
