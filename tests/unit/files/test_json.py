"""JSON is read as a table: records, lines, columns, records inside records, and rows of numbers."""

import json

import pytest

import consilience as cs
from consilience.files import read_sources
from consilience.files.contents import columns_of_json, read_json


def read(path, value):
    by_line = path.suffix == ".jsonl"
    text = "\n".join(map(json.dumps, value)) if by_line else value if isinstance(value, str) else json.dumps(value)
    path.write_text(text, encoding="utf-8")
    columns = columns_of_json(read_json(path), path)
    lists = columns.lists
    return {name: values_of(columns[name]) for name in columns if name not in lists}, lists


def values_of(column):
    if column.cells is not None:
        return list(column.cells)
    return [None if code < 0 else column.coded.values[code] for code in column.coded.codes.tolist()]


def test_records_and_lines_and_columns_say_the_same(tmp_path):
    records = [{"id": 1, "label": "x"}, {"id": 2}]
    expected = {"id": [1, 2], "label": ["x", None]}
    assert read(tmp_path / "a.json", records)[0] == expected
    assert read(tmp_path / "a.jsonl", records)[0] == expected
    assert read(tmp_path / "a.json", {"id": [1, 2], "label": ["x", None]})[0] == expected
    split = {"columns": ["id", "label"], "index": ["a", "b"], "data": [[1, "x"], [2, None]]}
    assert read(tmp_path / "a.json", split)[0] == {"index": ["a", "b"], **expected}
    assert read(tmp_path / "a.json", {"columns": ["id", "label"], "data": [[1, "x"], [2, None]]})[0] == expected
    by_index = {"label": {"a": "x", "b": None}}
    assert read(tmp_path / "a.json", by_index)[0] == {"index": ["a", "b"], "label": ["x", None]}


def test_as_many_items_as_classes_in_lists_of_rows(tmp_path):
    """`columns` was read as a column, and classes of two files were matched by their places."""
    rows = [[0.7, 0.2, 0.1], [0.1, 0.7, 0.2], [0.2, 0.1, 0.7]]
    for name, classes in (("a", ["cat", "dog", "owl"]), ("b", ["owl", "cat", "dog"])):
        data = [[row[["cat", "dog", "owl"].index(label)] for label in classes] for row in rows]
        split = {"columns": classes, "index": ["x", "y", "z"], "data": data}
        (tmp_path / f"{name}.json").write_text(json.dumps(split), encoding="utf-8")
    panel = read_sources([str(tmp_path / "a.json"), str(tmp_path / "b.json")]).predictions
    assert panel.items == ["x", "y", "z"] and panel.to_array().tolist() == [rows, rows]


@pytest.mark.parametrize(
    ("row", "message"), [([None, 0.8], "must be NaN for every class"), ([], "lists of one length")]
)
def test_a_list_with_gaps_is_no_label(tmp_path, row, message):
    records = [{"item": "a", "probs": [0.2, 0.8]}, {"item": "b", "probs": row}, {"item": "c", "probs": [0.5, 0.5]}]
    (tmp_path / "p.json").write_text(json.dumps(records))
    with pytest.raises(cs.InvalidPredictions, match=message):
        read_sources([str(tmp_path / "p.json")])


def test_whole_numbers_that_no_float_can_hold_are_refused(tmp_path):
    read(tmp_path / "t.json", [{"item": 10**39, "label": 1}])
    with pytest.raises(cs.InvalidPredictions, match="a whole number must have at most 300 digits; got 401"):
        read(tmp_path / "t.json", [{"item": 1, "label": 10**400}])


def test_records_inside_records(tmp_path):
    cells, lists = read(
        tmp_path / "a.json",
        [{"id": 1, "data": {"correct": True, "tags": ["a"]}, "probabilities": {"b": 0.25, "a": 0.75}}],
    )
    assert cells == {"id": [1], "data.correct": [True], "data.tags": [["a"]]}
    assert lists["probabilities"].classes == ["a", "b"] and lists["probabilities"].values.tolist() == [[0.75, 0.25]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"a": 1, "a": 2}]', "a record has a key twice"),
        ('[{"a": {"b": 1}, "a.b": 2}]', "'a.b' twice"),
        ("[1, 2]", "must hold a list of records"),
        ("{}", "must hold a list of records"),
        ('{"columns": ["a", "a"], "data": [[1, 2]]}', "must hold a list of records"),
        ('{"columns": ["a", "b"], "data": [[1]]}', "must hold a list of records"),
        ('{"columns": ["a"], "index": [1, 2], "data": [[1]]}', "must hold a list of records"),
        ('{"columns": [["a", "b"]], "data": [[1]]}', "must hold a list of records"),
        ("not json", "must be JSON in UTF-8"),
        ("[" * 100_000, "must be JSON in UTF-8"),
        (json.dumps([{f"k{i}": i} for i in range(3000)]), "must have records alike"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path, text, message):
    with pytest.raises(cs.InvalidPredictions, match=message):
        read(tmp_path / "a.json", text)
