"""The commands."""

from __future__ import annotations

import os
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from sklearn.exceptions import ConvergenceWarning

import consilience
from consilience.aggregators import Consensus, load
from consilience.cli import screen
from consilience.cli.methods import DEFAULT, make_method, method_names
from consilience.cli.summary import summarize
from consilience.data.labels import known_labels
from consilience.experiments.demo import n_steps as n_demo_steps
from consilience.experiments.demo import run as run_demo
from consilience.files import read_labels, read_posterior, read_predictions, write_posterior, write_table
from consilience.files.contents import TABLE_FORMATS
from consilience.files.recognition import Columns
from consilience.files.writing import check_writable
from consilience.insight.comparison import compare as compare_methods
from consilience.insight.explanation import explain as explain_item
from consilience.insight.label_evaluation import evaluate_labels
from consilience.insight.suggestion import suggest as suggest_items
from consilience.metrics.scores import evaluate as evaluate_posterior
from consilience.system.arrays import to_numpy
from consilience.system.errors import InvalidPredictions
from consilience.system.extras import extra
from consilience.system.progress import counter, steps
from consilience.system.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from consilience.aggregators.base import AbstractAggregator
    from consilience.data.predictions import Predictions

app = typer.Typer(
    help="Fuse the predictions of several classifiers into one answer, without labels.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)

COMPARED = ("method", "accuracy", "nll", "brier", "ece", "confidence", "changed", "seconds")
"""What `compare` shows of its table on a screen; JSON has all of it."""

MOST_EVALUATED, QUICK_FOLDS = 2000, 5
"""`aggregate` tells what labels bought of at most so many, in so many folds: a matter of seconds."""

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        help="Predictions: one file for all members or one per member. **.npy .npz .safetensors**: arrays (members, "
        "items, classes) or (items, classes); FILE:KEY picks one of several. **.csv .tsv .parquet**: long tables with "
        "columns item, member and label (or one probability column per class), or one member's probabilities with a "
        "column per class. Files that name items are matched by name.",
        show_default=False,
    ),
]
Method = Annotated[str, typer.Option("--method", "-m", help=f"One of {', '.join(method_names())}.")]
Options = Annotated[
    list[str] | None,
    typer.Option("--option", help="A parameter of the method, NAME=VALUE, such as max_iter=50. Repeatable."),
]
Logits = Annotated[bool, typer.Option("--logits", help="The arrays are logits or log-probabilities.")]
Labels = Annotated[
    str | None,
    typer.Option("--labels", help="True labels, only to score the answers with. -1 or empty where unknown."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]
ItemColumn = Annotated[str | None, typer.Option("--item-column", help="The tables' column of items.")]
MemberColumn = Annotated[str | None, typer.Option("--member-column", help="The tables' column of members.")]
LabelColumn = Annotated[str | None, typer.Option("--label-column", help="The tables' column of labels.")]
Model = Annotated[
    Path | None,
    typer.Option(
        "--model", readable=False, help="Answer with a model that `aggregate --save` wrote instead of fitting one."
    ),  # whether it can be read is said when it is, in the same words as of other files
]


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


@app.command()
def aggregate(
    files: Files,
    *,
    method: Method = DEFAULT,
    option: Options = None,
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
    item_column: ItemColumn = None,
    member_column: MemberColumn = None,
    label_column: LabelColumn = None,
) -> None:
    """Fuse predictions: who can be trusted on what, where members disagree, what changed against averaging.

    `consilience aggregate vit.npy resnet.npy swin.npy -o fused.npz --report report.html`
    """
    columns = Columns(item_column, member_column, label_column)
    if output is not None:
        check_writable(output)
    for path, suffix in ((save, ".npz"), (report, ".html")):
        if path is not None:
            check_writable(path, (suffix,))
    _check_places([output, save, report], [*files, labels, known, model])
    if model is not None and (known is not None or option or method != DEFAULT):
        raise InvalidPredictions(
            "--model answers with what was learned; --method, --option and --known do not go with it"
        )
    predictions = _read(files, logits, columns, quiet=json)
    truth = _labels(labels, predictions, files, columns)
    known_labels(truth, predictions.axes)  # what is wrong with them is said before anything is written
    known_truth = _labels(known, predictions, files, columns)
    aggregator = _fitted(predictions, method, option, model, known_truth)
    predictions = aggregator.aligned(predictions)  # a model may have its classes in another order
    posterior = to_numpy(aggregator.posterior_ if model is None else aggregator.predict_proba(predictions))
    if output is not None:
        write_posterior(output, aggregator, posterior, predictions.items)
    if save is not None:
        aggregator.save(save)
    if report is not None:
        _write_report(report, predictions, aggregator, truth)
    summary = summarize(predictions, aggregator, posterior, truth, known_truth)
    summary |= _gain(aggregator, predictions, known_truth)
    written = [str(path) for path in (output, save, report) if path is not None]
    if json:
        screen.print_json(summary | {"written": written})
        return
    screen.print_summary(summary)
    for place in written:
        screen.print_text(f"Wrote {place}")


@app.command()
def compare(
    files: Files,
    *,
    logits: Logits = False,
    labels: Labels = None,
    json: Json = False,
    item_column: ItemColumn = None,
    member_column: MemberColumn = None,
    label_column: LabelColumn = None,
) -> None:
    """Run every method on the same predictions, in one table; labels only score."""
    columns = Columns(item_column, member_column, label_column)
    predictions = _read(files, logits, columns, quiet=json)
    truth = _labels(labels, predictions, files, columns)
    with _waiting("comparing methods"):
        table = compare_methods(predictions, truth)
    if json:
        screen.print_json(table.rows())
    else:
        shown = [name for name in COMPARED if name in table.columns]
        screen.print_table(Table({name: table[name] for name in shown}))


@app.command()
def evaluate(
    posterior: Annotated[str, typer.Argument(metavar="FILE", help="A posterior, such as `aggregate -o` writes.")],
    labels: Annotated[str, typer.Option("--labels", help="True labels; -1 or empty where unknown.")],
    json: Json = False,
    item_column: ItemColumn = None,
    label_column: LabelColumn = None,
) -> None:
    """Score a posterior against labels: accuracy, NLL, Brier score and calibration, with confidence intervals."""
    columns = Columns(item_column, None, label_column)
    rows = read_posterior(posterior, columns=Columns(item_column))
    truth = known_labels(read_labels(labels, columns=columns), rows.axes)
    if truth is None:
        raise InvalidPredictions(f"{labels} must know the label of at least one item; it knows none")
    scores = evaluate_posterior(rows.to_array()[0], truth)
    if json:
        screen.print_json({name: {"value": e.value, "low": e.low, "high": e.high} for name, e in scores.items()})
    else:
        screen.print_text(repr(scores))


@app.command()
def explain(
    files: Files,
    *,
    item: Annotated[str, typer.Option("--item", help="The item's name, or its number where items have no names.")],
    against: Annotated[
        str | None,
        typer.Option("--against", help="The class to compare the answer with; the second by default."),
    ] = None,
    method: Method = DEFAULT,
    option: Options = None,
    logits: Logits = False,
    model: Model = None,
    json: Json = False,
    item_column: ItemColumn = None,
    member_column: MemberColumn = None,
    label_column: LabelColumn = None,
) -> None:
    """Say why an item got its answer: what each member said, and what tipped it."""
    predictions = _read(files, logits, Columns(item_column, member_column, label_column), quiet=json)
    name = _named(item, predictions.items, "--item")
    other = None if against is None else _named(against, predictions.classes, "--against")
    aggregator = _fitted(predictions, method, option, model)
    explanation = explain_item(aggregator, predictions, name, against=other)
    if json:
        screen.print_json(
            {
                "item": explanation.item,
                "winner": explanation.winner,
                "runner_up": explanation.runner_up,
                "log_odds": explanation.log_odds,
                "prior": explanation.prior,
                "members": explanation.to_table().rows(),
            }
        )
    else:
        screen.print_text(repr(explanation))


@app.command()
def suggest(
    files: Files,
    *,
    number: Annotated[int, typer.Option("--number", "-n", help="How many items.", min=1)] = 20,
    known: Annotated[
        str | None,
        typer.Option("--known", help="Labels known already, such as those filled in where `suggest -o` left room."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A .csv file to fill in: known labels first, then items without."),
    ] = None,
    method: Method = DEFAULT,
    option: Options = None,
    seed: Annotated[int, typer.Option("--seed", help="Another one suggests other items.", min=0)] = 0,
    logits: Logits = False,
    json: Json = False,
    item_column: ItemColumn = None,
    member_column: MemberColumn = None,
    label_column: LabelColumn = None,
) -> None:
    """Say which items to label first, and why.

    `consilience suggest vit.npy resnet.npy -n 20 -o labels.csv`, fill in the column `label`, then `consilience
    aggregate vit.npy resnet.npy --known labels.csv`. With `--known labels.csv -o labels.csv` the file grows.
    """
    columns = Columns(item_column, member_column, label_column)
    if output is not None:
        check_writable(output, (".csv",))
    predictions = _read(files, logits, columns, quiet=json)
    known_truth = _labels(known, predictions, files, columns)
    aggregator = _fitted(predictions, method, option, None, known_truth)
    suggested = suggest_items(predictions, number, known_truth, aggregator=aggregator, seed=seed).to_table()
    if output is not None:
        write_table(output, _to_fill_in(predictions, known_truth, suggested))
    if json:
        screen.print_json({"suggestions": suggested.rows(), "written": [] if output is None else [str(output)]})
        return
    screen.print_table(suggested, f"Label these {len(suggested)} first")
    if output is not None:
        screen.out.print(f"Wrote {output}: fill in the column label, and give it back as --known", markup=False)


@app.command()
def report(
    files: Files,
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the page goes.")] = Path("report.html"),
    method: Method = DEFAULT,
    option: Options = None,
    logits: Logits = False,
    labels: Labels = None,
    model: Model = None,
    item_column: ItemColumn = None,
    member_column: MemberColumn = None,
    label_column: LabelColumn = None,
) -> None:
    """Write a page to look at: one HTML file that needs no network."""
    check_writable(output, (".html",))
    _check_places([output], [*files, labels, model])
    columns = Columns(item_column, member_column, label_column)
    predictions = _read(files, logits, columns, quiet=False)
    truth = _labels(labels, predictions, files, columns)
    _write_report(output, predictions, _fitted(predictions, method, option, model), truth)
    screen.print_text(f"Wrote {output}")


@app.command()
def export(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", readable=False, help="A model that `aggregate --save` wrote.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the ONNX graph goes.")],
    logits: Annotated[bool, typer.Option("--logits", help="The graph takes logits instead of probabilities.")] = False,
) -> None:
    """Write a fitted model as an ONNX graph, for any server to run."""
    check_writable(output, (".onnx",))
    _check_places([output], [model])
    load(model).to_onnx(output, logits=logits)
    screen.print_text(f"Wrote {output}")


@app.command()
def demo(
    *,
    output: Annotated[Path, typer.Option("--report", help="Where the report of the last shift goes.")] = Path(
        "consilience-demo.html"
    ),
    json: Json = False,
) -> None:
    """Train an ensemble on scikit-learn's digits, rotate the test digits, and let every method fuse it.

    About a minute. Labels score the answers; no method sees them.
    """
    check_writable(output, (".html",))
    with steps("demo", n_demo_steps(), is_shown=screen.err.is_terminal) as on_step:
        shifts = run_demo(on_step)
    last = shifts[-1]
    aggregator = make_method(DEFAULT).fit(last.predictions)
    _write_report(output, last.predictions, aggregator, last.labels)
    if json:
        screen.print_json({str(shift.angle): shift.scores.rows() for shift in shifts} | {"written": [str(output)]})
        return
    n_members, n_items = last.predictions.n_members, last.predictions.n_items
    screen.out.print(f"{n_members} classifiers and {n_items} test digits, rotated further and further; no labels used")
    for metric, better in (("accuracy", "higher"), ("nll", "lower"), ("ece", "lower")):
        methods = {"method": last.scores["method"]}
        columns = {f"{shift.angle}°": shift.scores[metric] for shift in shifts}
        screen.print_table(Table(methods | columns), f"{metric} ({better} is better)", best=better)
    screen.out.print(f"\nThe digits rotated by {last.angle}°, as they look without labels")
    # What the fitted model answers, as the report has it; so both say the same.
    answers = to_numpy(aggregator.predict_proba(last.predictions))
    screen.print_summary(summarize(last.predictions, aggregator, answers))
    screen.print_text(f"Wrote {output}: open it in a browser")


_PER_TASK = " One number for all, or TASK=NUMBER; may be repeated."


@app.command()
def reproduce(
    experiment: Annotated[str, typer.Argument(help="One of the paper's experiments; `list` names them.")],
    *,
    data_dir: Annotated[Path, typer.Option("--data-dir", help="Where the data sets are.")] = Path("data"),
    work_dir: Annotated[Path, typer.Option("--work-dir", help="Where members, predictions and cells are kept.")] = Path(
        "work"
    ),
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder for tables and figures.")] = Path(
        "results"
    ),
    tasks: Annotated[str | None, typer.Option("--tasks", help="Only these of its data sets: mnist,cifar10.")] = None,
    members: Annotated[
        list[str] | None,
        typer.Option("--members", help="Networks per data set (9); three make an ensemble." + _PER_TASK),
    ] = None,
    epochs: Annotated[
        list[str] | None, typer.Option("--epochs", help="Other than the paper's number of epochs." + _PER_TASK)
    ] = None,
    subset: Annotated[
        list[str] | None, typer.Option("--subset", help="Train on so many images only." + _PER_TASK)
    ] = None,
    items: Annotated[
        list[str] | None, typer.Option("--items", help="Score so many test images only." + _PER_TASK)
    ] = None,
    weights: Annotated[
        list[str] | None,
        typer.Option("--weights", metavar="TASK=FOLDER", help="Published networks to take instead of training."),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, help="Networks to train at a time; one per core.")
    ] = None,
    laplace: Annotated[bool, typer.Option(help="Whether probabilistic ensembling (PE) takes part.")] = True,
) -> None:
    """Run an experiment of the paper, going on where an earlier run was stopped."""
    extra("torch", name="experiments", use="reproduce")
    from consilience.experiments.catalog import EXPERIMENTS  # noqa: PLC0415 - needs the extra
    from consilience.experiments.published import take_members  # noqa: PLC0415
    from consilience.experiments.reproduce import reproduce as run_experiment  # noqa: PLC0415
    from consilience.experiments.scales import read_choices, read_scales  # noqa: PLC0415
    from consilience.experiments.store import Store  # noqa: PLC0415
    from consilience.experiments.tasks import TASKS  # noqa: PLC0415

    if experiment == "list":
        for name, entry in EXPERIMENTS.items():
            screen.out.print(f"{name:16} {entry.what}: {', '.join(entry.tasks)}", markup=False)
        return
    for option, place in (("--output", output), ("--work-dir", work_dir)):  # before hours of work, not after
        if place.exists() and not place.is_dir():
            raise InvalidPredictions(f"{option} must be a folder; {place} is a file")
    asked = {"epochs": epochs, "subset": subset, "n_members": members, "n_items": items}
    store = Store(data_dir, work_dir, read_scales(TASKS, {name: values or [] for name, values in asked.items()}))
    for task, folder in read_choices(TASKS, "weights", weights or []).items():
        if not task:
            raise InvalidPredictions(f"weights must be TASK=FOLDER; got {folder!r}")
        take_members(task, Path(folder), work_dir, store.scale(task))
    with counter(experiment, is_shown=screen.err.is_terminal) as counted:
        written, notes = run_experiment(
            experiment,
            store,
            output,
            tasks=None if tasks is None else tasks.split(","),
            with_laplace=laplace,
            jobs=jobs,
            counter=counted,
        )
    for note in notes:
        screen.print_text(note)
    for path in written:
        screen.print_text(f"Wrote {path}")


# ---- shared -----------------------------------------------------------------------------------------------


def _read(files: list[str], logits: bool, columns: Columns, *, quiet: bool) -> Predictions:
    with _waiting("reading"):
        source = read_predictions(files, logits=logits, columns=columns)
    if not quiet:
        screen.print_found(source.found)
    return source.predictions


def _check_places(outputs: list[Path | None], inputs: list[str | Path | None]) -> None:
    """Raise where two outputs are one file, or an output is one of the files that are read."""
    taken = {os.path.realpath(path): str(path) for path in inputs if path is not None}
    for path in outputs:
        if path is None:
            continue
        place = os.path.realpath(path)
        if place in taken:
            raise InvalidPredictions(f"each output must be a file of its own; {path} is also {taken[place]}")
        taken[place] = f"{path}, another output"


def _labels(source: str | None, predictions: Predictions, files: list[str], columns: Columns) -> Any:
    """Labels from a file; refused where it does not name items and tables, whose items are sorted by name, do."""
    if source is None:
        return None
    # Archives and tables may hold both; a lone array is one or the other.
    if Path(source).suffix.lower() == ".npy" and os.path.realpath(source) in map(os.path.realpath, files):
        raise InvalidPredictions(
            f"labels must be in a file of their own; {source} is also read as predictions, which would see them"
        )
    labels = read_labels(source, columns=columns)
    has_tables = any(Path(file).suffix.lower() in TABLE_FORMATS for file in files)
    if has_tables and not isinstance(labels, dict) and predictions.items != list(range(predictions.n_items)):
        raise InvalidPredictions(
            f"{source} must have a column of items beside the labels: items of tables are matched by name"
        )
    return labels


def _fitted(
    predictions: Predictions, method: str, options: list[str] | None, model: Path | None, known: Any = None
) -> AbstractAggregator:
    """A saved model, or a method fitted to these predictions."""
    if model is not None:
        return load(model)
    aggregator = make_method(method, options or [], verbose=screen.err.is_terminal)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UserWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)  # the summary says it
        fitted = aggregator.fit(predictions, known)
    for warning in told:  # as a sentence, without the line of code that it came from
        screen.err.print(f"! {warning.message}", markup=False, highlight=False, soft_wrap=True)
    return fitted


def _gain(aggregator: AbstractAggregator, predictions: Predictions, known: Any) -> dict[str, Any]:
    """What the labels bought; nothing where that cannot be told, or would take far longer than the fit."""
    labels = known_labels(known, predictions.axes)
    n_labels = 0 if labels is None else int((labels >= 0).sum())
    if not isinstance(aggregator, Consensus) or not 2 <= n_labels <= MOST_EVALUATED or aggregator.correction_ is None:
        return {}
    with _waiting("what the labels bought"):
        found = evaluate_labels(predictions, known, aggregator, n_folds=QUICK_FOLDS)
    parts = {"before": found.before, "half": found.half, "after": found.after}
    return {"labels": {"sentence": found.sentence(), **parts}}


def _to_fill_in(predictions: Predictions, known: Any, suggested: Table) -> Table:
    """What is known and what is suggested, in one table with a column for labels."""
    labels = known_labels(known, predictions.axes)
    places = [] if labels is None else np.flatnonzero(labels >= 0).tolist()
    item, label = predictions.axes.items.name, predictions.axes.classes.name
    nothing: list[Any] = [None] * len(places)
    return Table(
        {
            "item": [item(place) for place in places] + suggested["item"],
            "answer": nothing + suggested["answer"],
            "probability": nothing + [round(value, 4) for value in suggested["probability"]],
            "why": nothing + suggested["why"],
            "label": [label(int(labels[place])) for place in places if labels is not None] + [None] * len(suggested),
        }
    )


def _named(text: str, names: list[Any], option: str) -> Any:
    """The name that reads like the text: names may be numbers."""
    for name in names:
        if str(name) == text:
            return name
    raise InvalidPredictions(f"{option} must be one of {', '.join(map(str, names[:5]))}, …; got {text!r}")


@contextmanager
def _waiting(what: str) -> Iterator[None]:
    """A sign of life on a terminal."""
    try:
        with screen.err.status(what):
            yield
    finally:
        screen.err.show_cursor()  # also where Ctrl-C came while it was being hidden


def _write_report(path: Path, predictions: Predictions, aggregator: AbstractAggregator, labels: Any) -> None:
    from consilience.report import write_report  # noqa: PLC0415 - only who wants a page pays for it

    with _waiting("writing the report"):
        write_report(path, predictions, aggregator, labels)
