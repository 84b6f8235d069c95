"""`consilience aggregate`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from consilience.aggregators import Consensus
from consilience.aggregators.base import AbstractAggregator
from consilience.cli import screen
from consilience.cli.inputs import fitted, labels_of, predictions_of
from consilience.cli.methods import DEFAULT
from consilience.cli.options import Files, Json, Labels, Logits, Method, MethodOptions, Model, with_columns
from consilience.cli.outputs import check_places, write_page
from consilience.cli.summary import summarize
from consilience.data.labels import known_labels
from consilience.data.predictions import Predictions
from consilience.files import write_posterior
from consilience.files.recognition import Columns
from consilience.files.writing import check_posterior_path
from consilience.insight.analysis import Analysis
from consilience.insight.label_evaluation import evaluate_labels
from consilience.system.arrays import to_numpy
from consilience.system.atomic import check_writable

MOST_EVALUATED, QUICK_FOLDS = 2000, 5
"""The gain from labels is estimated for at most so many of them, with so many folds, so that it takes seconds."""


@with_columns
def command(
    files: Files,
    *,
    method: Method = DEFAULT,
    option: MethodOptions = None,
    logits: Logits = False,
    labels: Labels = None,
    known: Annotated[
        str | None,
        typer.Option("--known", help="Known labels of some items, to learn from."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", readable=False, help="Where the posterior goes: .npz .npy .csv .parquet .safetensors."
        ),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option("--save", help="Where the fitted model goes, for `--model` and `export`."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option("--report", help="Where an HTML report goes."),
    ] = None,
    model: Model = None,
    json: Json = False,
    columns: Columns,
) -> None:
    """Fuse predictions: who can be trusted on what, where members disagree, what changed against averaging.

    `consilience aggregate vit.npy resnet.npy swin.npy -o fused.npz --report report.html`
    """
    if output is not None:
        check_posterior_path(output)
    for path, suffix in ((save, ".npz"), (report, ".html")):
        if path is not None:
            check_writable(path, (suffix,))
    check_places([output, save, report], [*files, labels, known, model])
    if model is not None and (known is not None or option or method != DEFAULT):
        raise ValueError("--model answers with what was learned; --method, --option and --known do not go with it")
    predictions = predictions_of(files, columns, logits=logits, quiet=json)
    truth = labels_of(labels, predictions, files, columns)
    known_truth = labels_of(known, predictions, files, columns)
    aggregator = fitted(predictions, method, option, model, known_truth)
    analysis = Analysis(predictions, aggregator)
    posterior = to_numpy(aggregator.posterior_ if model is None else analysis.posterior)
    if output is not None:
        write_posterior(output, aggregator, posterior, predictions.items, analysis.truth(known_truth) >= 0)
    if save is not None:
        aggregator.save(save)
    summary = summarize(analysis, posterior, truth, known_truth)
    if report is not None:
        write_page(report, analysis, truth)
    summary |= _gain(aggregator, predictions, known_truth)
    written = [str(path) for path in (output, save, report) if path is not None]
    if json:
        screen.print_json(summary | {"written": written})
        return
    screen.print_summary(summary)
    for place in written:
        screen.print_text(f"Wrote {place}")


def _gain(aggregator: AbstractAggregator, predictions: Predictions, known: Any) -> dict[str, Any]:
    """What the labels gained; empty if that cannot be estimated, or would take far longer than the fit."""
    labels = known_labels(known, predictions.axes)
    n_labels = 0 if labels is None else int((labels >= 0).sum())
    if not isinstance(aggregator, Consensus) or not 2 <= n_labels <= MOST_EVALUATED or aggregator.correction_ is None:
        return {}
    with screen.waiting("what the labels bought"):
        found = evaluate_labels(predictions, known, aggregator, n_folds=QUICK_FOLDS)
    parts = {"before": found.before, "half": found.half, "after": found.after}
    return {"labels": {"sentence": found.sentence(), **parts}}
