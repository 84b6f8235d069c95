"""The exception of the experiments."""

from __future__ import annotations


class CannotReproduce(ValueError):  # noqa: N818 - it says what is wrong; "Error" would add nothing
    """An experiment cannot be run as asked; the message says what was expected and what was given."""
