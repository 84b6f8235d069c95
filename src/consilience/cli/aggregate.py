"""`consilience aggregate`."""

from pathlib import Path
from typing import Annotated

import typer

from consilience.cli import lake, screen
from consilience.cli.inputs import analysed, with_classes_of
from consilience.cli.options import Files, Fit, Json, Labels, Title, with_layout
from consilience.cli.outputs import Back, check_outputs, check_places, write_page
from consilience.cli.summary import gained, summarize
from consilience.data.axes import some
from consilience.data.tables.told import Told
from consilience.insight.analysis import Analysis
from consilience.system.arrays import to_numpy
from consilience.system.tables import Table


@with_layout
def command(
    files: Files,
    *,
    fit: Fit,
    labels: Labels = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            readable=False,
            help="Where the answers go: .csv .jsonl .parquet .npz .npy .safetensors; or a folder, for data sets.",
        ),
    ] = None,
    append: Annotated[
        bool,
        typer.Option(
            "--append",
            help="Write the table that was read again, with the columns answer, confidence, n_answers, agreement and "
            "review in each row.",
        ),
    ] = False,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            help="Write what a tool imports: **label-studio** (predictions, .json), **argilla** (suggestions, .json), "
            "**prodigy** (a queue of the items to review, .jsonl), **datasets** (a folder for load_dataset).",
        ),
    ] = None,
    to_question: Annotated[
        str | None,
        typer.Option("--to-question", help="The tool's question that is answered, if not that of the tool's file."),
    ] = None,
    to_field: Annotated[
        str | None,
        typer.Option("--to-field", help="The tool's field that shows an item: its column of that name, else its name."),
    ] = None,
    review_share: Annotated[
        float | None,
        typer.Option(
            "--review-share", min=0, max=1, help="Name at most this share of the items for review, the least sure ones."
        ),
    ] = None,
    save: Annotated[
        Path | None, typer.Option("--save", help="Where the fitted model goes, for `--model` and `export`.")
    ] = None,
    report: Annotated[Path | None, typer.Option("--report", help="Where an HTML report goes.")] = None,
    title: Title = None,
    json: Json = False,
    posterior: Annotated[
        bool, typer.Option("--posterior", help="With a folder as output: a column for the probability of each class.")
    ] = False,
    skip_bad: Annotated[
        bool,
        typer.Option(
            "--skip-bad",
            help="With a folder as output: leave out, and count, partitions that cannot be read or have other columns, "
            "answers that an earlier partition has, and items without an answer.",
        ),
    ] = False,
    told: Told,
) -> None:
    """Fuse predictions: who can be trusted on what, where members disagree, what changed against averaging.

    `consilience aggregate vit.npy resnet.npy swin.npy -o fused.npz --report report.html`

    Data larger than memory: `consilience aggregate 'votes/*.parquet' -o fused/`. If the output is a folder, each FILE
    is a data set: a file, a folder, a pattern in quotes or an address such as s3://bucket/votes/*.parquet, of .parquet,
    .csv, .tsv or .jsonl files with a column of items. A command that was stopped goes on where it was.
    """
    if to is None and lake.is_folder(output):
        fit.check()
        others = {"labels": labels, "known": fit.known, "report": report, "title": title, "append": append or None}
        lake.check_options(**others, **{"review-share": review_share}, told=told)
        lake.aggregate(files, output, told, fit, posterior=posterior, skip_bad=skip_bad, save=save, is_json=json)
        return
    lake.check_files(files, posterior=posterior, skip_bad=skip_bad)
    back = Back(output, append, to, to_question, to_field, review_share)
    back.check(files)
    check_outputs(save, report)
    check_places([output, save, report], [*files, labels, *fit.files, *told.sources])
    analysis = analysed(files, told, fit, labels, quiet=json)
    aggregator = analysis.method
    rows = to_numpy(aggregator.posterior_ if fit.model is None else analysis.posterior)
    answers = back.write(files, with_classes_of(fit.model, told), analysis, rows, logits=fit.logits)
    if save is not None:
        aggregator.save(save)
    summary = summarize(analysis, rows)
    if fit.known is not None:
        with screen.waiting("what the labels bought"):
            summary |= gained(analysis)
    if report is not None:
        write_page(report, analysis, title)
    written = [str(path) for path in (output, save, report) if path is not None]
    if json:
        screen.print_json(summary | {"written": written})
        return
    screen.print_summary(summary)
    for place in written:
        screen.print_text(f"Wrote {place}")
    _say_what_is_not_written(output, analysis)
    if answers is not None:
        _say_what_to_review(answers, is_bounded=review_share is not None)


def _say_what_to_review(answers: Table, *, is_bounded: bool) -> None:
    """How many items somebody should look at.

    How many of these are wrong is not said: by their confidence it would be 1.5 times too many, or too few, on one real
    panel in five (`results/review.txt`), and more often where members give votes alone.
    """
    if named := sum(why != "" for why in answers["review"]):
        fewer = "" if is_bounded else "; --review-share .1 names the least sure tenth alone"
        screen.print_text(f"To review: {named:,} of {len(answers):,} items; only labels tell how many are wrong{fewer}")


def _say_what_is_not_written(output: Path | None, analysis: Analysis) -> None:
    if output is None or output.suffix.lower() != ".npy":
        return
    axes = analysis.predictions.axes
    if not (axes.items.is_counted and axes.classes.is_counted):
        screen.print_text(
            f"{output} cannot hold names. Its rows are the items {some(axes.items.names)}, its columns the classes "
            f"{some(axes.classes.names)}, in this order; .npz, .csv and .safetensors keep the names."
        )
    if analysis.is_given.any():
        screen.print_text(
            f"{output} cannot mark the known labels, so `evaluate` will score them too; .npz and .csv can."
        )
