"""The class shares of `--class-shares`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consilience.aggregators.consensus.class_shares import read_shares

if TYPE_CHECKING:
    from consilience.data.predictions import Predictions
    from consilience.system.arrays import FloatArray

FORM = "--class-shares must be like cat=.2,dog=.8, or like .2,.8 in the order of the classes"


def shares_of(text: str | None, predictions: Predictions) -> FloatArray | None:
    """The shares in the order of the classes; None where none are given. Raises before anything is fitted."""
    if text is None:
        return None
    pairs = [part.rpartition("=")[::2] for part in text.split(",")]
    try:
        numbers = [float(number) for _, number in pairs]
    except ValueError:
        raise ValueError(f"{FORM}; got {text!r}") from None
    names = [name.strip() for name, _ in pairs]
    given = dict(zip(_classes(names, predictions), numbers, strict=True)) if any(names) else numbers
    if len(given) < len(numbers):
        raise ValueError(f"--class-shares must name each class once; got {text!r}")
    try:
        return read_shares(given, predictions.classes)
    except ValueError as error:
        raise ValueError(str(error).replace("class_shares", "--class-shares", 1)) from None


def _classes(names: list[str], predictions: Predictions) -> list[object]:
    """The classes of these names; a name that no class has stays as it is."""
    places = [predictions.axes.classes.find(name) for name in names]
    found = zip(names, places, strict=True)
    return [name if place is None else predictions.classes[place] for name, place in found]
