"""The scikit-learn meta-estimator: classifiers as members.

It imports from `aggregators` and the rooms below it.
"""

from consilience.ensemble.classifier import EnsembleClassifier as EnsembleClassifier
