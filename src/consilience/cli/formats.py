"""`consilience formats`."""

from consilience.cli import screen
from consilience.cli.options import Json
from consilience.files.tools import READERS


def command(*, json: Json = False) -> None:
    """List the tools whose files are read: recognised by themselves, or named after `--from`."""
    if json:
        screen.print_json(
            {
                name: {"tool": own.title, "item": own.item, "member": own.member, "label": own.label}
                for name, own in READERS.items()
            }
        )
        return
    for name, own in READERS.items():
        mark = "" if own.verified else " (form not verified)"
        screen.print_text(
            f"{name}: {own.title}{mark}\n  item: {own.item}\n  member: {own.member}\n  label: {own.label}"
        )
