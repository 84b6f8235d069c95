"""Figures in pages: `show(figure, "what it shows")` in an executed block prints the figure as inline SVG."""

from __future__ import annotations

import io
import re
import sys
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from consilience.plots import INK

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def on_config(config: Any) -> Any:
    """Let executed blocks say `from figures import svg`."""
    sys.path.insert(0, str(Path(__file__).parent))
    return config


def svg(figure: Figure, description: str) -> str:
    """The figure as an element of a page: no background, ink in the colour of the page's text, text as text."""
    import matplotlib as mpl  # noqa: PLC0415 - only pages with figures need it

    file = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": description}):
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    drawing = file.getvalue()
    drawing = drawing[drawing.index("<svg") :]
    drawing = re.sub(r"<metadata>.*?</metadata>", "", drawing, flags=re.DOTALL)
    drawing = re.sub(r' (width|height)="[\d.]+pt"', "", drawing, count=2)
    drawing = re.sub(INK, "currentColor", drawing, flags=re.IGNORECASE)
    drawing = drawing.replace(
        "<svg", f'<svg role="img" aria-label="{escape(description)}"', 1
    )
    width = figure.get_figwidth()
    return f'<figure class="plot" style="max-width: {width / 10 * 52:.0f}rem">{drawing}</figure>\n'
