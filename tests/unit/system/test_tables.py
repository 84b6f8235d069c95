import numpy as np
import pytest

from consilience.system.tables import MOST_PRINTED, Table

TABLE = Table({"name": ["a", "b"], "n": [1, 2], "x": [0.5, 0.25]})


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_tables_become_frames(library):
    frame = Table({"a": ["x", "y"], "b": [1.0, 2.0]}).to_frame(library)
    assert type(frame).__module__.split(".")[0] == library
    assert frame.shape == (2, 2)


def test_columns_and_rows_are_the_same_values():
    assert len(TABLE) == 2 and TABLE.columns == ["name", "n", "x"]
    assert TABLE.rows() == [{"name": "a", "n": 1, "x": 0.5}, {"name": "b", "n": 2, "x": 0.25}]
    assert TABLE.to_dict() == {name: TABLE[name] for name in TABLE.columns}


def test_the_dictionary_is_a_copy_and_so_is_what_a_table_is_made_of():
    column = [1, 2]
    table = Table({"n": column})
    column.append(3)
    table.to_dict()["n"].append(4)
    assert table["n"] == [1, 2]


def test_tables_without_rows_or_columns():
    assert (len(Table({})), Table({}).rows(), repr(Table({}))) == (0, [], "")
    assert (len(Table({"a": []})), Table({"a": []}).rows(), repr(Table({"a": []}))) == (0, [], "a")


def test_numbers_are_aligned_to_the_right_and_missing_ones_are_blank():
    table = Table({"name": ["<b>", "long name"], "n": [1, np.int64(23)], "x": [np.float32(0.5), float("nan")]})
    assert repr(table) == "name        n       x\n<b>         1  0.5000\nlong name  23"
    assert repr(Table({"mixed": [1, "long"]})) == "mixed\n1\nlong"


def test_long_tables_print_their_first_rows():
    assert repr(Table({"n": list(range(MOST_PRINTED + 10))})).endswith(f"{MOST_PRINTED - 1}\n… and 10 more rows")
    assert "more rows" not in repr(Table({"n": list(range(MOST_PRINTED))}))


def test_html_is_escaped():
    shown = Table({"<i>": ["<b>&", "x"], "n": [0.5, 1.0]})._repr_html_()
    assert "<th>&lt;i&gt;</th>" in shown and "<td>&lt;b&gt;&amp;</td>" in shown and "<td>1.0000</td>" in shown
    assert shown.count("<tr>") == 3


def test_columns_must_be_equally_long():
    with pytest.raises(ValueError, match="^columns must be equally long$"):
        Table({"a": [1], "b": []})


@pytest.mark.parametrize("wrong", ["N", 0])
def test_a_column_that_is_not_there_is_told_which_are(wrong):
    with pytest.raises(KeyError, match=r"\['name', 'n', 'x'\]; got .*rows\(\)"):
        TABLE[wrong]
