"""The commands, in the order in which --help lists them.

Modules of commands do not postpone annotations: Typer reads the options from them.
"""

import ast
from copy import copy
from importlib import import_module
from importlib.resources import files
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

import consilience

COMMANDS = (
    "aggregate",
    "compare",
    "evaluate",
    "agreement",
    "explain",
    "suggest",
    "monitor",
    "report",
    "export",
    "formats",
    "demo",
)

SETTINGS: dict[str, Any] = {
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": "markdown",
    "context_settings": {"help_option_names": ["-h", "--help"]},
}


class Commands(TyperGroup):
    """Loads a command when it is called, and none of them to list them all."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command with its options."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        from consilience.cli.shared_options import with_options  # noqa: PLC0415 - a list of commands needs no NumPy

        alone = typer.Typer(**SETTINGS)
        alone.command(cmd_name)(with_options(import_module(f"consilience.cli.{cmd_name}").command))
        return get_command(alone)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Show the list, for which a plain group of `_first_sentence`s will do."""
        listed = copy(self)
        listed.__class__ = TyperGroup  # type: ignore[assignment]
        listed.format_help(ctx, formatter)


def _first_sentence(command: str) -> str:
    """What a command does, read from its file."""
    source = files("consilience.cli").joinpath(f"{command}.py").read_text(encoding="utf-8")
    functions = (node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef))
    described = next(function for function in functions if function.name == "command")
    return (ast.get_docstring(described) or "").partition("\n")[0]


app = typer.Typer(
    help="Fuse the predictions of several classifiers into one answer, without labels.",
    no_args_is_help=True,
    cls=Commands,
    **SETTINGS,
)


def _version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"consilience {consilience.__version__}")
        raise typer.Exit


@app.callback()
def _common(_: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True)] = False) -> None:
    pass


for name in COMMANDS:
    app.command(name, help=_first_sentence(name))(lambda: None)
