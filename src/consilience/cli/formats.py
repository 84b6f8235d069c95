"""`consilience formats`."""

from consilience.cli import screen
from consilience.files.tools import READERS


def command(*, json: bool = False) -> None:
    """List the tools whose files are read: recognised by themselves, or named after `--from`."""
    parts = {name: {part: getattr(own, part) for part in ("item", "member", "label")} for name, own in READERS.items()}
    if json:
        screen.print_json({name: {"tool": READERS[name].title, **columns} for name, columns in parts.items()})
        return
    for name, columns in parts.items():
        mark = "" if READERS[name].verified else " (form not verified)"
        said = (f"  {part}: {column}" for part, column in columns.items())
        screen.print_text(f"{name}: {READERS[name].title}{mark}", *said)
