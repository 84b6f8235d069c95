"""Names that a spreadsheet would run as formulas are quoted, and every name comes back as it was."""

import pytest

from consilience.files.writing import with_quote, without_quote


@pytest.mark.parametrize(
    "name", ["=1+1", "+1", "-x", "@sum", "\tx", "\r=", "\uff1dA1", "'=1", "''@", "-1+1", "", "'", "''", "NA", "'NA"]
)
def test_formulas_become_text_and_come_back(name):
    assert with_quote(name) == f"'{name}"
    assert without_quote(f"'{name}") == name


@pytest.mark.parametrize("name", ["cat", "'cat'", "a=b", "-1", "-0.5", "NAN"])
def test_other_names_stay(name):
    assert with_quote(name) == without_quote(name) == name


def test_numbers_are_no_formulas():
    assert with_quote(-1) == -1 and with_quote(-0.5) == -0.5
