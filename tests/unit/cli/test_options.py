"""Options that several commands share read alike in all of them; tables name their columns by options."""

from inspect import signature

import typer
from typer.main import get_command

from consilience.cli.app import app
from consilience.cli.inputs import method_names
from consilience.cli.options import Given, MethodOption, with_options
from consilience.data.tables.told import Told

NAMES = ["item_column", "member_column", "label_column", "classes", "ordered", "items", "normalize", "positive"]
NAMES += ["format_", "question"]


def test_help_names_every_method():
    (option,) = MethodOption.__metadata__
    assert isinstance(option, typer.models.OptionInfo)
    assert option.help == f"One of {', '.join(method_names())}."


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


def test_options_stand_in_the_place_of_the_parameter():
    @with_options
    def command(*, item, given: Given, json=False):
        """Say something."""

    assert list(signature(command).parameters) == ["item", "files", *NAMES, "logits", "json"]
    assert command.__doc__ == "Say something."


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
