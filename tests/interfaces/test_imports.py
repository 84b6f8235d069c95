"""`import consilience` is light, and stays so."""

import subprocess
import sys

SCRIPT = """
import sys
import numpy, scipy.special, sklearn.base
before = {name.partition(".")[0] for name in sys.modules}
is_metrics_loaded = "sklearn.metrics" in sys.modules
import consilience
print(sorted({name.partition(".")[0] for name in sys.modules} - before - set(sys.stdlib_module_names)))
print("sklearn.metrics" in sys.modules, is_metrics_loaded)
"""


def test_import_loads_numpy_scipy_and_sklearn_base_alone():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["['array_api_compat', 'consilience']", "False False"]


def test_public_names():
    import consilience as cs

    public = {name for name in vars(cs) if not name.startswith("_")} - set(sys.modules)
    for name in (
        "Predictions",
        "Consensus",
        "Average",
        "MajorityVote",
        "DawidSkene",
        "BayesianClassifierCombination",
        "SoftDawidSkene",
        "evaluate",
        "evaluate_labels",
        "compare",
        "diagnose",
        "EnsembleClassifier",
        "explain",
        "suggest",
        "load",
        "read_predictions",
        "check_aggregator",
        "metrics",
    ):
        assert name in public
