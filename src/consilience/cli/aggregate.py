"""`consilience aggregate`."""

from pathlib import Path

from consilience.cli import lake, screen
from consilience.cli.inputs import Given
from consilience.cli.outputs import Back, check_outputs, write_page
from consilience.cli.shared_options import Fit
from consilience.cli.summary import gained, summarize
from consilience.data.axes import some
from consilience.insight.analysis import Analysis
from consilience.system.arrays import to_numpy
from consilience.system.tables import Table


def command(
    *,
    fit: Fit,
    labels: str | None = None,
    back: Back,
    save: Path | None = None,
    report: Path | None = None,
    title: str | None = None,
    json: bool = False,
    posterior: bool = False,
    skip_bad: bool = False,
    given: Given,
) -> None:
    """Fuse predictions: who can be trusted on what, where members disagree, what changed against averaging.

    `consilience aggregate vit.npy resnet.npy swin.npy -o fused.npz --report report.html`

    Data larger than memory: `consilience aggregate 'votes/*.parquet' -o fused/`. If the output is a folder, each FILE
    is a data set: a file, a folder, a pattern in quotes or an address such as s3://bucket/votes/*.parquet, of .parquet,
    .csv, .tsv or .jsonl files with a column of items. A command that was stopped goes on where it was.

    Options:
    save: Where the fitted model goes, for `--model` and `export`.
    report: Where an HTML report goes.
    posterior: With a folder as output: a column for the probability of each class.
    skip_bad: With a folder as output: leave out, and count, partitions that cannot be read or have other columns,
        answers that an earlier partition has, and items without an answer.
    """
    if back.to is None and lake.is_folder(back.output):
        others = {"labels": labels, "known": fit.known, "report": report, "title": title, "append": back.append or None}
        lake.check_options(**others, **{"review-share": back.review_share}, told=given.told)
        lake.aggregate(given, back.output, fit, posterior=posterior, skip_bad=skip_bad, save=save)
        return
    lake.check_files(given.files, posterior=posterior, skip_bad=skip_bad)
    back.check(given.files)
    outputs = ((back.output, None), (save, ".npz"), (report, ".html"))
    check_outputs(outputs, [*given.sources, labels, *fit.files])
    analysis = given.analysed(fit, labels)
    aggregator = analysis.method
    rows = to_numpy(aggregator.posterior_ if fit.model is None else analysis.posterior)
    answers = back.write(given.with_classes_of(fit.model), analysis, rows)
    if save is not None:
        aggregator.save(save)
    summary = summarize(analysis, rows)
    if fit.known is not None:
        with screen.waiting("what the labels bought"):
            summary |= gained(analysis)
    if report is not None:
        write_page(report, analysis, title)
    written = [str(path) for path, _ in outputs if path is not None]
    if json:
        screen.print_json(summary | {"written": written})
        return
    screen.print_summary(summary)
    screen.print_text(*(f"Wrote {place}" for place in written))
    _say_what_is_not_written(back.output, analysis)
    if answers is not None:
        _say_what_to_review(answers, is_bounded=back.review_share is not None)


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
