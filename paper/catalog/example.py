"""Appendix C: one item that Soft Dawid-Skene gets right and the average does not, and why.

The paper tells the story of one image of CIFAR-100; here it is told of a rotated digit. How often the story goes either
way is counted over all items, so that nobody takes one item for the rule.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from consilience.data.predictions import Predictions
from consilience.insight.explanation import explain
from consilience.system.arrays import to_numpy
from consilience.system.atomic import whole_file
from paper.catalog.confusion import DEGREES
from paper.catalog.grids import ANGLES
from paper.catalog.run import Cell, Where
from paper.methods import SDS_OURS, SDS_PAPER, aggregators, fitted, posterior
from paper.shifts import Condition

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy.typing as npt

    from consilience.system.arrays import FloatArray
    from paper.catalog.run import Run, Scores

N_TOP = 4
"""So many of a member's most probable classes are listed: of 10, as the paper lists 10 of 100, but enough to see."""


def cells(run: Run) -> Iterator[Cell]:
    """At every angle, how often one of Soft Dawid-Skene, from either start, and the average alone is right."""
    for angle in ANGLES:
        for number, seeds in enumerate(run.ensembles("mnist")):
            where = Where(Condition("mnist", "rotation", angle), seeds, number)
            yield Cell(where, f"explain/{where.condition}/{where.members}", partial(_counts, run, where))


class _Answers(NamedTuple):
    """What was said of a condition's items, by whom, and what is true."""

    model: Any  # the fitted Soft Dawid-Skene
    array: npt.NDArray[np.float32]  # (members, items, classes)
    average: FloatArray  # (items, classes)
    labels: npt.NDArray[np.int64]

    @property
    def soft(self) -> FloatArray:
        """Soft Dawid-Skene's posterior."""
        return to_numpy(self.model.posterior_)

    def alone(self, winner: FloatArray, loser: FloatArray) -> npt.NDArray[np.bool_]:
        """Where one is right and the other is not."""
        return np.asarray((winner.argmax(axis=1) == self.labels) & (loser.argmax(axis=1) != self.labels))

    @property
    def nobody(self) -> npt.NDArray[np.bool_]:
        """Where no member is right."""
        return np.asarray((self.array.argmax(axis=2) != self.labels).all(axis=0))


def _answers(run: Run, where: Where, method: str) -> _Answers:
    array, methods = run.predictions(where.condition, where.seeds), aggregators("mnist")
    predictions = Predictions(array)
    model = fitted(methods[method](), predictions)
    return _Answers(model, array, posterior(methods["EA"](), predictions), run.store.labels(where.condition))


def _counts(run: Run, where: Where) -> Scores:
    counts: Scores = {}
    for method in (SDS_PAPER, SDS_OURS):
        found, counts[method] = _answers(run, where, method), {}
        for name, is_so in (
            ("alone right", found.alone(found.soft, found.average)),
            ("average alone right", found.alone(found.average, found.soft)),
        ):
            counts[method] |= {name: float(is_so.sum()), f"{name}, no member": float((is_so & found.nobody).sum())}
    return counts


def write_example(run: Run, out_dir: Path) -> list[Path]:
    """The story of one item as Markdown: where there is one, of an item that no member got right, as in the paper.

    It is the first of the images, at the angle nearest to that of figure 1.
    """
    angles = sorted(ANGLES, key=lambda angle: abs(angle - DEGREES))
    wheres = [Where(Condition("mnist", "rotation", angle), run.ensembles("mnist")[0]) for angle in angles]
    for is_strict in (True, False):
        for where in wheres:
            found = _answers(run, where, SDS_PAPER)
            items = np.flatnonzero(found.alone(found.soft, found.average) & (found.nobody | (not is_strict)))
            if items.size:
                path = out_dir / "explain-item.md"
                with whole_file(path) as file:
                    file.write(_story(found, int(items[0]), where).encode())
                return [path]
    run.note("No item is answered rightly by SDS and wrongly by EA: there is nothing to explain.")
    return []


def _story(found: _Answers, item: int, where: Where) -> str:
    """Who said what, what the learned matrices make of it, and the terms of eq. 3 that decide."""
    said, truth = found.array[:, item], int(found.labels[item])
    wrong = int(found.average[item].argmax())
    tops = ", ".join(f"{int(row.argmax())} ({row.max():.2f})" for row in said)
    answers = (
        f"The members (numbers {', '.join(map(str, where.seeds))}) predict, with their confidences, {tops}. Their "
        f"average says {wrong} with {found.average[item, wrong]:.3f} and gives {truth} "
        f"{found.average[item, truth]:.3f}. Soft Dawid-Skene says {truth} with {found.soft[item, truth]:.3f} and gives "
        f"{wrong} {found.soft[item, wrong]:.3f}."
    )
    lines = [
        f"# Test image {item} of MNIST rotated by {where.condition.severity:g}°: a {truth}",
        "",
        answers,
        "",
        f"| member | where the truth is {truth}, it says more than average | its first {N_TOP} here | in both |",
        "|---|---|---|---|",
        *(
            _habits(found.model.concentration_[place, truth], said[place], where.seeds[place])
            for place in range(len(said))
        ),
        "",
        *_terms(found, item, wrong, where.seeds),
    ]
    return "\n".join(lines) + "\n"


def _habits(row: FloatArray, said: npt.NDArray[np.float32], seed: int) -> str:
    """The paper's two lists of classes, and those that are in both."""
    usual = np.flatnonzero(row > row.mean()).tolist()
    top = np.argsort(-said, kind="stable")[:N_TOP].tolist()
    both = [name for name in top if name in usual]
    return f"| {seed} | " + " | ".join(", ".join(map(str, names)) or "–" for names in (usual, top, both)) + " |"


def _terms(found: _Answers, item: int, wrong: int, seeds: list[int]) -> list[str]:
    """The posterior odds split by member and term, for eq. 3 alone and for the answer that was given."""
    lines = []
    for title, model in (("Eq. 3 alone", found.model.pure()), ("The answer, mixed with the average", found.model)):
        why = explain(Predictions(found.array), item, against=wrong, aggregator=model)
        odds = f"{title}: log-odds of {why.winner} over {why.runner_up} {why.log_odds:+.2f}"
        lines += [f"{odds} nats, of which the class prior has {why.prior:+.2f}.", ""]
        sums = {"The sums (A.1)": float(why.by_probability.sum()), "the normalizers": float(why.normalizer.sum())}
        decides = max(sums, key=lambda name: sums[name])
        made = " and ".join(f"{name} make {value:+.2f}" for name, value in sums.items())
        lines += [f"{made}: {decides[0].lower()}{decides[1:]} decide.", ""]
        lines += ["| member | Σ (π - 1) log c (A.1) | normalizer | both |", "|---|---|---|---|"]
        for place, seed in enumerate(seeds):
            parts = (why.by_probability[place].sum(), why.normalizer[place], why.by_member[place])
            lines.append(f"| {seed} | " + " | ".join(f"{part:+.2f}" for part in parts) + " |")
        lines.append("")
    return lines[:-1]
