"""TeX in pages as MathML, made when the site is built: browsers draw it themselves, without a script."""

from __future__ import annotations

import re
from html import escape, unescape
from typing import Any

from latex2mathml.converter import convert

INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
DISPLAY = re.compile(r'<div class="arithmatex">\\\[(.*?)\\\]</div>', re.DOTALL)
NAME = re.compile(r"<mo>([A-Za-z]+)</mo>")
LOGARITHM = re.compile(r"(<mi>(?:log|ln)</mi>)(?=<mi>|<msub)")


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """The page with its formulas converted."""
    try:
        html = DISPLAY.sub(
            lambda found: (
                f'<div class="formula" tabindex="0">{mathml(found[1], display="block")}</div>'
            ),
            html,
        )
        return INLINE.sub(lambda found: mathml(found[1], display="inline"), html)
    except ValueError as error:
        raise ValueError(f"{page.file.src_uri}: {error}") from error


def mathml(tex: str, *, display: str) -> str:
    """A formula, with its TeX for those who cannot see it."""
    source = unescape(tex).strip()
    formula = convert(source, display=display)
    if (
        "\\" in formula or "<mi>&</mi>" in formula
    ):  # what the converter does not know it writes out as it is
        raise ValueError(f"there is no MathML for {source!r}; it became {formula}")
    formula = NAME.sub(
        r'<mi mathvariant="normal">\1</mi>', formula
    )  # a name is no operator with room on both sides
    formula = LOGARITHM.sub(r'\1<mspace width="0.167em" />', formula)
    return formula.replace("<math", f'<math alttext="{escape(source)}"', 1)
