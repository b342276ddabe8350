"""Learners: each turns labelled queries into a scorer. One file a learner."""
