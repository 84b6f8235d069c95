"""Every warning, by name, in the order in which they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consilience.insight.warnings.copies import copied_members
from consilience.insight.warnings.members import overconfident_members, renamed_members, useless_members
from consilience.insight.warnings.panel import (
    contradicting_labels,
    lost_by_fusing,
    not_settled,
    too_few_items,
    wrong_together,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from consilience.insight.warnings.evidence import PanelEvidence, Warned

WARNINGS: dict[str, Callable[[PanelEvidence], list[Warned]]] = {
    "labels contradict": contradicting_labels,
    "not settled": not_settled,
    "too few items": too_few_items,
    "everybody wrong together": wrong_together,
    "loss by fusing": lost_by_fusing,
    "useless member": useless_members,
    "classes in another order": renamed_members,
    "copies": copied_members,
    "overconfident member": overconfident_members,
}


def warnings_of(evidence: PanelEvidence) -> list[Warned]:
    """What deserves a look, the most serious first."""
    return [warned for find in WARNINGS.values() for warned in find(evidence)]
