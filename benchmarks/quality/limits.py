"""What labels would give that nothing without them can: the temperature that fits a panel best.

    python -m benchmarks.quality.limits --work-dir WORK [--side tuning]

For each panel, the average and Consensus with the one temperature that minimizes their NLL on that very panel, labels
in hand: no method that only sharpens or softens can do better, and a label-free one has to guess it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from benchmarks.quality.labels import panels_of
from benchmarks.quality.methods import METHODS


def nll(log_posterior: np.ndarray, labels: np.ndarray) -> float:
    """The mean negative log-likelihood."""
    return float(-log_posterior[np.arange(len(labels)), labels].mean())


def best_temperature(posterior: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """The temperature that minimizes the NLL, and that NLL."""
    logs = np.log(np.maximum(posterior, 1e-12))
    found = minimize_scalar(
        lambda t: nll(log_softmax(logs / np.exp(t), axis=1), labels), bounds=(-3, 3), method="bounded"
    )
    return float(np.exp(found.x)), float(found.fun)


def main() -> None:
    """Print the ratios of each panel, and their geometric means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work-dir", type=Path, required=True)
    parser.add_argument("--side", choices=["tuning", "held-out"], default="tuning")
    options = parser.parse_args()
    ratios = []
    print(f"{'NLL × the average' + chr(39) + 's':45} average, tempered  consensus  consensus, tempered  (temperatures)")
    for panel in panels_of(options.side, options.work_dir):
        is_known = panel.truth >= 0
        labels = panel.truth[is_known]
        average, consensus = (METHODS[name](panel)[is_known] for name in ("average", "consensus"))
        plain, answered = (nll(np.log(np.maximum(rows, 1e-12)), labels) for rows in (average, consensus))
        (t_average, tempered), (t_consensus, both) = (best_temperature(rows, labels) for rows in (average, consensus))
        ratios.append([tempered / plain, answered / plain, both / plain])
        print(
            f"{panel.name:45} {tempered / plain:17.3f} {answered / plain:10.3f} {both / plain:20.3f}"
            f"  ({t_average:.2f}, {t_consensus:.2f})"
        )
    means = np.exp(np.log(ratios).mean(axis=0))
    print(f"{'geometric mean':45} {means[0]:17.3f} {means[1]:10.3f} {means[2]:20.3f}")


if __name__ == "__main__":
    main()
