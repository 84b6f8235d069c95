"""Options that several commands share read alike in all of them; tables name their columns by options."""

from inspect import signature
from typing import get_args

import pytest
from typer.main import get_command

from consilience.cli.app import app
from consilience.cli.inputs import method_names
from consilience.cli.shared_options import Given, with_options
from consilience.data.tables.told import Told

NAMES = ["item_column", "member_column", "label_column", "classes", "ordered", "items", "normalize", "positive"]
NAMES += ["from_", "question"]


def test_help_names_every_method():
    command = get_command(app).get_command(None, "aggregate")
    (option,) = (own for own in command.params if own.name == "method")
    assert option.opts == ["--method", "-m"] and option.help == f"One of {', '.join(method_names())}."


def test_shared_options_have_one_meaning():
    helps = {}
    group = get_command(app)
    for command in (group.get_command(None, name) for name in group.commands):
        for option in command.params:
            if option.name in ("method", "option", "logits", "model", "item_column", "member_column", "label_column"):
                helps.setdefault(option.name, set()).add(option.help)
    helps["logits"] -= {"The graph takes logits instead of probabilities."}  # of export, which reads no predictions
    helps["model"] -= {"A model that `aggregate --save` wrote."}  # of export, its argument
    assert len(helps) == 7 and all(len(texts) == 1 for texts in helps.values())


def test_every_option_has_help():
    group = get_command(app)
    for command in (group.get_command(None, name) for name in group.commands):
        assert "Options:" not in command.help
        assert all(option.help for option in command.params), command.name


def test_an_option_without_help_is_noticed():
    def command(*, item: str):
        """Take something."""

    with pytest.raises(KeyError, match="item"):
        with_options(command)


def test_help_and_flags_are_those_of_the_docstring():
    @with_options
    def command(*, least: float | None = None, is_new: bool = False):
        """Say something.

        Options:
        least, -l, --at-least: The least that
            is said.
        is_new: Whether it is new.
        """

    (least, _), (is_new, _) = (get_args(own.annotation)[::-1] for own in signature(command).parameters.values())
    assert (least.param_decls, least.help) == (("--least", "-l", "--at-least"), "The least that is said.")
    assert (is_new.param_decls, is_new.help) == (("--is-new",), "Whether it is new.")
    assert command.__doc__ == "Say something."


def test_options_stand_in_the_place_of_the_parameter():
    @with_options
    def command(*, item, given: Given, json=False):
        """Take something.

        Options:
        item: The item.
        """

    assert list(signature(command).parameters) == ["item", "files", *NAMES, "logits", "json"]


def test_the_command_gets_the_columns():
    heard = {}

    @with_options
    def command(*, json, given: Given):
        heard.update(given._asdict())

    given = dict.fromkeys(NAMES) | {
        "item_column": "q",
        "label_column": "said",
        "classes": 'a, "b,c"',
        "normalize": True,
        "ordered": True,
    }
    command(files=["a.csv"], logits=True, json=True, **given)
    assert heard == {
        "files": ["a.csv"],
        "told": Told("q", None, "said", ("a", "b,c"), None, normalize=True, ordered=True),
        "logits": True,
        "quiet": True,
    }


def test_tables_are_read_by_the_columns_named(run, tmp_path):
    rows = "".join(f"{q},w{w},{'yes' if q % 2 else 'no'}\n" for q in range(6) for w in range(3))
    (tmp_path / "a.csv").write_text(f"q,who,said\n{rows}", encoding="utf-8")
    named = ("--item-column", "q", "--member-column", "who", "--label-column", "said")
    code, out, _ = run("aggregate", "a.csv", "-m", "majority-vote", *named)
    assert code == 0 and "3 members on 6 items and 2 classes" in out
    code, _, err = run("aggregate", "a.csv", "--item-column", "nope")
    assert code == 2 and "expected the column 'nope'" in " ".join(err.split())
