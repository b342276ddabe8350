"""Gradient-boosted trees on binned features; knows no ranking.

One module a stage: ``binning`` (values to bins), ``histogram`` (gradients summed by bin), ``splitting`` (the
best split of a histogram), ``growing`` (a tree, leaf by leaf, on all threads).
"""
