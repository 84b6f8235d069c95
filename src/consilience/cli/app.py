"""The commands, assembled in the order in which --help lists them.

Modules of commands do not postpone annotations: Typer reads the options from them.
"""

from typing import Annotated

import typer

import consilience
from consilience.cli import (
    aggregate,
    compare,
    demo,
    evaluate,
    explain,
    export,
    formats,
    monitor,
    report,
    screen,
    suggest,
)

app = typer.Typer(
    help="Fuse the predictions of several classifiers into one answer, without labels.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(*, is_asked: bool) -> None:
    if is_asked:
        screen.out.print(f"consilience {consilience.__version__}")
        raise typer.Exit


@app.callback()
def _common(
    _: Annotated[
        bool, typer.Option("--version", callback=lambda asked: _version(is_asked=asked), is_eager=True)
    ] = False,
) -> None:
    pass


app.command("aggregate")(aggregate.command)
app.command("compare")(compare.command)
app.command("evaluate")(evaluate.command)
app.command("explain")(explain.command)
app.command("suggest")(suggest.command)
app.command("monitor")(monitor.command)
app.command("report")(report.command)
app.command("export")(export.command)
app.command("formats")(formats.command)
app.command("demo")(demo.command)
