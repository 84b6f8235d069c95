"""Fit the intervals of estimated accuracies, and see whether they hold on families that were left out.

    python -m training.accuracy --work-dir WORK [--panels 4000] [--draws 100]

Run it after `python -m training`. Each panel is fused by weights that have not seen its family, and the accuracy of its
members and of two whole answers is compared with what was estimated. Two linear functions then say how far down and up
an interval reaches: they minimize the pinball loss, each family counting the same. The least that every interval
reaches are quantiles over all panels. The weights go to WORK/accuracy.npz, those without some families to
WORK/accuracy-folds. `python -m benchmarks.quality.estimates` scores them, also on regimes that nothing here has seen.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from rich.progress import Progress

from benchmarks.quality.estimates import accuracies, fused, whole_answers
from benchmarks.quality.families import side_of
from benchmarks.quality.methods import FOLDS
from benchmarks.quality.panel import Panel
from benchmarks.quality.prepare import fingerprint, prepare, sources_at
from consilience.aggregators.consensus.consensus import plain_rule
from consilience.aggregators.consensus.learned import network
from consilience.insight.accuracy import estimates
from consilience.insight.accuracy.estimates import voters_of
from consilience.system.atomic import whole_file
from training.crossfit import folds_of
from training.fit import Recipe, weights
from training.panels import Job, drawn_jobs, features_folder, generated_jobs, panel_of

MOST_VOTERS = 14
"""So many voters of a panel are learned from: two whole answers, and members at random."""

COVERAGE = 0.86
"""What the learned reach is fitted to hold, beside the least reach."""

LEAST_DOWN, LEAST_UP = 0.08, 0.96
"""The quantiles of the least reach: of the true share over the believed one, and of the log-odds that the true share is
above the higher belief. So a constant alone holds in nine of ten panels, whichever kind a panel is of."""

STEPS, LEARNING_RATE, RIDGE = 400, 0.03, 1e-4


class Rows(NamedTuple):
    """What was estimated of the voters of a panel, and what is true."""

    features: np.ndarray  # (voters, features)
    believed: np.ndarray  # (voters,)
    independent: np.ndarray  # (voters,)
    truth: np.ndarray  # (voters,): accuracies
    family: str


def rows_of(panel: Panel) -> Rows | None:
    """The voters of a panel whose accuracy is known; None where nothing is fused."""
    model = fused(panel)
    found = voters_of(panel.predictions, model, whole_answers(panel, model))
    truth = accuracies(panel, found)
    is_known = np.isfinite(truth) & np.isfinite(found.believed)
    rng = np.random.default_rng(0)
    order = np.argsort(np.where(np.arange(len(truth)) < panel.n_members, 1 + rng.random(len(truth)), 0))
    some = [place for place in order.tolist() if is_known[place]][:MOST_VOTERS]
    if not some or plain_rule(model).trust == 0:
        return None
    return Rows(found.features[some], found.believed[some], found.independent[some], truth[some], panel.family)


def fit(rows: Sequence[Rows], coverage: float = COVERAGE) -> estimates.Intervals:
    """The two linear functions, and the least reach."""
    shares = weights(rows, Recipe(real=0.4))
    of_row = np.concatenate([np.full(len(one.truth), w / len(one.truth)) for one, w in zip(rows, shares, strict=True)])
    share = torch.tensor(of_row / of_row.sum())
    values = np.concatenate([one.features for one in rows])
    mean = of_row @ values / of_row.sum()
    deviation = np.sqrt(of_row @ (values - mean) ** 2 / of_row.sum()) + 1e-3
    scaled = torch.tensor(np.clip((values - mean) / deviation, -estimates.MOST_STANDARD, estimates.MOST_STANDARD))
    believed, independent, accuracy = (
        np.concatenate([getattr(one, name) for one in rows]) for name in ("believed", "independent", "truth")
    )
    lower, higher = (estimates.log_odds(base) for base in estimates.bases(believed, independent))
    down, up, truth = torch.tensor(lower), torch.tensor(higher), torch.tensor(accuracy)
    table = torch.zeros(scaled.shape[1], 2, dtype=torch.float64, requires_grad=True)
    bias = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([table, bias], lr=LEARNING_RATE)
    tail = (1 - coverage) / 2
    for _ in range(STEPS):
        reach = torch.nn.functional.softplus(scaled @ table + bias)
        low, high = torch.sigmoid(down - reach[:, 0]), torch.sigmoid(up + reach[:, 1])
        loss = (share * (_pinball(truth - low, tail) + _pinball(truth - high, 1 - tail))).sum()
        loss = loss + RIDGE * (table**2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    least = (
        _quantile(accuracy / np.maximum(believed, 1 - estimates.MOST_SURE), of_row, LEAST_DOWN),
        _quantile(estimates.log_odds(accuracy) - higher, of_row, LEAST_UP),
    )
    return estimates.Intervals(table.detach().numpy(), bias.detach().numpy(), mean, deviation, np.array(least))


def _pinball(error: torch.Tensor, quantile: float) -> torch.Tensor:
    return torch.maximum(quantile * error, (quantile - 1) * error)


def _quantile(values: np.ndarray, share: np.ndarray, quantile: float) -> float:
    """The smallest value with this share of all at or below it."""
    order = np.argsort(values)
    return float(values[order][np.searchsorted(np.cumsum(share[order]), quantile * share.sum())])


def job_rows(job: Job) -> Rows | None:
    """The rows of a job's panel."""
    torch.set_num_threads(1)
    return rows_of(panel_of(job))


def main() -> None:
    """Make rows, fit, keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work-dir", type=Path, required=True)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--shared-dir", type=Path)
    parser.add_argument("--panels", type=int, default=4000, help="how many are generated")
    parser.add_argument("--draws", type=int, default=100, help="how many are drawn from each family")
    parser.add_argument("--coverage", type=float, default=COVERAGE, help="what intervals are fitted to hold")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    with Progress() as progress:
        bar = progress.add_task("panels of the bench", total=None)
        sources = sources_at(options.data_dir or options.work_dir / "data", options.shared_dir)
        entries = prepare(sources, options.work_dir, lambda name: progress.update(bar, description=name))
        progress.update(bar, total=len(entries), completed=len(entries))
        jobs = generated_jobs(options.panels) + drawn_jobs(entries, options.draws)
        done = progress.add_task("estimates", total=len(jobs))
        rows = _kept_rows(jobs, options, lambda: progress.advance(done))
    families = sorted({one.family for one in rows if side_of(one.family) == "tuning"})
    for families_out in [(), *folds_of(families)]:
        found = fit([one for one in rows if one.family not in families_out], options.coverage)
        name = f"accuracy-folds/{'+'.join(families_out)}.npz" if families_out else "accuracy.npz"
        path = options.work_dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            np.savez_compressed(file, **estimates.contents(found))
    print(f"Fitted to {sum(len(one.truth) for one in rows)} voters of {len(rows)} panels; see {options.work_dir.name}.")


def _kept_rows(jobs: Sequence[Job], options: argparse.Namespace, on_done: Callable[[], None]) -> list[Rows]:
    """The rows of all jobs; those that were made by the same code are read."""
    weights = fingerprint([Path(network.__file__).with_name("weights.npz"), *sorted(FOLDS.glob("*.npz"))])
    path = features_folder(options.work_dir) / f"accuracy-{options.panels}-{options.draws}-{weights}.npz"
    if path.exists():
        with np.load(path, allow_pickle=False) as file:
            return _split(
                *(file[name] for name in ("features", "believed", "independent", "truth", "sizes", "families"))
            )
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        rows = []
        for one in pool.map(job_rows, jobs, chunksize=8):
            rows += [] if one is None else [one]
            on_done()
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        np.savez(
            file,
            features=np.concatenate([one.features for one in rows]),
            believed=np.concatenate([one.believed for one in rows]),
            independent=np.concatenate([one.independent for one in rows]),
            truth=np.concatenate([one.truth for one in rows]),
            sizes=np.array([len(one.truth) for one in rows]),
            families=np.array([one.family for one in rows]),
        )
    return rows


def _split(*columns: np.ndarray) -> list[Rows]:
    """The rows of each panel, given the columns of all in the order of `Rows`, then the sizes and the families."""
    *values, sizes, families = columns
    ends = np.cumsum(sizes)
    return [
        Rows(*(column[end - size : end] for column in values), family=str(family))
        for end, size, family in zip(ends, sizes, families, strict=True)
    ]


if __name__ == "__main__":
    main()
