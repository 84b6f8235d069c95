"""Everything a report shows, as one dictionary that the page embeds as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from consilience.aggregators import Consensus
from consilience.aggregators.base import check_is_aggregator
from consilience.data.answers import parts_of
from consilience.data.predictions import as_predictions
from consilience.insight.analysis import Analysis
from consilience.insight.suggestion import suggestions_under
from consilience.report.items import ItemSection, Judged
from consilience.report.members import MemberSection
from consilience.report.rounding import rounded, text
from consilience.report.verdicts import Verdicts, verdicts_of

if TYPE_CHECKING:
    from consilience.aggregators.base import AbstractAggregator
    from consilience.data.predictions import Predictions
    from consilience.insight.agreement import PanelAgreement
    from consilience.insight.diagnostics import Diagnosis
    from consilience.system.arrays import IntArray

MOST_SUGGESTED = 10
"""How many items to label are suggested."""


def report_payload(
    predictions: Any,
    aggregator: AbstractAggregator | None = None,
    labels: Any = None,
    *,
    title: str | None = None,
    most_items: int = 300,
) -> dict[str, Any]:
    """Compute what `write_report` shows. An `Analysis` may replace predictions and aggregator.

    The consensus is the aggregator's `predict_proba`. The explanations explain the same.
    """
    _check_options(aggregator, title, most_items)
    analysis = predictions
    if not isinstance(analysis, Analysis):
        analysis = Analysis(as_predictions(predictions), Consensus() if aggregator is None else aggregator)
    data, truth = analysis.predictions, analysis.truth(labels)
    answers = data.harden().hard
    assert answers is not None  # noqa: S101 - hardened predictions are hard
    consensus, average = (
        verdicts_of((part for _, part in parts_of(rows)), truth) for rows in (analysis.posterior, analysis.average)
    )
    judged = Judged.of(consensus, average, answers)
    members = MemberSection(data, answers, analysis.diagnosis, truth)
    payload = {
        "title": title or f"What {data.n_members} members say of {data.n_items:,} items",
        "method": {**_method(analysis.method), "fitted_here": analysis.is_fitted_here},
        "sizes": _sizes(data, truth, len(answers.items)),
        "classes": [text(name) for name in data.classes],
        "summary": _summary(judged, analysis.diagnosis),
        "warnings": list(analysis.diagnosis.warnings),
        "confusion": members.confusion(),
        "card": members.card(),
        "calibration": _calibration(judged, members),
        "agreement": members.agreement(),
        "suggestions": _suggestions(analysis, truth),
        "items": ItemSection(analysis, judged, most_items).to_dict(),
    }
    return {**payload, "member_names": _names_of_members(payload, data)}


def _check_options(aggregator: AbstractAggregator | None, title: str | None, most_items: int) -> None:
    if aggregator is not None:
        check_is_aggregator(aggregator)
    if title is not None and not isinstance(title, str):
        raise ValueError(f"title must be text; got {title!r}")
    if isinstance(most_items, bool) or not isinstance(most_items, int) or most_items < 1:
        raise ValueError(f"most_items must be a whole number of at least 1; got {most_items!r}")


def _method(aggregator: AbstractAggregator) -> dict[str, Any]:
    labelled = getattr(aggregator, "labelled_", None)
    return {
        "name": type(aggregator).__name__,
        "settings": text(" ".join(repr(aggregator).split())),
        "iterations": int(aggregator.n_iter_),
        "labels": 0 if labelled is None else len(labelled.weights),
    }


def _sizes(data: Predictions, truth: IntArray, n_answers: int) -> dict[str, int]:
    return {
        "members": data.n_members,
        "soft_members": len(data.soft),
        "items": data.n_items,
        "classes": data.n_classes,
        "answers": n_answers,
        "labelled": int((truth >= 0).sum()),
    }


def _summary(judged: Judged, diagnosis: Diagnosis) -> dict[str, Any]:
    consensus, average = judged.consensus, judged.average
    scores = consensus.scores()
    return {
        "estimated": {name: rounded(found[:3]) for name, found in diagnosis.answers.items()},
        "confidence": rounded(consensus.confidence.mean()),
        "average_confidence": rounded(average.confidence.mean()),
        "changed": int((consensus.chosen != average.chosen).sum()),
        "agreement": _agreement(diagnosis.beyond_chance),
        "scores": None if scores is None else {"consensus": _plain(consensus), "average": _plain(average)},
        "changes": None if scores is None else _changes(consensus, average),
    }


def _agreement(found: PanelAgreement) -> dict[str, Any]:
    """Agreement beyond chance in numbers, and as a sentence."""
    return {"alpha": rounded(found.alpha), "fleiss": rounded(found.fleiss_kappa), "sentence": found.sentence()}


def _suggestions(analysis: Analysis, truth: IntArray) -> list[dict[str, Any]]:
    """The items to label first, among those without a known label."""
    places = {name: place for place, name in enumerate(analysis.predictions.classes)}
    return [
        {
            "name": text(row.item),
            "answer": places[row.answer],
            "probability": rounded(row.probability),
            "why": text(row.why),
        }
        for row in suggestions_under(analysis, MOST_SUGGESTED, truth >= 0)
    ]


def _plain(verdicts: Verdicts) -> dict[str, float]:
    return {name: rounded(value) for name, value in (verdicts.scores() or {}).items()}


def _changes(consensus: Verdicts, average: Verdicts) -> dict[str, int]:
    """Count the changed items with a known label: now right, now wrong, wrong both times."""
    is_changed = (consensus.chosen != average.chosen) & (consensus.truth >= 0)
    is_right, was_right = consensus.is_right.astype(bool), average.is_right.astype(bool)
    return {
        "helped": int((is_changed & is_right).sum()),
        "hurt": int((is_changed & was_right).sum()),
        "neither": int((is_changed & ~is_right & ~was_right).sum()),
    }


def _calibration(judged: Judged, members: MemberSection) -> dict[str, Any]:
    """Confidence histograms, and reliability if labels are known, of consensus, average and the members drawn."""
    drawn = [(m, members.verdicts.get(m)) for m in members.drawn.tolist()]
    return {
        "panels": [
            {"kind": "consensus", **_panel(judged.consensus)},
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
        "scores": _plain(verdicts) or None,
        "curve": None
        if curve is None
        else {
            "confidence": rounded(curve.confidence),
            "accuracy": rounded(curve.accuracy),
            "items": curve.n_items.astype(int).tolist(),
        },
    }


def _names_of_members(payload: dict[str, Any], data: Predictions) -> dict[str, str]:
    """The names of the members that are shown somewhere, by position. Most members of a crowd are not."""
    sections = (payload["card"]["rows"], payload["confusion"]["members"])
    evidence = (part for row in payload["items"]["rows"] for part in row["why"]["members"])
    shown = {entry["member"] for section in (*sections, evidence) for entry in section}
    return {str(m): text(data.axes.members.name(m)) for m in sorted(shown.union(payload["agreement"]["members"]))}
