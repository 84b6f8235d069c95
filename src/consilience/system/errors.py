"""The exceptions and warnings of the project."""

from __future__ import annotations


class InvalidPredictions(ValueError):  # noqa: N818 - it says what is wrong; "Error" would add nothing
    """The data cannot be used; the message says what was expected and what was given."""
