"""TeX in pages as MathML, made when the site is built: browsers draw it themselves, without a script."""

from __future__ import annotations

import re
from html import escape, unescape
from typing import Any

from latex2mathml.converter import convert
from mkdocs.exceptions import PluginError

INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
NAMED = re.compile(r"<mo>([A-Za-z]+)</mo>")
LOGARITHM = re.compile(r"(<mi>(?:log|ln)</mi>)(?=<mi>|<msub)")
DISPLAY = re.compile(r'<div class="arithmatex">\\\[(.*?)\\\]</div>', re.DOTALL)


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """The page with its formulas converted."""
    html = DISPLAY.sub(lambda found: _mathml(found[1], page, display="block"), html)
    return INLINE.sub(lambda found: _mathml(found[1], page, display="inline"), html)


def _mathml(tex: str, page: Any, *, display: str) -> str:
    source = unescape(tex).strip()
    formula = convert(source, display=display)
    if "\\" in formula or "<mi>&</mi>" in formula:  # what the converter does not know it writes out as it is
        raise PluginError(f"{page.file.src_uri}: no MathML for {source!r}; it became {formula}")
    formula = NAMED.sub(r'<mi mathvariant="normal">\1</mi>', formula)  # a name is no operator with room on both sides
    formula = LOGARITHM.sub(r'\1<mspace width="0.167em" />', formula)
    formula = formula.replace("<math", f'<math alttext="{escape(source)}"', 1)
    return f'<div class="formula">{formula}</div>' if display == "block" else formula
