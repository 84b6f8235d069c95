"""The public names, which `import consilience` offers; `EnsembleClassifier` alone waits until it is used."""

from consilience import datasets as datasets
from consilience import metrics as metrics
from consilience import plots as plots
from consilience.aggregators import Average as Average
from consilience.aggregators import BayesianClassifierCombination as BayesianClassifierCombination
from consilience.aggregators import Consensus as Consensus
from consilience.aggregators import DawidSkene as DawidSkene
from consilience.aggregators import MajorityVote as MajorityVote
from consilience.aggregators import SoftDawidSkene as SoftDawidSkene
from consilience.aggregators import checks as checks
from consilience.aggregators import load as load
from consilience.data.predictions import Predictions as Predictions
from consilience.ensemble import torch_members as _  # noqa: F401 - it adds Predictions.from_models
from consilience.files.recognition import read_predictions as read_predictions
from consilience.insight.agreement import agreement as agreement
from consilience.insight.analysis import diagnose as diagnose
from consilience.insight.answers import answers as answers
from consilience.insight.comparison import compare as compare
from consilience.insight.explanation import explain as explain
from consilience.insight.label_evaluation import value_of_labels as value_of_labels
from consilience.insight.monitoring import monitor as monitor
from consilience.insight.prevalence import prevalence as prevalence
from consilience.insight.suggestion import suggest as suggest
from consilience.metrics import evaluate as evaluate
from consilience.report import write_report as write_report
from consilience.system.errors import InvalidPredictions as InvalidPredictions
