"""Build the page: a template, a style sheet, scripts and one payload in a single file that fetches nothing.

The figures are heat maps, bars and one kind of line, drawn by a hundred lines of SVG and a few table cells. A plotting
library would be larger than the rest of the page, and writes style elements that the content security policy forbids.
That policy allows only the scripts and styles of this package, by their hashes, and no string may become markup. So no
name in the data can do harm, even if the escaping missed one.
"""

from __future__ import annotations

import json
import os
import sys
from base64 import b64encode
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from consilience.aggregators.base import AbstractAggregator
from consilience.data.answers import parts_of
from consilience.data.predictions import Predictions
from consilience.data.validation import check_number
from consilience.insight.agreement import labels_of
from consilience.insight.analysis import Analysis
from consilience.insight.arguments import by_predictions
from consilience.insight.suggestion import suggestions_under
from consilience.report.items import Seen, as_json, items, text
from consilience.report.panel import MemberSection, calibration, opening
from consilience.system.arrays import to_numpy
from consilience.system.atomic import whole_file

STYLES = ("page.css", "opening.css", "figures.css", "tables.css", "print.css")
SCRIPTS = (
    *("elements.js", "tables.js", "heat.js", "reliability.js", "waterfall.js"),  # what sections are made of
    *("opening.js", "members.js", "confusions.js", "calibration.js", "items.js", "explanation.js", "report.js"),
)
"""Each script uses, while it is loaded, only those before it."""


@by_predictions
def write_report(
    path: str | os.PathLike[str],
    predictions: Any,
    labels: Any = None,
    *,
    aggregator: AbstractAggregator | None = None,
    known: Any = None,
    class_shares: Any = None,
    title: str | None = None,
    command: str | None = None,
    most_items: int = 100,
) -> Path:
    """Write the report of a fit as one HTML page, and return its path.

    Parameters
    ----------
    path
        Where to write. An existing file is replaced.
    predictions
        Whatever `Predictions` takes.
    labels
        True labels, as `fit` takes them. They only measure.
    aggregator
        `Consensus(class_shares=class_shares)` by default. If it is not fitted, a copy is, with the `known` labels. The
        page shows its `predict_proba`.
    known
        Labels that the fit learns from, or has learned from. They measure nothing; the page says what they gained.
    class_shares
        How frequent the classes are, where you know it.
    title
        The heading.
    command
        The command line that made the page, for its foot.
    most_items
        How many items are listed with explanations. The figures always show all items.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(f"{folder}/report.html", [[[0.9, 0.1], [0.2, 0.8]], [[0.6, 0.4], [0.7, 0.3]]]).name
    'report.html'
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path must say where to write, and comes before the predictions; got a {type(path).__name__}")
    given = {"aggregator": aggregator, "known": known, "class_shares": class_shares}
    payload = report_payload(predictions, labels, title=title, command=command, most_items=most_items, **given)
    # Only the title is neither ASCII nor escaped, and a lone surrogate in it cannot be encoded.
    with whole_file(path) as file:
        file.write(page(payload).encode("utf-8", errors="replace"))
    return Path(path)


def page(payload: dict[str, Any]) -> str:
    """Build the HTML of a payload."""
    style, scripts = "\n".join(map(asset, STYLES)), list(map(asset, SCRIPTS))
    return Template(asset("report.html")).substitute(
        policy=policy(style, scripts),
        title=escape(payload["title"]),
        style=style,
        payload=embedded(payload),
        scripts="\n".join(f"<script>{script}</script>" for script in scripts),
    )


def asset(name: str) -> str:
    """A file that pages are made of."""
    return (files("consilience.report") / "assets" / name).read_text(encoding="utf-8")


def embedded(payload: dict[str, Any]) -> str:
    r"""Encode the payload as JSON without any character that HTML interprets.

    >>> embedded({"name": "</script>"})
    '{"name":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(payload, allow_nan=False, separators=(",", ":"))
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")


def policy(style: str, scripts: Sequence[str] = ()) -> str:
    """A content security policy that allows this style and these scripts, and nothing else."""

    def named(*contents: str) -> str:
        return " ".join(f"'sha256-{b64encode(sha256(own.encode()).digest()).decode()}'" for own in contents)

    allowed = f"script-src {named(*scripts)}; " if scripts else ""
    return (
        f"default-src 'none'; {allowed}style-src {named(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'; "  # an empty icon, so that browsers request none
        "require-trusted-types-for 'script'"
    )


# ---- what the page shows --------------------------------------------------------------------------------

FINGERPRINT = 12  # how many hexadecimal digits of the checksum are shown


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


DIGITS = 4  # how many digits of a number are kept
MOST_SUGGESTED = 10  # how many items to label are suggested


def report_payload(
    predictions: Any,
    labels: Any = None,
    *,
    title: str | None = None,
    command: str | None = None,
    most_items: int = 100,
    **given: Any,
) -> dict[str, Any]:
    """Compute what `write_report` shows. An `Analysis` may replace predictions, labels and what else is `given`.

    The fused answer is the aggregator's `predict_proba`. The explanations explain the same.
    """
    if title is not None and not isinstance(title, str):
        raise ValueError(f"title must be text; got {title!r}")
    check_number("most_items", most_items, least=1, integer=True)
    analysis = predictions if isinstance(predictions, Analysis) else Analysis.of(predictions, labels, **given)
    data, seen = analysis.predictions, Seen.of(analysis)
    members = MemberSection(seen)
    payload = {
        "title": title or f"What {data.n_members} members say of {data.n_items:,} items",
        "made": provenance(analysis, command),
        "sizes": {
            "members": data.n_members,
            "soft_members": len(data.soft),
            "items": data.n_items,
            "classes": data.n_classes,
            "answers": len(labels_of(analysis.hardened).items),
            "labelled": (analysis.measurable >= 0).sum(),
            "measured": (analysis.known >= 0).sum(),
        },
        "classes": [text(name) for name in data.classes],
        "ordered": data.ordered,
        "opening": opening(seen, members),
        "members": members.card(),
        "agreement": members.agreement(),
        "confusion": members.confusions(),
        "calibration": calibration(seen, members),
        "items": items(seen, most_items),
        "suggestions": _suggestions(analysis),
    }
    shown: dict[str, Any] = as_json(payload | {"member_names": _names_of_members(payload, data)}, DIGITS)
    return shown


def _suggestions(analysis: Analysis) -> list[dict[str, Any]]:
    """The items to label first, among those without a known label."""
    places = {name: place for place, name in enumerate(analysis.predictions.classes)}
    is_known = analysis.is_given | (analysis.measurable >= 0)
    return [
        {"name": text(row.item), "answer": places[row.answer], "probability": row.probability, "why": text(row.why)}
        for row in suggestions_under(analysis, MOST_SUGGESTED, is_known)
    ]


def _names_of_members(payload: dict[str, Any], data: Predictions) -> dict[str, str]:
    """The names of the members that are shown somewhere, by position. Most members of a large crowd are not."""
    sections = (payload["members"]["rows"], payload["confusion"]["members"], payload["items"]["doubtful"])
    evidence = (part for row in payload["items"]["rows"] for part in row["why"]["members"])
    shown = {entry["member"] for section in (*sections, evidence) for entry in section}
    shown.update(payload["agreement"]["members"])
    return {m: text(data.axes.members.name(m)) for m in sorted(shown)}
