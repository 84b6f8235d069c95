"""The scikit-learn meta-estimator: classifiers as members.

It may import from `aggregators`, `metrics` and the rooms that these build on.
"""

from consilience.ensemble.classifier import EnsembleClassifier as EnsembleClassifier
