"""The page: a template, a style sheet, scripts and one payload, put together into a single file.

Nothing is fetched: the page works from a memory stick. The figures are heat maps, bars and one kind of line, which a
hundred lines of SVG and a few table cells draw; a plotting library would be larger than the rest of the page, and
writes style elements that the content security policy below forbids. That policy allows the scripts and styles of this
package by their hashes and nothing else, and no string may become markup; so no name in the data can do harm, even if
one slipped past the escaping.
"""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from consilience.report.payload import report_payload
from consilience.system.atomic import whole_file

if TYPE_CHECKING:
    import os

    from consilience.aggregators.base import AbstractAggregator

STYLE = "report.css"
SCRIPTS = ("elements.js", "charts.js", "tables.js", "sections.js", "items.js", "report.js")
"""In the order in which they build on each other."""


def write_report(
    path: str | os.PathLike[str],
    predictions: Any,
    aggregator: AbstractAggregator | None = None,
    labels: Any = None,
    *,
    title: str | None = None,
    most_items: int = 300,
) -> Path:
    """Write what the members said and what became of it as one HTML page; its path.

    Parameters
    ----------
    path
        Where to write; a file that is there already is replaced.
    predictions
        Whatever `Predictions` takes.
    aggregator
        Fitted, or else a copy is fitted here without labels; `Consensus()` by default. The page shows
        its `predict_proba` of the predictions.
    labels
        Known truths as names or positions of classes, -1 or None where unknown. They only score.
    title
        The heading.
    most_items
        How many items are listed, each with its explanation; the figures are of all items.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(f"{folder}/report.html", [[[0.9, 0.1], [0.2, 0.8]], [[0.6, 0.4], [0.7, 0.3]]]).name
    'report.html'
    """
    payload = report_payload(predictions, aggregator, labels, title=title, most_items=most_items)
    target = Path(path)
    # A lone surrogate in a title has no encoding; everything else is ASCII or escaped.
    with whole_file(target) as file:
        file.write(page(payload).encode("utf-8", errors="replace"))
    return target


def page(payload: dict[str, Any]) -> str:
    """The HTML of a payload."""
    assets = files("consilience.report") / "assets"
    read = {name: (assets / name).read_text(encoding="utf-8") for name in ("report.html", STYLE, *SCRIPTS)}
    scripts = [read[name] for name in SCRIPTS]
    return Template(read["report.html"]).substitute(
        policy=_policy(read[STYLE], scripts),
        title=escape(payload["title"]),
        style=read[STYLE],
        payload=embedded(payload),
        scripts="\n".join(f"<script>{script}</script>" for script in scripts),
    )


def embedded(payload: dict[str, Any]) -> str:
    r"""The payload as JSON without a character that means anything to HTML.

    >>> embedded({"name": "</script>"})
    '{"name":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(payload, allow_nan=False, separators=(",", ":"))
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")


def _policy(style: str, scripts: list[str]) -> str:
    """A content security policy under which the page may do nothing but run these scripts and apply this style."""
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {' '.join(map(_hash, scripts))}",
            f"style-src {_hash(style)}",
            "img-src data:",  # an empty icon, so that no browser asks for one
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
        ]
    )


def _hash(content: str) -> str:
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"
