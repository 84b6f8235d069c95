"""Classifiers as members: the scikit-learn meta-estimator, and torch models over a loader.

It may import from `aggregators`, `metrics` and the rooms that these build on. Nothing is imported here, because torch
members do not need scikit-learn.
"""
