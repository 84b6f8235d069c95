"""`consilience export`."""

from pathlib import Path
from typing import Annotated

from typer import Argument

from consilience.aggregators import load
from consilience.cli import screen
from consilience.cli.outputs import check_outputs


def command(
    model: Annotated[Path, Argument(metavar="MODEL", readable=False)], output: Path, *, logits: bool = False
) -> None:
    """Write a fitted model as an ONNX graph, for any server to run.

    Options:
    model: A model that `aggregate --save` wrote.
    output, -o: Where the ONNX graph goes.
    logits: The graph takes logits instead of probabilities.
    """
    check_outputs([(output, ".onnx")], [model])
    load(model).to_onnx(output, logits=logits)
    screen.print_text(f"Wrote {output}")
