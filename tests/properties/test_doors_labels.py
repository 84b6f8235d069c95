"""Labels in every form that says the same, given to all that takes labels, for panels by every door."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from consilience.files import read_labels

from doors.entrances import ENTRANCES, FRAMES, takes
from doors.panels import cases, panels
from doors.truths import FILES, FORMS, are_counted, asked
from doors.uses import METHODS, Uses
from doors.verdict import Refused, refusals

KEEP_ORDER = [name for name in ENTRANCES if not name.startswith((*FRAMES, "parts"))]
"""The doors behind which items stand in the order in which they were shown."""


def entered(data, doors=tuple(ENTRANCES)):
    """A panel, as it is shown in another order, by a door that takes it."""
    door = data.draw(st.sampled_from(doors))
    panel = data.draw(panels(ENTRANCES[door].kinds))
    assume(takes(door, panel))
    return door, panel, panel.shuffled()


def check(form, door, panel, shown, give, use):
    """Use labels of this form; they may be refused where names are odd, or where the order of items may be lost."""
    loses_order = form.is_ordered and door not in KEEP_ORDER
    assume(not (loses_order and are_counted(panel.items)))
    named = ENTRANCES[door].named
    labels = give(asked(shown, named, panel.rng))
    is_unsure = form.may_be_refused or loses_order or (form.is_series and "items" not in named)
    try:
        with refusals():
            uses = Uses(panel, shown, ENTRANCES[door].open(shown), named)
            use(uses, labels)
    except Refused:
        assert panel.may_be_refused or is_unsure


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("use", ["fit", "compare", "suggest"])
@cases
@given(data=st.data())
def test_forms(name, use, data):
    form = FORMS[name]
    check(form, *entered(data), form.give, lambda uses, labels: getattr(uses, use)(labels))


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("use", ["evaluate_frame", "evaluate_array"])
@cases
@given(data=st.data())
def test_forms_beside_a_posterior(name, use, data):
    """A frame names its items, so labels in order may be refused. An array has no names for labels to go by."""
    form = FORMS[name]
    if use == "evaluate_array" and not form.is_ordered:
        return
    if use == "evaluate_frame" and form.is_ordered:
        form = form._replace(may_be_refused=True)
    doors = KEEP_ORDER if form.is_ordered else tuple(ENTRANCES)
    check(form, *entered(data, doors), form.give, lambda uses, labels: getattr(uses, use)(labels))


@pytest.mark.parametrize("name", FORMS)
@cases
@given(data=st.data(), method=st.sampled_from([name for name in METHODS if name != "consensus"]))
def test_every_method_learns_the_same(name, data, method):
    form = FORMS[name]
    check(form, *entered(data), form.give, lambda uses, labels: uses.fit(labels, method))


@cases
@given(data=st.data(), name=st.sampled_from(list(FORMS)))
def test_what_labels_brought(data, name):
    form = FORMS[name]
    check(form, *entered(data), form.give, Uses.value_of_labels)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
@cases
@given(data=st.data(), name=st.sampled_from(list(FORMS)))
def test_frames_of_other_libraries(library, data, name):
    form = FORMS[name]._replace(may_be_refused=True)
    doors = KEEP_ORDER if form.is_ordered else tuple(ENTRANCES)
    check(form, *entered(data, doors), form.give, lambda uses, labels: uses.evaluate_frame(labels, library))


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("use", ["fit", "compare", "suggest"])
@cases
@given(data=st.data())
def test_files_of_labels(name, use, data, tmp_path_factory):
    form = FILES[name]
    folder = tmp_path_factory.mktemp("labels")
    check(
        form,
        *entered(data),
        lambda told: form.give(told, folder),
        lambda uses, path: getattr(uses, use)(read_labels(path).labels),
    )
