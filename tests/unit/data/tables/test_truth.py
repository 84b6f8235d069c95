"""Which columns of a table of labels hold the items and the labels."""

import pytest

from consilience.data.tables.columns import Column, Columns
from consilience.data.tables.roles import columns_of_labels
from consilience.data.tables.told import Told
from consilience.system.errors import InvalidPredictions


def as_columns(table):
    return Columns({name: Column.of_list(name, values) for name, values in table.items()})


def item_of_labels(table, told=None):
    found = columns_of_labels(as_columns(table), Told(item=told))[0]
    return None if found is None else found.name


def label_of_labels(table, item, told=None):
    return columns_of_labels(as_columns(table), Told(item=item, label=told))[1].name


COUNT, NAMES, LABELS = ["0", "1", "2"], ["226", "412", "7"], ["pass", "fail", "pass"]


@pytest.mark.parametrize("index", ["", "Unnamed: 0", "index"])
@pytest.mark.parametrize("item", ["qid", "question_id", "thing"])
def test_an_index_that_counts_rows_never_wins(index, item):
    table = {index: COUNT, item: NAMES, "label": LABELS}
    assert item_of_labels(table) == item
    assert label_of_labels(table, item) == "label"


def test_an_index_names_items_if_nothing_else_does():
    assert item_of_labels({"": COUNT, "label": LABELS}) == ""
    assert item_of_labels({"": NAMES, "thing": ["a", "b", "c"], "label": LABELS}) == ""
    assert item_of_labels({"label": LABELS}) is None
    assert item_of_labels({"": COUNT, "score": ["0.5", "0.1", "0.2"], "label": LABELS}) == ""


def test_two_columns_that_may_name_items_are_refused():
    with pytest.raises(InvalidPredictions, match="say item='thing'"):
        item_of_labels({"": COUNT, "thing": NAMES, "note": ["a", "b", "c"], "label": LABELS})


def test_a_column_that_was_told_wins():
    table = {"": COUNT, "thing": NAMES, "label": LABELS, "checked": LABELS}
    assert item_of_labels(table, "thing") == "thing"
    assert label_of_labels(table, "thing", "checked") == "checked"
