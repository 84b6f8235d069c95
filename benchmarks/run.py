"""Speed and memory, side by side with the alternatives, on the same arrays with the same result.

    python benchmarks/run.py [NAME …] [--json FILE]

Each measurement runs in a process of its own. What counts are ratios: the machine may be shared and noisy. Memory is
what the process's peak rises by while it fits, the input being there already.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from data import crowd, probabilities
from yardsticks import dawid_skene_of_crowd_kit, soft_dawid_skene_in_torch

import consilience as cs

Measured = dict[str, Any]


def measure(function: Callable[[], Any], repeats: int = 1) -> tuple[Any, float, float]:
    """The result, the seconds of the fastest run, and by how many MB the process grew."""
    before, peak = resident(), [0.0]
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(0.02):
            peak[0] = max(peak[0], resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    seconds = []
    for _ in range(repeats):
        result = None  # so that no run has to find room beside another's result
        started = time.perf_counter()
        result = function()
        seconds.append(time.perf_counter() - started)
    stop.set()
    watcher.join()
    return result, min(seconds), max(0.0, peak[0] - before)


def resident() -> float:
    """The memory of this process now, in MB, without what is only mapped from files."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


# ---- Soft Dawid-Skene against a literal transcription ------------------------------------------------------

SDS = {
    "sds-10": (10_000, 10, 100, 5, "float32"),
    "sds-100": (10_000, 100, 100, 5, "float32"),
    "sds-1000": (50_000, 1000, 10, 1, "float32"),
    "sds-10-double": (10_000, 10, 100, 5, "float64"),
    "sds-100-double": (10_000, 100, 20, 5, "float64"),
}


def sds(name: str, side: str) -> tuple[Any, float, float]:
    """One side of a comparison with PyTorch's autograd."""
    n_items, n_classes, n_iter, steps, dtype = SDS[name]
    array = probabilities(3, n_items, n_classes, dtype)
    smoothing = 0.3 * n_items / n_classes**2
    if side == "theirs":
        soft_dawid_skene_in_torch(
            array[:, :10], averaging=[1e-3], optimizer_steps=1, init_smoothing=1.0
        )  # imports torch
        options = {"averaging": [1e-3] * n_iter, "optimizer_steps": steps, "init_smoothing": smoothing, "dtype": dtype}
        return measure(lambda: soft_dawid_skene_in_torch(array, **options), repeats=1 if n_classes == 1000 else 3)
    method = cs.SoftDawidSkene(max_iter=n_iter, optimizer_steps=steps, init_smoothing=smoothing, silent_classes="flat")
    return measure(lambda: method.fit(array).posterior_, repeats=1 if n_classes == 1000 else 3)


# ---- Dawid-Skene against crowd-kit -------------------------------------------------------------------------

DS = {"ds-10": (10_000, 10, 20), "ds-100": (10_000, 100, 20), "ds-1000": (50_000, 1000, 6)}


def ds(name: str, side: str) -> tuple[Any, float, float]:
    """One side of a comparison with crowd-kit; the third side is our own BCC."""
    n_items, n_classes, n_iter = DS[name]
    rng = np.random.default_rng(1)
    truth = rng.integers(n_classes, size=n_items)
    labels = np.where(rng.random((3, n_items)) < 0.7, truth, rng.integers(n_classes, size=(3, n_items)))
    if side == "theirs":
        member, item = np.divmod(np.arange(3 * n_items), n_items)
        warm_up()
        return measure(
            lambda: dawid_skene_of_crowd_kit(item, member, labels.ravel(), n_iter=n_iter, n_classes=n_classes),
            repeats=2 if n_classes == 1000 else 3,
        )
    kinds = {"ours": cs.DawidSkene(smoothing=0), "bcc": cs.BayesianClassifierCombination()}
    method = kinds[side].set_params(max_iter=n_iter, tol=None)
    predictions = cs.Predictions.from_labels(labels, n_classes)
    return measure(lambda: method.fit(predictions).posterior_, repeats=2 if n_classes == 1000 else 3)


def warm_up() -> None:
    """Import what crowd-kit needs, which is not what is measured."""
    dawid_skene_of_crowd_kit(np.array([0, 0]), np.array([0, 1]), np.array([0, 0]), n_iter=1, n_classes=2)


def crowds(side: str, n_iter: int) -> tuple[Any, float, float]:
    """A million answers of ten thousand workers."""
    item, member, label = crowd(1_000_000, 10_000, 200_000, 10)
    if side == "theirs":
        warm_up()
        return measure(lambda: dawid_skene_of_crowd_kit(item, member, label, n_iter=n_iter, n_classes=10), repeats=3)
    method = cs.DawidSkene(smoothing=0, max_iter=n_iter, tol=None)
    return measure(lambda: method.fit(cs.Predictions.from_answers(item, member, label)).posterior_, repeats=3)


# ---- our own limits ----------------------------------------------------------------------------------------


def gemm_rate() -> float:
    """The best rate of a large single-precision matrix product here, in GFLOP/s."""
    a, b = (np.random.default_rng(0).standard_normal((3000, 3000), dtype=np.float32) for _ in range(2))
    _, seconds, _ = measure(lambda: a @ b, repeats=8)
    return 2 * 3000**3 / seconds / 1e9


def full_fit() -> Measured:
    """The paper's ImageNet preset at full size: memory, and the share of the matrix-product rate."""
    array = probabilities(3, 50_000, 1000)
    rate = gemm_rate()
    method = cs.SoftDawidSkene.paper("imagenet")
    _, seconds, memory = measure(lambda: method.fit(array))
    products = 2 * 3 * 50_000 * 1000**2 * (method.max_iter + 1)  # an E step each, and the average's statistics
    return {
        "seconds": seconds,
        "added_mb": memory,
        "added_share_of_input": memory / (array.nbytes / 2**20),
        "gemm_gflops": rate,
        "share_of_gemm_rate": products / seconds / 1e9 / rate,
    }


def online() -> Measured:
    """Answering new items, beside the bare matrix product of the same shapes."""
    array = probabilities(3, 10_000, 100)
    sds_model, ds_model = cs.SoftDawidSkene(max_iter=5).fit(array), cs.DawidSkene(max_iter=5, tol=None).fit(array)
    batch, one = array[:, :1000], array[:, :1]
    weights = np.random.default_rng(0).standard_normal((3, 100, 100), dtype=np.float32)
    logs = np.log(batch)

    def bare() -> Any:
        return logs @ weights

    def by_hand() -> Any:
        scores = (np.log(np.maximum(batch, 1e-10)) @ weights).sum(axis=0)
        exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
        return exponentials / exponentials.sum(axis=1, keepdims=True)

    results = {}
    for name, function in {
        "bare_product_1000": bare,
        "log_product_softmax_by_hand_1000": by_hand,
        "sds_batch_1000": lambda: sds_model.predict_proba(batch, pure=True),
        "sds_mixed_batch_1000": lambda: sds_model.predict_proba(batch),
        "ds_batch_1000": lambda: ds_model.predict_proba(batch),
        "sds_one_item": lambda: sds_model.predict_proba(one),
        "sds_partial_fit_1000": lambda: sds_model.partial_fit(batch),
    }.items():
        _, seconds, _ = measure(function, repeats=50)
        results[f"{name}_ms"] = 1e3 * seconds
    by_hand_ms = results["log_product_softmax_by_hand_1000_ms"]
    results["share_of_by_hand"] = by_hand_ms / results["sds_batch_1000_ms"]
    results["share_of_bare_product"] = results["bare_product_1000_ms"] / results["sds_batch_1000_ms"]
    return results


def consensus() -> Measured:
    """Fits of Consensus, posterior and all, beside twenty iterations of Dawid-Skene on the same arrays; one item."""
    results = {}
    for n_items, n_classes in ((20_000, 10), (5_000, 100), (1_000, 1000)):
        array = probabilities(5, n_items, n_classes)
        model, seconds, memory = measure(lambda array=array: cs.Consensus().fit(array), repeats=3)
        _, yardstick, _ = measure(lambda array=array: cs.DawidSkene(max_iter=20, tol=None).fit(array), repeats=3)
        _, one, _ = measure(lambda model=model, array=array: model.predict_proba(array[:, :1]), repeats=50)
        results |= {
            f"{n_classes}_classes_seconds": seconds,
            f"{n_classes}_classes_over_dawid_skene": seconds / yardstick,
            f"{n_classes}_classes_added_mb": memory,
            f"{n_classes}_classes_one_item_ms": 1e3 * one,
        }
    return results


def import_time() -> Measured:
    """What `import consilience` adds to its dependencies, the best of seven."""
    script = (
        "import time; import numpy, scipy.special, sklearn.base; t = time.perf_counter(); "
        "import consilience; print(time.perf_counter() - t)"
    )
    runs = [
        float(subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout) for _ in range(7)
    ]
    return {"import_ms": 1e3 * min(runs)}


# ---- running it all ----------------------------------------------------------------------------------------


def side_of(name: str, side: str, result: Path) -> Measured:
    """One measurement, in this process; the posterior goes to a file."""
    if name.startswith("sds"):
        posterior, seconds, memory = sds(name, side)
    elif name.startswith("ds"):
        posterior, seconds, memory = ds(name, side)
    else:
        posterior, seconds, memory = crowds(side, 2 if name == "crowd-2" else 7)
    np.save(result, posterior)
    return {"seconds": seconds, "added_mb": memory}


def in_process(name: str, side: str, folder: str) -> Measured:
    """One measurement in a process of its own."""
    command = [sys.executable, __file__, "--side", side, "--folder", folder, name]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=Path(__file__).parent)
    measured: Measured = json.loads(done.stdout)
    return measured


def compare(name: str) -> Measured:
    """Ours against theirs: seconds, memory, their ratios, and the largest difference of the posteriors."""
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = in_process(name, "ours", folder), in_process(name, "theirs", folder)
        posteriors = [np.load(Path(folder) / f"{side}.npy", mmap_mode="r") for side in ("ours", "theirs")]
        difference = max(float(np.abs(a - b).max()) for a, b in zip(*posteriors, strict=True))
        row = {
            "ours_seconds": ours["seconds"],
            "theirs_seconds": theirs["seconds"],
            "times_faster": theirs["seconds"] / ours["seconds"],
            "ours_mb": ours["added_mb"],
            "theirs_mb": theirs["added_mb"],
            "largest_difference": difference,
        }
        if name.startswith("ds"):
            row["bcc_over_ds"] = in_process(name, "bcc", folder)["seconds"] / ours["seconds"]
    return row


def compare_crowds() -> Measured:
    """The same per iteration: seven iterations less two, so that reading the frame does not count."""
    few, more = compare("crowd-2"), compare("crowd-7")
    ours, theirs = ((more[f"{side}_seconds"] - few[f"{side}_seconds"]) / 5 for side in ("ours", "theirs"))
    return few | {
        "ours_seconds": ours,
        "theirs_seconds": theirs,
        "times_faster": theirs / ours,
        "ours_mb": more["ours_mb"],
        "theirs_mb": more["theirs_mb"],
    }


CASES: dict[str, Callable[[], Measured]] = {
    **{name: (lambda name=name: compare(name)) for name in [*SDS, *DS]},
    "crowd": compare_crowds,
    "online": online,
    "consensus": consensus,
    "import": import_time,
    "full-fit": full_fit,
}


def main() -> None:
    """Run the cases named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(CASES)}; all where none is given")
    parser.add_argument("--json", type=Path, help="where the figures go")
    parser.add_argument("--side", help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        print(json.dumps(side_of(options.names[0], options.side, Path(options.folder) / options.side)))
        return
    results: dict[str, Measured] = {}
    for name in options.names or CASES:
        results[name] = CASES[name]()
        print(f"{name:16}" + "  ".join(f"{key} {value:.4g}" for key, value in results[name].items()), flush=True)
        if options.json:
            known = json.loads(options.json.read_text(encoding="utf-8")) if options.json.exists() else {}
            options.json.write_text(json.dumps(known | results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
