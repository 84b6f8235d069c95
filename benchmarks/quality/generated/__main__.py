"""Print what generated panels are like, kind by kind: `python -m benchmarks.quality.generated --panels 200`."""

from __future__ import annotations

import argparse
from time import perf_counter

import numpy as np

from benchmarks.quality.generated.alterations import alter
from benchmarks.quality.generated.mixture import KINDS, generate
from benchmarks.quality.generated.statistics import Statistics, describe
from benchmarks.quality.panel import Panel


def main() -> None:
    """Print a table of all kinds, then one of the mixture after alterations."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--panels", type=int, default=200, help="of each kind (default: %(default)s)")
    parser.add_argument("--kinds", nargs="*", default=[*KINDS, "mixture", "altered"])
    arguments = parser.parse_args()
    print("10th, 50th and 90th percentile over panels; gain: Dawid-Skene's accuracy minus the average's, in points")
    print(" | ".join(["kind", "votes", *Statistics._fields, "gain ≥ 10", "gain ≤ -10", "s / panel"]))
    for kind in arguments.kinds:
        print(row_of(kind, arguments.panels), flush=True)


def row_of(kind: str, n_panels: int) -> str:
    """A line of the table."""
    started = perf_counter()
    panels = [_panel(kind, seed) for seed in range(n_panels)]
    seconds = (perf_counter() - started) / n_panels
    found = np.array([describe(panel) for panel in panels])
    gain = found[:, Statistics._fields.index("gain")]
    votes = np.mean([panel.labels is not None for panel in panels])
    spans = [_span(column) for column in found.T]
    return " | ".join(
        [kind, f"{votes:.2f}", *spans, f"{np.mean(gain >= 0.1):.2f}", f"{np.mean(gain <= -0.1):.2f}", f"{seconds:.3f}"]
    )


def _panel(kind: str, seed: int) -> Panel:
    if kind == "altered":
        return alter(generate(seed), np.random.default_rng(seed))
    return generate(seed, None if kind == "mixture" else kind)


def _span(values: np.ndarray) -> str:
    known = values[~np.isnan(values)]
    return " ".join(f"{100 * value:.0f}" for value in np.quantile(known, [0.1, 0.5, 0.9])) if len(known) else "-"


if __name__ == "__main__":
    main()
