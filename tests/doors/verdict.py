"""What every door owes: the same answer, or a refusal in one sentence; never another answer."""

from __future__ import annotations

import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import consilience
from consilience.data.names import text_of

from trust.sentences import LONGEST

TOLERANCE = 1e-11
PACKAGE = str(Path(consilience.__file__).parent)


class Refused(Exception):  # noqa: N818 - a verdict, not an error
    """A door said in one sentence why it does not let a panel in."""


class Answer(NamedTuple):
    """A posterior, and the names along it; None where it has none and stands in the order of the panel shown."""

    rows: Any  # (items, classes)
    items: list[Any] | None
    classes: list[Any] | None


@contextmanager
def refusals():
    """Turn what consilience says in a sentence into `Refused`; anything else stays an error."""
    try:
        yield
    except (ValueError, TypeError) as error:
        if not traceback.extract_tb(error.__traceback__)[-1].filename.startswith(PACKAGE):
            raise
        raise Refused(checked(str(error))) from error


def checked(message):
    """A refusal, which must be one sentence."""
    assert message and "\n" not in message and "Traceback" not in message, f"more than a sentence: {message!r}"
    assert len(message) <= LONGEST, f"{len(message)} characters: {message[:200]} …"
    return message


def text(name):
    """A name as text. A whole number has no point: libraries make 1.0 of 1 where another number is missing."""
    return text_of(str(name))


def places(names, among):
    """Where each of `among` stands in `names`, compared as text."""
    plain = text if {*map(str, names)} != {*among} else str
    position = {plain(name): place for place, name in enumerate(names)}
    wanted = [plain(name) for name in among]
    assert len(names) == len(among) and set(position) == set(wanted), f"names {sorted(position)} for {sorted(wanted)}"
    return [position[name] for name in wanted]


def assert_same_answer(answer, shown, panel, expected):
    """The posterior is the expected one (items and classes in the order of the panel), to `TOLERANCE`."""
    rows = np.asarray(answer.rows, dtype=np.float64)
    items = places(shown.items if answer.items is None else answer.items, panel.items)
    classes = places(shown.classes if answer.classes is None else answer.classes, panel.classes)
    assert rows.shape == expected.shape
    np.testing.assert_allclose(rows[items][:, classes], expected, rtol=0, atol=TOLERANCE)


def assert_same_scores(found, expected):
    """The scores are the expected ones, to what rounding makes of a logarithm."""
    for metric, value in expected.items():
        np.testing.assert_allclose(found[metric], value, rtol=0, atol=1e-9, err_msg=metric)
