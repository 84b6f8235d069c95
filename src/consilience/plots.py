"""Figures: how members err, whether confidences hold, who resembles whom, what shift does to each method.

Everything drawn was computed elsewhere; nothing here touches the state of `matplotlib.pyplot`. A figure takes the axes
it is drawn on, or makes its own; `figure.savefig("figure.svg")` needs no display.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle, islice, product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from consilience.aggregators.base import AbstractAggregator
from consilience.data.axes import some
from consilience.insight.analysis import Diagnosis
from consilience.metrics.scores import Strategy, reliability_curve
from consilience.system.arrays import FloatArray, plain_numpy
from consilience.system.errors import extra
from consilience.system.tables import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINE_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's, which people with any kind of colour vision tell apart, without those that white swallows."""

MARKERS, DASHES = ("o", "s", "^", "D", "v", "P"), ("-", "--", "-.", ":")
"""Lines differ by more than colour: after six the dashes change."""

INK, PALE = "#404040", "#BFBFBF"
"""Text and frames; grids, and cells of which nothing is known."""

MOST_HEAT_MAPS, MOST_ABREAST = 24, 4  # how many heat maps fit in a figure, and how many side by side
MOST_NAMES, MOST_NUMBERS = 20, 12  # how many names an axis shows, and up to how many rows a heat map shows its numbers


def plot_confusion(
    source: AbstractAggregator | Diagnosis | Mapping[Any, FloatArray],
    members: Iterable[Any] | None = None,
    *,
    figure: Figure | None = None,
) -> Figure:
    """The members' confusion matrices as heat maps side by side: rows are true classes, columns what was said.

    `source` is a diagnosis (its `confusion`: the members' votes, whose diagonal agrees with the estimated accuracy), a
    fitted aggregator (its `confusion_`: what it computes with, not how often members are right), or tables (true,
    predicted) by name. `members` are names; all by default.
    """
    names, classes, tables = _confusion_of(source, members)
    n_columns = min(len(names), MOST_ABREAST)
    n_rows = -(-len(names) // n_columns)
    figure = _new_figure(2.2 * n_columns + 1, 2.2 * n_rows + 0.6) if figure is None else figure
    grid = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for ax, name, table in zip(grid, names, tables, strict=False):
        image = _heat_map(ax, table, classes, classes, lowest=0.0)
        ax.set_title(name, fontsize="medium", color=INK, parse_math=False)
    for ax in grid[len(names) :]:
        ax.set_axis_off()
    figure.supxlabel("predicted", fontsize="medium", color=INK)
    figure.supylabel("true", fontsize="medium", color=INK)
    _color_bar(figure, image, list(grid), "share of the true class")
    return figure


def plot_reliability(
    posteriors: Mapping[str, Any],
    labels: Any,
    *,
    n_bins: int = 15,
    strategy: Strategy = "uniform",
    ax: Axes | None = None,
) -> Axes:
    """How often answers of some confidence are right, one line per posterior, over how many answers there are.

    On the diagonal, confidence is right; below it, answers are too sure. The bars beneath are the share of
    items in each bin.
    """
    if not isinstance(posteriors, Mapping) or not posteriors:
        raise ValueError(f"posteriors must map names to posteriors; got {_kind(posteriors)}")
    curves = {
        name: reliability_curve(posterior, labels, n_bins=n_bins, strategy=strategy)
        for name, posterior in posteriors.items()
    }
    ax = _new_figure(4.6, 4.8).add_subplot() if ax is None else ax
    ax.plot([0, 1], [0, 1], color=PALE, linewidth=1, zorder=0)
    shares = ax.inset_axes((0, -0.32, 1, 0.22), sharex=ax)
    for look, (name, curve) in zip(_looks(len(curves)), curves.items(), strict=True):
        is_seen = curve.n_items > 0
        ax.plot(curve.confidence[is_seen], curve.accuracy[is_seen], label=str(name), **look)
        shares.stairs(
            curve.n_items / curve.n_items.sum(), curve.edges, color=look["color"], linestyle=look["linestyle"]
        )
    _frame(ax, ylabel="accuracy")
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    ax.tick_params(labelbottom=False)
    _frame(shares, xlabel="confidence", ylabel="share")
    _legend(ax, list(curves), loc="lower left", bbox_to_anchor=(0, 1))
    return ax


def plot_agreement(
    diagnosis: Diagnosis, *, kind: Literal["agreement", "kappa", "dependence"] = "agreement", ax: Axes | None = None
) -> Axes:
    """How often two members agree, or how much they do beyond chance or beyond what the consensus explains.

    Beyond chance is `kind="kappa"`, Cohen's; beyond the consensus `kind="dependence"`.
    """
    if kind not in ("agreement", "kappa", "dependence"):
        raise ValueError(f"kind must be 'agreement', 'kappa' or 'dependence'; got {kind!r}")
    if not isinstance(diagnosis, Diagnosis):
        raise TypeError(f"diagnosis must be what `diagnose` gives; got {_kind(diagnosis)}")
    tables = {"agreement": diagnosis.agreement, "kappa": diagnosis.beyond_chance.kappa}
    table = tables.get(kind, diagnosis.dependence)
    names = [str(name) for name in diagnosis.compared]
    size = 2.4 + 0.3 * min(len(names), MOST_NAMES)
    ax = _new_figure(size + 0.8, size).add_subplot() if ax is None else ax
    image = _heat_map(ax, table, names, names, lowest=0.0 if kind == "agreement" else -1.0)
    _color_bar(ax.figure, image, [ax], kind)
    return ax


def plot_comparison(
    tables: Mapping[Any, Table], metric: str = "accuracy", *, xlabel: str = "shift", ax: Axes | None = None
) -> Axes:
    """One metric of every method over growing shift: `tables` maps each level of shift to what `compare` gave there.

    Levels that are numbers stand at their value, others in their order.
    """
    lines = _lines_of(tables, metric)
    levels = list(tables)
    are_numbers = all(isinstance(level, int | float | np.number) for level in levels)
    places = levels if are_numbers else range(len(levels))
    ax = _new_figure(6.4, 3.6).add_subplot() if ax is None else ax
    for look, (method, values) in zip(_looks(len(lines)), lines.items(), strict=True):
        ax.plot(places, values, label=str(method), **look)
    _frame(ax, xlabel=xlabel, ylabel=metric)
    ax.set_xticks(list(places), [str(level) for level in levels], parse_math=False)
    ax.grid(axis="y", color=PALE, linewidth=0.5, alpha=0.6)
    _legend(ax, list(lines), loc="center left", bbox_to_anchor=(1, 0.5))
    return ax


# ---- what is drawn ----------------------------------------------------------------------------------------


def _confusion_of(
    source: AbstractAggregator | Diagnosis | Mapping[Any, FloatArray], members: Iterable[Any] | None
) -> tuple[list[str], list[str], FloatArray]:
    """The members asked for, the classes, and the confusion matrices (members, true, predicted)."""
    if isinstance(source, Diagnosis):
        names, classes, tables = source.members["member"], source.classes, source.confusion
    elif isinstance(source, Mapping) and source:
        names, tables = list(source), _square_tables(source)
        classes = list(range(tables.shape[1]))
    elif isinstance(source, AbstractAggregator) and hasattr(source, "confusion_"):
        names, classes, tables = source.members_, source.classes_, source.confusion_
    else:
        raise ValueError(f"confusion matrices are those of a fitted aggregator or a diagnosis; got {_kind(source)}")
    places = {str(name): place for place, name in enumerate(names)}
    wanted = list(places) if members is None else [str(name) for name in members]
    if unknown := [name for name in wanted if name not in places]:
        raise ValueError(f"members must be among {some(list(places))}; got {unknown[0]!r}")
    if not 0 < len(wanted) <= MOST_HEAT_MAPS:
        raise ValueError(f"members must name 1 to {MOST_HEAT_MAPS}, as many as fit in a figure; got {len(wanted)}")
    return wanted, [str(name) for name in classes], tables[[places[name] for name in wanted]]


def _square_tables(source: Mapping[Any, FloatArray]) -> FloatArray:
    tables = [plain_numpy(table, f"the table of {name!r}") for name, table in source.items()]
    for name, table in zip(source, tables, strict=True):
        if table.ndim != 2 or table.shape != (len(tables[0]), len(tables[0])) or table.dtype.kind not in "fiub":
            found = f"{name!r} is {table.dtype} of shape {table.shape}"
            raise ValueError(f"tables must be numbers (true, predicted), all of the same classes; {found}")
    return np.stack(tables)


def _lines_of(tables: Mapping[Any, Table], metric: str) -> dict[str, list[float]]:
    """The metric of each method at every level, NaN where a level lacks the method."""
    if not isinstance(tables, Mapping) or not tables:
        raise ValueError(f"tables must map levels of shift to tables of `compare`; got {_kind(tables)}")
    for level, table in tables.items():
        if not isinstance(table, Table):
            raise TypeError(f"tables must be what `compare` gives; at {level} is {_kind(table)}")
        if metric not in table.columns:
            raise ValueError(f"metric must be a column of every table; at {level} {metric!r} is not in {table.columns}")
    found = [dict(zip(table["method"], table[metric], strict=True)) for table in tables.values()]
    methods = dict.fromkeys(method for values in found for method in values)
    return {method: [values.get(method, np.nan) for values in found] for method in methods}


def _kind(value: Any) -> str:
    return f"an empty {type(value).__name__}" if isinstance(value, Mapping) else f"a {type(value).__name__}"


# ---- how it is drawn --------------------------------------------------------------------------------------


def _new_figure(width: float, height: float) -> Figure:
    library = extra("matplotlib.figure", name="plots", use="a figure")
    figure: Figure = library.Figure(figsize=(width, height), layout="constrained")
    return figure


def _heat_map(ax: Axes, table: FloatArray, rows: Sequence[str], columns: Sequence[str], *, lowest: float) -> Any:
    """A table of numbers up to 1 as colours, with names, and with the numbers where they are few."""
    from matplotlib import colormaps  # noqa: PLC0415 - an extra

    colors = colormaps["Blues" if lowest == 0 else "PuOr_r"].with_extremes(bad=PALE)
    image = ax.imshow(table, cmap=colors, vmin=lowest, vmax=1)
    for axis, names, turn in ((ax.xaxis, columns, 90), (ax.yaxis, rows, 0)):
        shown = range(0, len(names), -(-len(names) // MOST_NAMES))
        is_long = max(len(name) for name in names) > 2
        axis.set_ticks(shown, [names[place] for place in shown], rotation=turn if is_long else 0, parse_math=False)
    ax.tick_params(length=0, labelsize="small", labelcolor=INK)
    ax.spines[:].set_visible(False)
    if len(rows) <= MOST_NUMBERS:
        _write_numbers(ax, table, image)
    return image


def _write_numbers(ax: Axes, table: FloatArray, image: Any) -> None:
    """The numbers, in black or white, whichever stands out against the cell."""
    for (row, column), value in np.ndenumerate(table):
        if np.isfinite(value) and abs(value) >= 0.005:
            red, green, blue, _ = image.cmap(image.norm(value))
            is_bright = 0.299 * red + 0.587 * green + 0.114 * blue > 0.5
            text = f"{value:.2f}".replace("0.", ".") if abs(value) < 0.995 else f"{value:.0f}"
            ax.text(column, row, text, ha="center", va="center", fontsize=6, color="black" if is_bright else "white")


def _color_bar(figure: Any, image: Any, axes: list[Axes], label: str) -> None:
    bar = figure.colorbar(image, ax=axes, shrink=0.8, aspect=30)
    bar.outline.set_visible(False)
    bar.set_label(label, color=INK)
    bar.ax.tick_params(length=0, labelsize="small", labelcolor=INK)


def _frame(ax: Axes, *, xlabel: str = "", ylabel: str = "") -> None:
    """Two spines, small ticks, grey ink."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(INK)
    ax.tick_params(color=INK, labelcolor=INK, labelsize="small")
    ax.set_xlabel(xlabel, color=INK)
    ax.set_ylabel(ylabel, color=INK)


def _legend(ax: Axes, names: list[Any], **where: Any) -> None:
    """Which line is whose. Names are not read as formulas, and one that begins with an underscore is shown too."""
    texts = [str(name) for name in names]
    lines = [line for line in ax.get_lines() if str(line.get_label()) in texts]
    legend = ax.legend(lines, texts, frameon=False, labelcolor=INK, **where)
    for text in legend.get_texts():
        text.set_parse_math(False)


def _looks(n_lines: int) -> list[dict[str, Any]]:
    """Colour, marker and dashes of so many lines."""
    alike = {"markersize": 4, "linewidth": 1.5, "clip_on": False}
    looks = product(DASHES, zip(LINE_COLORS, MARKERS, strict=True))
    return [
        {"color": color, "marker": marker, "linestyle": dashes, **alike}
        for dashes, (color, marker) in islice(cycle(looks), n_lines)
    ]
