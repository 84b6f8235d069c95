"""What every refusal looks like: one sentence that names the argument or file, what was expected, and what came."""

from __future__ import annotations

LONGEST = 600
"""Characters of a message: lists of names are cut."""


def assert_one_sentence(message, argument, expected, got):
    """One line without a traceback that says all three."""
    for part in (argument, expected, got):
        assert part in message, f"{part!r} is not in: {message}"
    assert "\n" not in message and "Traceback" not in message, f"more than a sentence: {message}"
    assert len(message) <= LONGEST, f"{len(message)} characters: {message[:200]} …"
    starts = [message.index(part) for part in (argument, expected, got)]
    assert len(set(starts)) > 1, f"one word cannot say all of it: {message}"
