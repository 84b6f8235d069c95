"""Put errors into the words of the command line: flags where the library names the arguments of Python."""

from __future__ import annotations

import re

WORDS = (
    (
        r"Logits go through Predictions\.from_logits, counts through normalize=True",
        "Add :logits to the file's name if these are logits, or say --normalize if they are counts",
    ),
    (r"Use normalize=True to rescale", "Say --normalize to rescale"),
    (r" Use partial=True for predictions that concatenate puts beside others", " Leave such items out of all files"),
    (
        r"sums to 1: use Predictions\(…\)",
        "sums to 1: do not say --logits, or add :probabilities to the name of that file",
    ),
    (r"say n_classes where there are that many", "name them with --classes where there are that many"),
    (r"; one member's \(items, classes\) goes in as \[array\], hard labels through from_labels", ""),
    (
        r"labels must name their items, as a mapping, a Series or a table with",
        "labels must name their items, as a table with",
    ),
    (r"name the items, or give an array of labels", "name the items with --items, or give an array of labels"),
    (r"\b(item|member|label)=(?=['\"])", r"--\1-column "),
    (r"\b(item|member|label)=", r"--\1-column"),
    (
        r"make windows smaller, or give reference=",
        "make windows smaller with --window, or give predictions from before as --reference",
    ),
    (r"\bclasses=\[(.*?)\]", r"--classes=\1"),
    (r"(?<!-)\b(classes|labels)=", r"--\1"),
    (
        r"Use the plain average instead, or give labels of some items to the fit, which correct it",
        "Use --method average instead, or give labels of some items with --known, which correct it",
    ),
    (r"\bmissing='(\w+)'", r"--option missing=\1"),
    (r"(?<!, )\bclass_shares\b", "--class-shares"),
)
"""What the library says, as a pattern, and what the command line says instead."""


def on_command_line(sentence: str) -> str:
    """The same sentence with flags instead of arguments.

    >>> on_command_line("none of ['q'] has a usual name: name it, such as member='who'")
    "none of ['q'] has a usual name: name it, such as --member-column 'who'"
    """
    for python, flag in WORDS:
        sentence = re.sub(python, flag, sentence)
    return sentence
