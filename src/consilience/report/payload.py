"""Everything a report shows, as one dictionary that the page embeds as JSON."""

from __future__ import annotations

import sys
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from consilience.data.answers import HardAnswers, parts_of
from consilience.insight.analysis import Analysis
from consilience.insight.arguments import given_or_consensus, look_at
from consilience.insight.suggestion import suggestions_under
from consilience.report.items import ItemSection, Judged, verdicts_of
from consilience.report.opening import Opening
from consilience.report.panel import MemberSection, calibration
from consilience.report.selection import rounded, text
from consilience.system.arrays import to_numpy

if TYPE_CHECKING:
    from consilience.aggregators.base import AbstractAggregator
    from consilience.data.predictions import Predictions


FINGERPRINT = 12
"""How many hexadecimal digits of the checksum are shown."""


def provenance(analysis: Analysis, command: str | None) -> dict[str, Any]:
    """Where a report comes from. `command` is the command line, if there was one."""
    labelled = getattr(analysis.method, "labelled_", None)
    n_given = int(analysis.is_given.sum())
    n_learned = n_given or (0 if labelled is None else len(labelled.weights))
    return {
        "date": datetime.now().astimezone().date().isoformat(),
        "version": str(sys.modules["consilience"].__version__),  # by name: a room does not import the whole package
        "command": None if command is None else text(command, most=1000),
        "fingerprint": fingerprint(analysis.predictions),
        "method": type(analysis.method).__name__,
        "settings": text(" ".join(repr(analysis.method).split())),
        "iterations": int(analysis.method.n_iter_),
        "labels": _labels(n_learned, n_given, int((analysis.measurable >= 0).sum()), analysis.predictions.n_items),
    }


def _labels(n_learned: int, n_given: int, n_measured: int, n_items: int) -> str:
    """What labels did, in words."""
    taught = f"The method learned from {n_learned:,} {'label' if n_learned == 1 else 'labels'}."
    if not n_measured:
        return taught if n_learned else "No label was used."
    if n_given:
        return f"{taught} Labels of {n_measured:,} other items measured the answers."
    which = "all" if n_measured == n_items else f"{n_measured:,} of {n_items:,}"
    measured = f"Labels of {which} items measured the answers."
    if n_learned:
        return f"{taught} {measured} If some of them are the same, the scores of the fused answer are too good."
    return f"{measured} They took no part in making them."


def fingerprint(predictions: Predictions) -> str:
    """A short checksum of what the members said, with the names of members, items and classes.

    Two reports with the same fingerprint are about the same answers, in the same order.
    """
    checksum = sha256()
    for axis in predictions.axes:
        names = [] if not axis.is_named else [str(name) for name in axis.names]
        checksum.update(repr((axis.size, names)).encode("utf-8", errors="surrogatepass"))
    for member in predictions.soft:
        checksum.update(f"member {member.position}".encode())
        if member.items is not None:
            checksum.update(np.ascontiguousarray(member.items, dtype="<i8").tobytes())
        for _, rows in parts_of(member.rows):
            checksum.update(np.ascontiguousarray(to_numpy(rows), dtype="<f8").tobytes())
    if predictions.hard is not None:
        for column in (predictions.hard.items, predictions.hard.members, predictions.hard.labels):
            checksum.update(np.ascontiguousarray(column, dtype="<i8").tobytes())
    return checksum.hexdigest()[:FINGERPRINT]


NO_ANSWERS = HardAnswers(*(np.empty(0, dtype=np.intp),) * 3)

MOST_SUGGESTED = 10
"""How many items to label are suggested."""


def report_payload(
    predictions: Any,
    labels: Any = None,
    *,
    aggregator: AbstractAggregator | None = None,
    known: Any = None,
    class_shares: Any = None,
    title: str | None = None,
    command: str | None = None,
    most_items: int = 100,
) -> dict[str, Any]:
    """Compute what `write_report` shows. An `Analysis` may replace predictions, aggregator and labels.

    The fused answer is the aggregator's `predict_proba`. The explanations explain the same.
    """
    _check_options(title, most_items)
    analysis = predictions
    if not isinstance(analysis, Analysis):
        method = given_or_consensus(aggregator, class_shares)
        looked = look_at(predictions, known, labels)
        method, known, labels = looked.prepared(method, known), looked.labels(known), looked.labels(labels)
        analysis = Analysis(looked.predictions, method, known, labels, class_shares)
    data = analysis.predictions
    # An answer is a vote, unless it finds several classes most probable.
    answers, votes = (labels.hard or NO_ANSWERS for labels in (data.harden(), data.votes()))
    consensus, average = (
        verdicts_of((part for _, part in parts_of(rows)), analysis.measurable)
        for rows in (analysis.posterior, analysis.average)
    )
    judged = Judged.of(consensus, average, answers)
    members = MemberSection(analysis, answers, votes)
    payload = {
        "title": title or f"What {data.n_members} members say of {data.n_items:,} items",
        "made": provenance(analysis, command),
        "sizes": _sizes(analysis, len(answers.items)),
        "classes": [text(name) for name in data.classes],
        "ordered": data.ordered,
        "opening": Opening(analysis, judged, members).to_dict(),
        "members": members.card(),
        "agreement": members.agreement(),
        "confusion": members.confusions.to_dict(members.drawn),
        "calibration": calibration(judged, members),
        "items": ItemSection(analysis, judged, votes, most_items).to_dict(),
        "suggestions": _suggestions(analysis),
    }
    return {**payload, "member_names": _names_of_members(payload, data)}


def _check_options(title: str | None, most_items: int) -> None:
    if title is not None and not isinstance(title, str):
        raise ValueError(f"title must be text; got {title!r}")
    if isinstance(most_items, bool) or not isinstance(most_items, int) or most_items < 1:
        raise ValueError(f"most_items must be a whole number of at least 1; got {most_items!r}")


def _sizes(analysis: Analysis, n_answers: int) -> dict[str, int]:
    data = analysis.predictions
    return {
        "members": data.n_members,
        "soft_members": len(data.soft),
        "items": data.n_items,
        "classes": data.n_classes,
        "answers": n_answers,
        "labelled": int((analysis.measurable >= 0).sum()),
        "measured": int((analysis.known >= 0).sum()),
    }


def _suggestions(analysis: Analysis) -> list[dict[str, Any]]:
    """The items to label first, among those without a known label."""
    places = {name: place for place, name in enumerate(analysis.predictions.classes)}
    is_known = analysis.is_given | (analysis.measurable >= 0)
    return [
        {
            "name": text(row.item),
            "answer": places[row.answer],
            "probability": rounded(row.probability),
            "why": text(row.why),
        }
        for row in suggestions_under(analysis, MOST_SUGGESTED, is_known)
    ]


def _names_of_members(payload: dict[str, Any], data: Predictions) -> dict[str, str]:
    """The names of the members that are shown somewhere, by position. Most members of a large crowd are not."""
    sections = (payload["members"]["rows"], payload["confusion"]["members"], payload["items"]["doubtful"])
    evidence = (part for row in payload["items"]["rows"] for part in row["why"]["members"])
    shown = {entry["member"] for section in (*sections, evidence) for entry in section}
    return {str(m): text(data.axes.members.name(m)) for m in sorted(shown.union(payload["agreement"]["members"]))}
