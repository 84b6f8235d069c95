"""Every method over every real set at hand, in one table.

    python -m benchmarks.quality --data-dir DATA --shared-dir SHARED --work-dir WORK

Members are trained and sets are made the first time, half an hour on one core, and kept in the work directory.
A third of the sets is held out of all tuning: the default part is the other two thirds, and scores of the held-out
part, and of a fresh one after it, are computed only where `--part` asks for them.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

import consilience as cs
from benchmarks.quality.build import build
from benchmarks.quality.methods import ABLATION, METHODS, YARDSTICK, Method, named
from benchmarks.quality.scores import item_weights, scores
from benchmarks.quality.store import Set, read_sets
from benchmarks.quality.table import Result, text, write_csv, write_json


def run(sets: list[Set], methods: dict[str, Method], n_draws: int) -> list[Result]:
    """Score all methods on all sets."""
    results = []
    for place, one in enumerate(sets, start=1):
        print(f"\r{place} of {len(sets)}: {one.name:60}", end="", file=sys.stderr, flush=True)
        results.append(score(one, methods, n_draws))
    print(file=sys.stderr)
    return results


def score(one: Set, methods: dict[str, Method], n_draws: int) -> Result:
    """Score all methods on one set; they see its predictions, and only the scores see its labels."""
    predictions, is_known = to_predictions(one.predictions), one.labels >= 0
    weights = item_weights(int(is_known.sum()), n_draws)
    result = Result(one.entry(), {}, {})
    for name, method in methods.items():
        started = time.perf_counter()
        posterior = method(predictions)
        result.seconds[name] = time.perf_counter() - started
        result.scores[name] = scores(posterior[is_known], one.labels[is_known], weights)
    return result


def to_predictions(array: np.ndarray) -> cs.Predictions:
    """Predictions of probabilities, or of labels where all rows are one-hot, as people's are."""
    is_missing = np.isnan(array[:, :, 0])
    if ((array == 0) | (array == 1))[~is_missing].all():
        return cs.Predictions.from_labels(np.where(is_missing, -1, array.argmax(axis=2)), array.shape[2])
    return cs.Predictions(array)


def main() -> None:
    """Make what is missing, score, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, required=True, help="with mnist, fashion-mnist, cifar10 and notmnist")
    parser.add_argument("--shared-dir", type=Path, help="with mmlu_prompts.npz, cifar10_resnets.npz and crowd.npz")
    parser.add_argument("--work-dir", type=Path, required=True, help="where members and sets are kept")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), help="of the registry, or module:function")
    parser.add_argument("--ablation", action="store_true", help="what each ingredient of Consensus gives, instead")
    parser.add_argument("--part", choices=["tuning", "held-out", "fresh", "all"], default="tuning")
    parser.add_argument("--draws", type=int, default=200, help="bootstrap draws of the items")
    parser.add_argument("--csv", type=Path, help="a row per set and method")
    parser.add_argument("--json", type=Path, help="the tables and the rows")
    options = parser.parse_args()
    names = list(ABLATION) if options.ablation else options.methods
    methods = {name: named(name) for name in dict.fromkeys([YARDSTICK, *names])}
    folder = build(options.data_dir, options.shared_dir, options.work_dir, lambda name: print(f"making {name}"))
    results = run(list(read_sets(folder, options.part)), methods, options.draws)
    print(text(results, options.part))
    if options.csv:
        write_csv(results, options.csv)
    if options.json:
        write_json(results, options.json)


if __name__ == "__main__":
    main()
