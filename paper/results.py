"""Tidy results: one row per number, with everything that says where it comes from."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, get_type_hints

import numpy as np

from consilience.system.atomic import whole_file
from paper.errors import CannotReproduce

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Row(NamedTuple):
    """A number and where it comes from."""

    experiment: str
    task: str
    shift: str
    severity: float
    size: int  # members of the ensemble
    ensemble: int  # which of the independent ensembles
    method: str
    metric: str
    value: float
    scale: str  # at which it was made


class Key(NamedTuple):
    """What identifies a mean over independent ensembles."""

    task: str
    shift: str
    severity: float
    size: int
    method: str
    metric: str


class Summary(NamedTuple):
    """Mean and standard deviation over independent ensembles."""

    mean: float
    std: float
    n: int


HIGHER_IS_BETTER = {"accuracy", "auroc", "auroc entropy", "alone right", "alone right, no member"}


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """The rows as a CSV file, in order, so that it changes only where numbers do."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Row._fields)
    for row in sorted(rows):
        writer.writerow(row._replace(value=float(f"{row.value:.6g}")))
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        file.write(text.getvalue().encode())


def read_rows(path: Path) -> list[Row]:
    """The rows of a CSV file that `write_rows` wrote."""
    kinds = get_type_hints(Row)
    with path.open(encoding="utf-8", newline="") as file:
        found = csv.DictReader(file)
        if found.fieldnames is None or list(found.fieldnames) != list(Row._fields):
            raise CannotReproduce(f"{path} must have the columns {', '.join(Row._fields)}; got {found.fieldnames}")
        return [Row(**{name: kinds[name](value) for name, value in row.items()}) for row in found]


def summarized(rows: Iterable[Row]) -> dict[Key, Summary]:
    """Mean and standard deviation over ensembles."""
    values: dict[Key, list[float]] = defaultdict(list)
    for row in rows:
        values[Key(row.task, row.shift, row.severity, row.size, row.method, row.metric)].append(row.value)
    return {
        key: Summary(
            float(np.mean(found)), float(np.std(found, ddof=1)) if len(found) > 1 else float("nan"), len(found)
        )
        for key, found in values.items()
    }


def best_of(metric: str, values: Sequence[float], digits: int = 3) -> list[bool]:
    """Which values are the best as they print."""
    rounded = [round(value, digits) for value in values]
    finite = [value for value in rounded if np.isfinite(value)]
    if not finite:
        return [False] * len(rounded)
    best = max(goodness(metric, value) for value in finite)
    return [goodness(metric, value) == best for value in rounded]


def goodness(metric: str, value: float) -> float:
    """The value of a metric, transformed so that more is better."""
    return value if metric in HIGHER_IS_BETTER else -value


PAPER_METRICS = {"Accuracy": "accuracy", "ECE": "ece 300", "Brier score": "brier", "NLL": "nll"}
PAPER_SHIFTS = {"Frosted Glass Blur": "glass_blur", "Elastic": "elastic_transform", "JPEG": "jpeg_compression"}
PAPER_TASKS = {"imagenet-c": "imagenet", "imagenet-c-sizes": "imagenet", "cifar100-c-sizes": "cifar100"}

PAPER_FILE = Path(__file__).with_name("printed_results.csv")


def paper_summaries(*experiments: str) -> dict[Key, Summary]:
    """The numbers that the paper's tables print, of some of them, by our names."""
    with PAPER_FILE.open(encoding="utf-8", newline="") as file:
        return {
            _paper_key(row): Summary(float(row["mean"]), float(row["std"]), 3)
            for row in csv.DictReader(file)
            if row["experiment"] in experiments
        }


def _paper_key(row: dict[str, str]) -> Key:
    shift = PAPER_SHIFTS.get(row["corruption"], row["corruption"].lower().replace(" ", "_"))
    metric = PAPER_METRICS[row["metric"]]
    task = PAPER_TASKS[row["experiment"]]
    return Key(task, shift, float(row["severity"]), int(row["ensemble_size"]), row["method"], metric)
