"""The same panel by every door: the same answer to 1e-12, or a refusal in one sentence; never another answer.

The doors are arrays, lists, frames and files (`tests/doors`); names and orders are drawn. A few cases of each by
default; `CONSILIENCE_CASES` says how many.
"""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import consilience as cs
from consilience.data.tables.told import Told
from consilience.files import read_sources

from doors.entrances import ENTRANCES, like_missing, takes
from doors.layouts import LAYOUTS, can_be_written
from doors.panels import AXES, cases, panels
from doors.uses import METHODS, fitted, named_answer, posterior
from doors.verdict import Answer, Refused, assert_same_answer, checked, places, refusals

methods = st.sampled_from(list(METHODS))


def check(panel, method, open_, named):
    """Open the panel in another order, and compare all that came in, and what is made of it."""
    shown = panel.shuffled()
    try:
        with refusals():
            predictions = open_(shown)
            rows = fitted(method, predictions).posterior_
    except Refused:
        assert panel.may_be_refused
        return
    assert_same_panel(predictions, named, shown)
    assert_same_answer(named_answer(rows, predictions, named), shown, panel, posterior(method, panel))


def assert_same_panel(predictions, named, shown):
    """Every answer is that of the member, item and class of its name."""
    orders = [
        places(getattr(predictions, axis), getattr(shown, axis)) if axis in named else range(size)
        for axis, size in zip(AXES, shown.answers.shape, strict=True)
    ]
    array = predictions.to_array()[np.ix_(*orders)]
    np.testing.assert_allclose(array, shown.answers, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name, door in ENTRANCES.items() for kind in door.kinds])
@cases
@given(data=st.data(), method=methods)
def test_entrances(name, kind, data, method):
    panel = data.draw(panels((kind,)))
    assume(takes(name, panel))
    check(panel, method, ENTRANCES[name].open, ENTRANCES[name].named)


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name, door in LAYOUTS.items() for kind in door.kinds])
@cases
@given(data=st.data(), method=methods)
def test_files(name, kind, data, method, tmp_path_factory):
    panel = data.draw(panels((kind,)))
    assume(can_be_written(name, panel))
    folder = tmp_path_factory.mktemp("files")
    layout = LAYOUTS[name]
    is_text = name.endswith((".csv", ".tsv"))  # where an apostrophe guards names that stand for missing answers
    told = Told(classes=None if is_text or like_missing(panel) is None else tuple(panel.classes))

    def read(shown):
        return read_sources(layout.write(shown, folder), told=told).predictions

    check(panel, method, read, layout.named)


@cases
@given(data=st.data(), method=methods)
def test_one_way_in_to_fit_and_another_to_answer(data, method):
    """A model that was fitted to a panel from one door answers the panel from another."""
    panel = data.draw(panels())
    names = [
        name for name, door in ENTRANCES.items() if door.named and _kind(panel) in door.kinds and takes(name, panel)
    ]
    first, second = data.draw(st.sampled_from(names)), data.draw(st.sampled_from(names))
    again = panel.shuffled(2)
    try:
        with refusals():
            model = fitted(method, ENTRANCES[first].open(panel.shuffled()))
            predictions = ENTRANCES[second].open(again)
            rows = model.predict_proba(predictions)
    except Refused:
        assert panel.may_be_refused
        return
    expected = fitted(method, panel.predictions()).predict_proba(panel.predictions())
    answer = named_answer(rows, predictions, ENTRANCES[second].named)._replace(classes=model.classes_)
    assert_same_answer(answer, again, panel, expected)


def _kind(panel):
    return "hard" if panel.is_hard.all() else "mixed" if panel.is_hard.any() else "soft"


# ---- the judge --------------------------------------------------------------------------------------------


@cases
@given(panel=panels())
def test_another_answer_is_noticed(panel):
    shown, expected = panel.shuffled(), posterior("dawid-skene", panel)
    right = Answer(expected, panel.items, panel.classes)
    assert_same_answer(right, shown, panel, expected)
    moved = Answer(expected, np.roll(panel.items, 1).tolist(), panel.classes)
    assume(np.abs(expected - np.roll(expected, 1, axis=0)).max() > 1e-9)
    with pytest.raises(AssertionError):
        assert_same_answer(moved, shown, panel, expected)
    with pytest.raises(AssertionError, match="names"):
        assert_same_answer(right._replace(classes=[*panel.classes[:-1], "another"]), shown, panel, expected)


def test_only_a_sentence_of_ours_is_a_refusal():
    with pytest.raises(Refused, match="probabilities must"), refusals():
        cs.Predictions([])
    with pytest.raises(ValueError, match="invalid literal"), refusals():
        int("one")
    with pytest.raises(AssertionError, match="more than a sentence"):
        checked("Traceback\nValueError")
