"""`consilience export`."""

from pathlib import Path
from typing import Annotated

import typer

from consilience.aggregators import load
from consilience.cli import screen
from consilience.cli.outputs import check_places
from consilience.system.atomic import check_writable


def command(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", readable=False, help="A model that `aggregate --save` wrote.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the ONNX graph goes.")],
    logits: Annotated[bool, typer.Option("--logits", help="The graph takes logits instead of probabilities.")] = False,
) -> None:
    """Write a fitted model as an ONNX graph, for any server to run."""
    check_writable(output, (".onnx",))
    check_places([output], [model])
    load(model).to_onnx(output, logits=logits)
    screen.print_text(f"Wrote {output}")
