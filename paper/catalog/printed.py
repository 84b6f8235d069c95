"""The paper's own tables, as it prints them, beside what it says of them: no network is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consilience.system.atomic import whole_file
from paper.results import paper_summaries
from paper.tallies import TIE, cells_of_summaries, tally

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from paper.catalog.run import Cell, Run

METRICS = ("accuracy", "ece 300", "brier", "nll")


def cells(_: Run) -> Iterator[Cell]:
    """None: nothing is computed."""
    yield from ()


def write_printed(_: Run, out_dir: Path) -> list[Path]:
    """How often the printed SDS beats the printed EA, and what shrinking alone would do."""
    path = out_dir / "printed.md"
    lines = [
        "# printed",
        "",
        "SDS against EA in the tables that the paper prints: wins / ties / losses over all means, in brackets the mean",
        "difference, positive where SDS is better. A tie is a difference of at most .0005, so equal as printed.",
        "",
        f"| table | {' | '.join(METRICS)} |",
        f"|---|{'---|' * len(METRICS)}",
        *(_line(name) for name in ("imagenet-c", "imagenet-c-sizes", "cifar100-c-sizes")),
        "",
        *_shrinkage(),
        *_new_estimates(),
    ]
    with whole_file(path) as file:
        file.write("\n".join(lines).encode())
    return [path]


def _line(table: str) -> str:
    found = cells_of_summaries(paper_summaries(table))
    return f"| {table} | {' | '.join(str(tally(found[name], name, 'SDS', ['EA'])) for name in METRICS)} |"


def _shrinkage() -> list[str]:
    """Accuracy + ECE is the mean confidence of who is too sure everywhere, and shrinks with the weight of EA."""
    weight = (1 - 1e-5) ** 100 * (1 - 1e-3) ** 100  # appendix D
    found = cells_of_summaries(paper_summaries("cifar100-c-sizes"))
    lines = [
        "Accuracy + ECE, which is the mean confidence where answers are too sure in every bin, of CIFAR-100 under",
        f"Gaussian noise of severity 3. SDS keeps {weight:.3f} of EA by its averaging alone (appendix D).",
        "",
        "| members | EA | SDS | ratio |",
        "|---|---|---|---|",
    ]
    for place, accuracy in sorted(found["accuracy"].items(), key=lambda item: int(str(item[0][3]))):
        sums = {method: accuracy[method] + found["ece 300"][place][method] for method in ("EA", "SDS")}
        lines.append(f"| {place[3]} | {sums['EA']:.3f} | {sums['SDS']:.3f} | {sums['SDS'] / sums['EA']:.3f} |")
    return [*lines, ""]


LITTLE = 0.07
"""A new estimate that gives the average's class less than this has another class in mind."""


def on_the_averages_class() -> dict[tuple[object, ...], float]:
    """What SDS's new estimate, in the mean, gives the class that EA answers; for each printed mean of ImageNet-C.

    The mean confidence of EA and of SDS is accuracy + ECE where answers are too sure in every bin. SDS is (1 - w) EA +
    w p_new by its averaging (appendix D), and it answers as EA does nearly everywhere.
    """
    weight = 1 - (1 - 1e-3) ** 20 * (1 - 1e-5) ** 5
    found = cells_of_summaries(paper_summaries("imagenet-c"))
    estimates = {}
    for place, accuracy in found["accuracy"].items():
        average, sds = (accuracy[method] + found["ece 300"][place][method] for method in ("EA", "SDS"))
        estimates[place] = (sds - (1 - weight) * average) / weight
    return estimates


def _new_estimates() -> list[str]:
    """In how many means the new estimate is off the average's class."""
    estimates, ece = on_the_averages_class(), cells_of_summaries(paper_summaries("imagenet-c"))["ece 300"]
    won = [place for place, values in ece.items() if values["EA"] - values["SDS"] > TIE]
    n_off, n_off_and_won = (sum(estimates[place] < LITTLE for place in places) for places in (estimates, won))
    return [
        f"ImageNet-C: in {n_off} of {len(ece)} means SDS's new estimate gives less than {LITTLE} to the class that EA",
        "answers (where answers are too sure in every bin). SDS has a lower ECE than EA in",
        f"{len(won)} means, {n_off_and_won} of which are among these.",
        "",
    ]
