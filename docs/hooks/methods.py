"""A method that one page defines as an example does not take part in the comparisons of other pages."""

from __future__ import annotations

from typing import Any

from consilience.aggregators import registry


def on_page_content(html: str, **_: Any) -> str:
    """Forget the methods that the page defined, once it is rendered."""
    defined = registry._DEFINED  # noqa: SLF001 - only a build of many pages needs to forget
    for name in [
        name
        for name, kind in defined.items()
        if not kind.__module__.startswith("consilience.")
    ]:
        del defined[name]
    return html
