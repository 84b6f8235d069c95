"""Links and paths in pages lead somewhere: else the build fails. MkDocs itself looks at the links between its pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
OUTSIDE = ("*.md", "benchmarks/**/*.md", "paper/**/*.md", "training/**/*.md")
OUTSIDE += ("results/README.md", "results/paper/by-section.md", ".github/**/*.md")
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)")
FOLDERS = "benchmarks|docs|examples|paper|results|src|tests|training"
FILE = re.compile(rf"`((?:{FOLDERS})/[\w./-]+\.\w+)`")
FENCED = re.compile(r"^( *)(`{3,}).*?^\1\2 *$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """What the headings of a page are called in links to it, as GitHub calls them."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    plain = [re.sub(r"[^\w\s-]", "", title).lower() for title in HEADING.findall(text)]
    return {title.strip().replace(" ", "-") for title in plain}


def dead(page: Path) -> list[str]:
    """What a page links to, or names as a file of the project, and what is not there."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    missing = [name for name in FILE.findall(text) if not (ROOT / name).exists()]
    for name, anchor in LINK.findall(text):
        target = (page.parent / name) if name else page
        if not target.exists():
            missing.append(name)
        elif anchor and target.suffix == ".md" and anchor not in anchors(target):
            missing.append(f"{name}#{anchor}")
    return missing


def on_pre_build(**_: Any) -> None:
    """Refuse to build a site with dead links, in the README and its like too."""
    pages = [*(ROOT / "docs").rglob("*.md")]
    pages += [page for pattern in OUTSIDE for page in ROOT.glob(pattern)]
    found = [
        f"{page.relative_to(ROOT)}: {name}" for page in pages for name in dead(page)
    ]
    if found:
        raise ValueError(f"dead links:\n{chr(10).join(found)}")
