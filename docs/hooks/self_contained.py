"""A built page asks nobody but its own site for anything: else the build fails."""

from __future__ import annotations

import re
from typing import Any

from mkdocs.exceptions import PluginError

FETCHED = re.compile(
    r"""<(?:script|img|iframe|source|audio|video|embed|object|image|use)\b[^>]*?\b(?:src|srcset|data|href)=["']?(?:https?:)?//[^"'\s>]+"""
    r"""|<link\b(?=[^>]*\brel=["']?(?:stylesheet|preload|preconnect|dns-prefetch|icon|modulepreload))[^>]*?\bhref=["']?(?:https?:)?//[^"'\s>]+"""
    r"""|url\(["']?(?:https?:)?//[^)]+|@import\s+["'](?:https?:)?//[^"']+""",
    re.IGNORECASE,
)


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """The page as it is; raises where it would fetch something from elsewhere."""
    if found := FETCHED.search(output):
        raise PluginError(f"{page.file.src_uri}: pages must fetch nothing from elsewhere; got {found[0]}")
    return output
