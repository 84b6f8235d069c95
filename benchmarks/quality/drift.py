"""Whether alarms of `cs.monitor` are as frequent as asked for without drift, and how soon they come with it.

    python -m benchmarks.quality.drift --work-dir WORK [-o results/drift]

After `python -m benchmarks.quality`, whose panels of tuning families it takes. A stream without drift is generated, or
a real panel in random order; one with drift goes from a panel to another one of the same members, such as clean and
then rotated images. On such pairs it is also measured whether labels from before a shift help to estimate accuracies
after it.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from rich.progress import track
from scipy.special import expit

import consilience as cs
from benchmarks.quality.estimates import accuracies, fused, whole_answers
from benchmarks.quality.families import side_of
from benchmarks.quality.panel import AS_IT_IS, Panel, read, take
from consilience.insight.accuracy.estimates import log_odds, voters_of
from consilience.insight.drift import drift, numbers_of

RATES = (0.01, 0.05, 0.1)

N_STREAMS, N_WINDOWS, WINDOW, REFERENCE = 100, 10, 100, 5
"""Streams of each kind, their windows after the reference, items of a window, and windows of the reference."""

MOST_WORK = 2e7

PAIRS = {
    "digits_mixed_clean": ("noise-2", "rotation-1", "rotation-2"),
    "digits_unequal_clean": ("noise-2", "rotation-1", "rotation-2"),
    "digits_mixed-squared_clean": ("noise-2",),
    "cancer_noise-0": ("noise-1", "noise-2"),
    "iris_noise-0": ("noise-1", "noise-2"),
    "wine_noise-0": ("noise-1", "noise-2"),
    "mnist_trained_rotation-1": ("noise-2",),
}
"""Panels of the same members: before a shift, and what comes then."""

Rng = np.random.Generator
Draw = Callable[[Rng, int], cs.Predictions]


# ---- generated streams ------------------------------------------------------------------------------------


def networks(rng: Rng, n_items: int, skill: float = 1.0, shares: tuple[float, ...] = (0.25,) * 4) -> cs.Predictions:
    """Three members who give probabilities; their skill and the shares of the classes may drift."""
    truth = np.eye(len(shares))[rng.choice(len(shares), n_items, p=shares)]
    strengths = skill * np.array([3.0, 2.5, 2.0])[:, None, None]
    return cs.Predictions.from_logits(strengths * truth + rng.normal(size=(3, n_items, len(shares))))


def crowd(rng: Rng, n_items: int, skill: float = 0.7) -> cs.Predictions:
    """Seven members who give labels of three classes, and each of them no answer to a third of the items."""
    truth = rng.integers(3, size=n_items)
    said = np.where(rng.random((7, n_items)) < skill, truth, rng.integers(3, size=(7, n_items)))
    is_missing = rng.random(said.shape) < 1 / 3
    is_missing[rng.integers(7, size=n_items), np.arange(n_items)] = False
    return cs.Predictions.from_labels(np.where(is_missing, -1, said), 3)


def many_classes(rng: Rng, n_items: int) -> cs.Predictions:
    """Four members and two hundred classes, most of them rare."""
    shares = 1 / np.arange(1, 201)
    truth = rng.choice(200, n_items, p=shares / shares.sum())
    said = np.where(rng.random((4, n_items)) < 0.7, truth, rng.integers(200, size=(4, n_items)))
    return cs.Predictions.from_labels(said, 200)


def in_runs(rng: Rng, n_items: int) -> cs.Predictions:
    """Networks that see each item four times: the test takes items to be independent, and these are not."""
    return networks(rng, -(-n_items // 4)).take(np.arange(n_items) // 4)


STEADY: dict[str, Draw] = {
    "networks": networks,
    "crowd": crowd,
    "many classes": many_classes,
    "in runs of four (not independent)": in_runs,
}

CHANGES: dict[str, tuple[Draw, Draw]] = {
    "networks, skill x .9": (networks, lambda rng, n: networks(rng, n, 0.9)),
    "networks, skill x .8": (networks, lambda rng, n: networks(rng, n, 0.8)),
    "networks, skill x .5": (networks, lambda rng, n: networks(rng, n, 0.5)),
    "networks, shares .4 .2 .2 .2": (networks, lambda rng, n: networks(rng, n, 1, (0.4, 0.2, 0.2, 0.2))),
    "crowd, .7 to .6 know": (crowd, lambda rng, n: crowd(rng, n, 0.6)),
    "crowd, .7 to .5 know": (crowd, lambda rng, n: crowd(rng, n, 0.5)),
}


# ---- tests ------------------------------------------------------------------------------------------------


def p_values(before: Draw, after: Draw, seed: int) -> list[float]:
    """Of the windows of one stream."""
    rng = np.random.default_rng(seed)
    reference = numbers_of(before(rng, REFERENCE * WINDOW))
    return [drift(reference, numbers_of(after(rng, WINDOW)), RATES[0]).p_value for _ in range(N_WINDOWS)]


def p_values_of_panels(before: Panel, after: Panel | None, seed: int) -> list[float]:
    """Of a panel in random order, up to ten windows after a reference of half of the items; or of another panel."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(before.n_items)
    n_before = before.n_items // 2
    reference = numbers_of(take(before, order[:n_before]).predictions)
    then = take(before, order[n_before:]) if after is None else take(after, rng.permutation(after.n_items))
    window = min(WINDOW, max(10, n_before // 5))
    cuts = range(0, min(then.n_items - window + 1, N_WINDOWS * window), window)
    windows = (take(then, np.arange(start, start + window)).predictions for start in cuts)
    return [drift(reference, numbers_of(one), RATES[0]).p_value for one in windows]


def rates_table() -> Iterator[str]:
    """False alarms asked for and got."""
    yield f"{'without drift':36}{'windows':>10}" + "".join(f"{f'asked {rate:.0%}':>12}" for rate in RATES)
    for name, draw in STEADY.items():
        yield _rates(name, [p for seed in track(range(N_STREAMS), name) for p in p_values(draw, draw, seed)])


def panel_rates(folder: Path) -> Iterator[str]:
    """The same on real panels in random order, by family."""
    index = json.loads((folder / "index.json").read_text(encoding="utf-8"))["panels"]
    names = [name for name, (family, kind) in index.items() if kind == AS_IT_IS and side_of(family) == "tuning"]
    found = defaultdict(list)
    for name in track(names, "panels"):
        panel = read(folder / f"{name}.npz")
        if panel.n_members * panel.n_items * panel.n_classes <= MOST_WORK and panel.n_items >= 100:
            found[panel.family] += [p for seed in range(3) for p in p_values_of_panels(panel, None, seed)]
    for family, values in sorted(found.items()):
        yield _rates(family, values)
    yield _rates("all families", [p for values in found.values() for p in values])


def _rates(name: str, values: list[float]) -> str:
    got = "".join(f"{f'{np.mean(np.array(values) <= rate):.1%}':>12}" for rate in RATES)
    return f"{name:36}{len(values):>10}{got}"


def delays(folder: Path) -> Iterator[str]:
    """How soon an alarm comes, at the lowest rate: 1 is the first window after the change."""
    yield f"{f'with drift, asked {RATES[0]:.0%}':52}{'windows alarmed':>17}{'median delay':>14}{'never':>8}"
    for name, (before, after) in CHANGES.items():
        yield _delay(name, [p_values(before, after, seed) for seed in track(range(N_STREAMS // 4), name)])
    for before, after in pairs(folder):
        name = f"{before.name} → {after.name.rsplit('_', 1)[1]}"
        yield _delay(name, [p_values_of_panels(before, after, seed) for seed in range(5)])


def _delay(name: str, streams: list[list[float]]) -> str:
    is_alarm = [np.array(values) <= RATES[0] for values in streams]
    first = [int(one.argmax()) + 1 if one.any() else np.inf for one in is_alarm]
    return f"{name:52}{np.mean(np.concatenate(is_alarm)):>17.0%}{np.median(first):>14g}{np.mean(np.isinf(first)):>8.0%}"


# ---- labels from before the shift -------------------------------------------------------------------------


def pairs(folder: Path) -> Iterator[tuple[Panel, Panel]]:
    """Panels before a shift and after it."""
    for before, views in PAIRS.items():
        for view in views:
            after = f"{before.rsplit('_', 1)[0]}_{view}"
            yield read(folder / f"{before}.npz"), read(folder / f"{after}.npz")


def corrections(folder: Path) -> Iterator[str]:
    """The error of estimates after a shift, as they are and moved by how far they were off before it."""
    shares = (0.0, 0.5, 1.0)
    yield f"{'labels before a shift: error after it, in points':52}" + "".join(
        f"{name:>14}" for name in ("as it is", "half moved", "moved")
    )
    found = []
    for before, after in track(list(pairs(folder)), "estimating"):
        (old, old_truth), (new, truth) = _believed(before), _believed(after)
        off = log_odds(old_truth) - log_odds(old)
        errors = [100 * np.nanmean(np.abs(expit(log_odds(new) + share * off) - truth)) for share in shares]
        found.append(errors)
        name = f"{before.name} → {after.name.rsplit('_', 1)[1]}"
        yield f"{name:52}" + "".join(f"{error:>14.1f}" for error in errors)
    yield f"{'mean':52}" + "".join(f"{error:>14.1f}" for error in np.mean(found, axis=0))


def _believed(panel: Panel) -> tuple[np.ndarray, np.ndarray]:
    """The estimated and the true accuracies of the members and of whole answers."""
    model = fused(panel)
    voters = voters_of(panel.predictions, model, whole_answers(panel, model))
    return voters.believed, accuracies(panel, voters)


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work-dir", type=Path, required=True)
    parser.add_argument("-o", "--output", type=Path, help="without ending: .txt follows")
    options = parser.parse_args()
    folder = options.work_dir / "panels"
    parts = [corrections(folder), rates_table(), panel_rates(folder), delays(folder)]
    heading = (
        f"Generated streams: windows of {WINDOW} items after a reference of {REFERENCE * WINDOW}. Real panels: half of "
        "the items are the reference, in random order."
    )
    lines = [heading]
    for part in parts:
        lines.append("")
        for line in part:
            print(line, flush=True)
            lines.append(line)
    if options.output:
        options.output.with_suffix(".txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
