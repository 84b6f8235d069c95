"""A built page asks nobody but its own site for anything: else the build fails."""

from __future__ import annotations

import re
from typing import Any

ELSEWHERE = r"""["']?(?:https?:)?//[^"'\s>)]+"""
FETCHED = re.compile(
    rf"<(?:script|img|iframe|source|audio|video|embed|object|image|use)\b[^>]*?\b(?:src|srcset|data|href)={ELSEWHERE}"
    rf"|<link\b(?=[^>]*\brel=[\"']?(?:stylesheet|icon|manifest|(?:module)?preload|preconnect|dns-prefetch))"
    rf"[^>]*?\bhref={ELSEWHERE}"
    rf"|url\({ELSEWHERE}"
    rf"|@import\s+{ELSEWHERE}",
    re.IGNORECASE,
)


def fetched_from_elsewhere(html: str) -> str | None:
    """The first part of a page that would fetch something from another site; links to follow are none."""
    found = FETCHED.search(html)
    return None if found is None else found[0]


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """The page as it is, but for the name of its search."""
    if found := fetched_from_elsewhere(output):
        raise ValueError(
            f"{page.file.src_uri}: pages must fetch nothing from elsewhere; got {found}"
        )
    # The theme gives its search dialog no name, which screen readers need.
    return output.replace(
        'data-md-component="search" role="dialog"',
        'data-md-component="search" role="dialog" aria-label="Search"',
    )
