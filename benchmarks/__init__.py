"""Benchmarks: one file a stage, and the side-by-side against peers."""
