"""Classifiers as members: the scikit-learn meta-estimator, and torch models over a loader.

It may import from `aggregators`, `metrics` and the rooms that these build on.
"""

from consilience.data.predictions import Predictions
from consilience.ensemble.classifier import EnsembleClassifier as EnsembleClassifier
from consilience.ensemble.torch_members import from_models

Predictions.from_models = staticmethod(from_models)  # added here, since `data` may not import from this room
