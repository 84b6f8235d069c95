"""How long the documentation is: the build says it, and fails if it is too long."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FENCED = re.compile(r"^( *)(`{3,}).*?^\1\2 *$", re.MULTILINE | re.DOTALL)


MOST = 20_000


def words_of(text: str) -> int:
    """The number of words outside of fenced code: whatever holds a letter or a digit, between two spaces."""
    return sum(bool(re.search(r"\w", word)) for word in FENCED.sub("", text).split())


def by_page() -> dict[str, int]:
    """The words of the pages, of the README, and of the page that explains the results."""
    pages = [
        ROOT / "README.md",
        ROOT / "results" / "README.md",
        *(ROOT / "docs").rglob("*.md"),
    ]
    return {
        str(page.relative_to(ROOT)): words_of(page.read_text(encoding="utf-8"))
        for page in sorted(pages)
    }


def on_post_build(**_: Any) -> None:
    """Say how many words there are."""
    counted = by_page()
    n_words = sum(counted.values())
    logging.getLogger("mkdocs").log(
        logging.WARNING if n_words > MOST else logging.INFO,
        "The documentation has %s words in %s pages; at most %s are wanted.",
        f"{n_words:,}",
        len(counted),
        f"{MOST:,}",
    )
