"""Doctests of modules that need a library of an optional extra run where it is installed."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") else ["*/torch.py"]
