"""Build the page: a template, a style sheet, scripts and one payload in a single file that fetches nothing.

The figures are heat maps, bars and one kind of line, drawn by a hundred lines of SVG and a few table cells. A plotting
library would be larger than the rest of the page, and writes style elements that the content security policy forbids.
That policy allows only the scripts and styles of this package, by their hashes, and no string may become markup. So no
name in the data can do harm, even if the escaping missed one.
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

STYLES = ("page.css", "opening.css", "figures.css", "tables.css", "print.css")
SCRIPTS = (
    *("elements.js", "tables.js", "heat.js", "reliability.js", "waterfall.js"),  # what sections are made of
    *("opening.js", "members.js", "confusions.js", "calibration.js", "items.js", "explanation.js", "report.js"),
)
"""Each script uses, while it is loaded, only those before it."""


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
    payload = report_payload(
        predictions,
        labels,
        aggregator=aggregator,
        known=known,
        class_shares=class_shares,
        title=title,
        command=command,
        most_items=most_items,
    )
    target = Path(path)
    # Only the title is neither ASCII nor escaped, and a lone surrogate in it cannot be encoded.
    with whole_file(target) as file:
        file.write(page(payload).encode("utf-8", errors="replace"))
    return target


def page(payload: dict[str, Any]) -> str:
    """Build the HTML of a payload."""
    assets = files("consilience.report") / "assets"
    read = {name: (assets / name).read_text(encoding="utf-8") for name in ("report.html", *STYLES, *SCRIPTS)}
    style, scripts = "\n".join(read[name] for name in STYLES), [read[name] for name in SCRIPTS]
    return Template(read["report.html"]).substitute(
        policy=_policy(style, scripts),
        title=escape(payload["title"]),
        style=style,
        payload=embedded(payload),
        scripts="\n".join(f"<script>{script}</script>" for script in scripts),
    )


def embedded(payload: dict[str, Any]) -> str:
    r"""Encode the payload as JSON without any character that HTML interprets.

    >>> embedded({"name": "</script>"})
    '{"name":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(payload, allow_nan=False, separators=(",", ":"))
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")


def _policy(style: str, scripts: list[str]) -> str:
    """Build a content security policy that allows these scripts and this style, and nothing else."""
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {' '.join(map(hash_of, scripts))}",
            f"style-src {hash_of(style)}",
            "img-src data:",  # an empty icon, so that browsers request none
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
        ]
    )


def hash_of(content: str) -> str:
    """How a content security policy names a script or a style."""
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"
