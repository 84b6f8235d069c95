"""The exceptions and warnings of the project."""

from __future__ import annotations


class InvalidPredictions(ValueError):  # noqa: N818 - it says what is wrong; "Error" would add nothing
    """The data given cannot be what it is said to be; the message says what, expected and got."""
