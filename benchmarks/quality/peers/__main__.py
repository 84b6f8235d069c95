"""How long each peer takes on a panel, and how right it is.

    python -m benchmarks.quality.peers panels/css_emotion.npz panels/crowds.npz:d_sentiment --limit 600

A file has `labels` (members, items) or `probabilities` (members, items, classes), and the truth `y`; or, with a name
after a colon, a crowd's answers as the columns NAME/item, NAME/worker, NAME/label, and the truth NAME/gold.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from benchmarks.quality.panel import Panel
from benchmarks.quality.peers import PEERS
from benchmarks.quality.peers.run import Outcome, Runner


def read(source: str, n_items: int | None = None) -> Panel:
    """The panel of a file, or its first items."""
    path, _, crowd = source.partition(":")
    with np.load(path) as file:
        if crowd:
            item, worker, label, truth = (
                file[f"{crowd}/{key}"].astype(int) for key in ("item", "worker", "label", "gold")
            )
            labels = np.full((worker.max() + 1, len(truth)), -1)
            labels[worker, item] = label
            probabilities = None
        else:
            truth = file["y"].astype(int)
            labels = file["labels"].astype(int) if "labels" in file else None
            probabilities = file.get("probabilities")
    n_classes = 1 + max(truth.max(), labels.max()) if labels is not None else probabilities.shape[2]
    items = slice(n_items)
    return Panel(
        crowd or Path(path).stem,
        crowd or Path(path).stem,
        "as it is" if n_items is None else f"first {n_items} items",
        truth[items],
        int(n_classes),
        None if probabilities is None else probabilities[:, items],
        None if labels is None else labels[:, items],
    )


def line(panel: Panel, outcome: Outcome) -> str:
    """A row of the table: seconds, accuracy in percent, mean negative log-likelihood."""
    if outcome.posterior is None:
        return f"{outcome.peer:35} {outcome.seconds:8.2f}  {outcome.reason}"
    known = panel.truth >= 0
    posterior, truth = outcome.posterior[known], panel.truth[known]
    accuracy = 100 * (posterior.argmax(axis=1) == truth).mean()
    loss = -np.log(np.maximum(posterior[np.arange(len(truth)), truth], 1e-6)).mean()
    return f"{outcome.peer:35} {outcome.seconds:8.2f} {accuracy:9.2f} {loss:7.3f}"


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE[:CROWD]")
    parser.add_argument("--items", type=int, help="only so many, the first ones")
    parser.add_argument("--limit", type=float, default=600, help="seconds for each peer")
    parser.add_argument("--peers", nargs="+", default=list(PEERS), choices=list(PEERS))
    options = parser.parse_args()
    with Runner(limit=options.limit) as runner:
        for source in options.files:
            panel = read(source, options.items)
            print(f"\n{panel.name}: {panel.n_members} × {panel.n_items}, {panel.n_classes} classes")
            print(f"{'peer':35} {'seconds':>8} {'right, %':>9} {'NLL':>7}")
            for name in options.peers:
                print(line(panel, runner.run(name, panel)), flush=True)


if __name__ == "__main__":
    main()
