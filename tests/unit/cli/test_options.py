"""Options that several commands share read alike in all of them."""

import typer
from typer.main import get_command

from consilience.cli.app import app
from consilience.cli.methods import method_names
from consilience.cli.options import Method


def test_help_names_every_method():
    (option,) = Method.__metadata__
    assert isinstance(option, typer.models.OptionInfo)
    assert option.help == f"One of {', '.join(method_names())}."


def test_shared_options_have_one_meaning():
    helps = {}
    for command in get_command(app).commands.values():
        for option in command.params:
            if option.name in ("method", "option", "logits", "model", "item_column", "member_column", "label_column"):
                helps.setdefault(option.name, set()).add(option.help)
    helps["logits"] -= {"The graph takes logits instead of probabilities."}  # of export, which reads no predictions
    helps["model"] -= {"A model that `aggregate --save` wrote."}  # of export, its argument
    assert len(helps) == 7 and all(len(texts) == 1 for texts in helps.values())
