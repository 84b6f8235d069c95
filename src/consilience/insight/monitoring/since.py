"""What has changed in a panel since a reference sample of the same members."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from consilience.data.labels import known_labels
from consilience.insight.accuracy.estimates import FUSED
from consilience.insight.monitoring.drift import DriftTest, drift
from consilience.insight.monitoring.windows import AGREEMENT, CONFIDENCE, SHARES, estimate_columns, look, on_axes_of
from consilience.insight.warnings import FALLEN, Warned
from consilience.system.tables import Table

if TYPE_CHECKING:
    from consilience.data.predictions import Predictions
    from consilience.insight.accuracy.estimates import AccuracyEstimate
    from consilience.insight.monitoring.windows import Seen

FALSE_ALARMS = 0.01
"""The rate of the test."""

MOST_SHOWN = 10


@final
@dataclass(frozen=True, eq=False)
class Since:
    """A panel beside a reference; prints as a few lines.

    Attributes
    ----------
    then, now
        What was seen in each: `agreement` (Krippendorff's alpha), `confidence`, `shares` of the classes.
    p_values
        By kind: how likely a difference as large is between two samples of the same.
    fused
        The estimated accuracy of the fused answer then and now, both without labels.
    measured
        The accuracies of the members on the reference, and of its fused answer: one row each with the 90 % interval,
        and whether there were enough labels to measure it;
        None without labels of the reference. Estimates for the panel are not moved by how far they were off on the
        reference: on panels whose truth was known that made them worse (`benchmarks/quality/drift.py`).
    """

    then: Seen
    now: Seen
    p_values: dict[str, float]
    fused: tuple[float, float]
    measured: Table | None

    def lines(self) -> list[str]:
        """Agreement and confidence then and now, and what was measured then."""
        alpha = f"{self.then.agreement:.2f} then, {self.now.agreement:.2f} now"
        sure = f"{self.then.confidence:.0%} then, {self.now.confidence:.0%} now"
        lines = [f"agreement, Krippendorff's alpha: {alpha}; how often members agree: {self._doubt(AGREEMENT)}"]
        if np.isfinite([self.then.confidence, self.now.confidence]).all():
            lines.append(f"mean confidence: {sure} ({self._doubt(CONFIDENCE)})")
        lines.append(f"class shares: {self._doubt(SHARES)}")
        if self.measured is not None:
            rows = [row for row in self.measured.rows() if row["measured"]]
            shown = [*rows[:MOST_SHOWN], rows[-1]] if len(rows) > MOST_SHOWN + 1 else rows
            texts = [f"{row['member']} {row['accuracy']:.0%}" for row in shown if np.isfinite(row["accuracy"])]
            if texts:
                more = f", and {len(rows) - len(shown)} more" if len(shown) < len(rows) else ""
                lines.append(f"right then, as measured: {', '.join(texts)}{more}")
        return lines

    def warned(self) -> list[Warned]:
        """That the fused answer has become worse, if its estimated accuracy has fallen by much."""
        then, now = self.fused
        if not then - now > FALLEN:
            return []
        return [
            Warned(
                finding="the fused answer is probably right on fewer items than in the reference, by 5 points or more",
                because=f"it is estimated to be right on {now:.0%}, and on {then:.0%} there; the loss may be larger",
                advice="Before you use it, label some of these items drawn at random, 50 say: they tell how often it "
                "is right, and correct it",
            )
        ]

    def _doubt(self, kind: str) -> str:
        p_value = self.p_values[kind]
        return f"changed, p = {p_value:.2g}" if p_value <= FALSE_ALARMS else f"no change to speak of, p = {p_value:.2g}"


def since(data: Predictions, reference: Any, reference_labels: Any = None) -> Since:
    """Compare a panel with a reference, which may have labels."""
    before = on_axes_of(data, reference, "the reference")
    known = known_labels(reference_labels, before.axes)
    old, new = look(before, known), look(data)
    tested: DriftTest = drift(old.numbers, new.numbers, FALSE_ALARMS)
    measured = None if known is None else _table(old.seen, data.members)
    return Since(old.seen, new.seen, tested.by_kind, (old.fused, new.fused), measured)


def _table(seen: Seen, members: list[Any]) -> Table:
    found: list[AccuracyEstimate] = [*seen.accuracies.members, seen.accuracies.answers[FUSED]]
    return Table({"member": [*map(str, members), FUSED], **estimate_columns(found)})
