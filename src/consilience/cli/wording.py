"""Put warnings into the words of the command line: flags where the library names the arguments of Python.

Errors about tables carry what to say as data (`system.errors.Say`), and need none of this.
"""

from __future__ import annotations

import re

REWORDED = (
    (
        r"make windows smaller, or give reference=",
        "make windows smaller with --window, or give predictions from before as --reference",
    ),
    (
        r"Use the plain average instead, or give labels of some items to the fit, which correct it",
        "Use --method average instead, or give labels of some items with --known, which correct it",
    ),
    (r"(?<!-)\blabels=", "--labels"),
    (r"\bmissing='(\w+)'", r"--option missing=\1"),
    (r"(?<!, )\bclass_shares\b", "--class-shares"),
)
"""What the library says, as a pattern, and what the command line says instead."""


def on_command_line(sentence: str) -> str:
    """The same sentence with flags instead of arguments.

    >>> on_command_line("missing='informative' needs one answer")
    '--option missing=informative needs one answer'
    """
    for python, flag in REWORDED:
        sentence = re.sub(python, flag, sentence)
    return sentence
