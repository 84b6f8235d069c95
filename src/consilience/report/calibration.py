"""How sure answers are, and how often they are right, for the fused answer, the average and some members."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from consilience.report.rounding import rounded

if TYPE_CHECKING:
    from consilience.report.items import Judged
    from consilience.report.members import MemberSection
    from consilience.report.verdicts import Verdicts


def calibration(judged: Judged, members: MemberSection) -> dict[str, Any]:
    """Confidence histograms, and reliability if labels are known."""
    drawn = [(m, members.verdicts.get(m)) for m in members.pictured.tolist()]
    return {
        "panels": [
            {"kind": "fused", **_panel(judged.consensus)},
            {"kind": "average", **_panel(judged.average)},
            *({"kind": "member", "member": m, **_panel(verdicts)} for m, verdicts in drawn if verdicts is not None),
        ],
        "without_confidence": sum(verdicts is None for _, verdicts in drawn),
        "total_members": members.predictions.n_members,
    }


def _panel(verdicts: Verdicts) -> dict[str, Any]:
    curve = verdicts.curve()
    return {
        "histogram": verdicts.histogram(),
        "confidence": rounded(verdicts.confidence.mean()),
        "scores": {name: rounded(value) for name, value in (verdicts.scores() or {}).items()} or None,
        "curve": None
        if curve is None
        else {
            "confidence": rounded(curve.confidence),
            "accuracy": rounded(curve.accuracy),
            "items": curve.n_items.astype(int).tolist(),
        },
    }
