"""What results/paper/by-section.md states is what the rows beside it say."""

import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

pytest.importorskip("torch")

import consilience as cs
from paper.catalog.printed import LITTLE, on_the_averages_class
from paper.catalog.readings import READINGS
from paper.results import paper_summaries, read_rows
from paper.tables import latex, markdown
from paper.tallies import TIE, cells_of_rows, cells_of_summaries, tally

RESULTS = Path(__file__).parents[2] / "results"
TABLES = {  # the words above a table, and the rows that it counts
    "### To the letter, at the paper's scale": ("paper/mnist-rotation.csv", lambda _: True),
    "### Published networks under every corruption": ("paper/cifar10-published.csv", lambda row: row.shift != "clean"),
    "### Six ResNet-20 by the paper's recipe": ("paper/cifar10-resnet20.csv", lambda row: row.shift != "clean"),
    "### The published networks as JPEGs": ("paper/cifar10-resnets.csv", lambda _: True),
    "### The earlier version: weak ResNet-18": ("paper/earlier/cifar10-c.csv", lambda _: True),
    "## Appendix F": ("paper/online.csv", lambda row: row.task == "mnist"),
    "### All readings": ("paper/readings.csv", lambda _: True),
    "### The start from counts": ("paper/readings.csv", lambda row: row.task == "fashion-mnist"),
}
SHIFTS = {"clean": "clean", "JPEG": "jpeg"}
DATA_SETS = {"CIFAR-10": "cifar10-published", "MNIST": "mnist"}
METRICS = {
    "accuracy": "accuracy",
    "ECE, 300 bins": "ece 300",
    "ECE, 15 bins": "ece 15",
    "ECE, debiased": "ece debiased",
    "Brier": "brier",
    "NLL": "nll",
}
MINUS = "\N{MINUS SIGN}"
STATED = re.compile(rf"(\d+) / (\d+) / (\d+) \(([+{MINUS}]?)([\d.]+)\)")


def table_below(title):
    """The cells of the first table with counts below some words, by row and column."""
    lines = (RESULTS / "paper" / "by-section.md").read_text(encoding="utf-8").split(title, 1)[1].splitlines()
    first = next(place for place, line in enumerate(lines) if STATED.search(line) and line.startswith("|"))
    names = [cell.strip() for cell in lines[first - 2].strip("|").split("|")][1:]
    for line in lines[first:]:
        if not line.startswith("|"):
            return
        method, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        yield from ((method, name, cell) for name, cell in zip(names, cells, strict=True))


@pytest.mark.parametrize("title", TABLES)
def test_counts_are_those_of_the_rows(title):
    file, is_counted = TABLES[title]
    rows, n_stated = [row for row in read_rows(RESULTS / file) if is_counted(row)], 0
    for label, name, text in table_below(title):
        shift, _, method = label.strip("*").rpartition(": ")
        data_set, _, metric = name.rpartition(", ") if name not in METRICS else ("", "", name)
        some = [
            row
            for row in rows
            if (not shift or row.shift == SHIFTS[shift]) and (not data_set or row.task == DATA_SETS[data_set])
        ]
        wins, ties, losses, sign, size = STATED.search(text).groups()
        found = tally(cells_of_rows(some)[METRICS[metric]], METRICS[metric], method, ["EA"])
        assert (int(wins), int(ties), int(losses)) == found[:3], (label, name)
        stated = float(size) * (-1 if sign == MINUS else 1)
        n_digits = len(size.partition(".")[2])
        assert abs(stated - found.mean_difference) <= 0.51 * 10**-n_digits, (label, name, found.mean_difference)
        n_stated += 1
    assert n_stated >= 15


@pytest.mark.parametrize("path", sorted((RESULTS / "paper").rglob("*.csv")), ids=lambda path: path.stem)
def test_tables_are_those_of_the_rows(path):
    """So that `--from` writes them again."""
    rows = read_rows(path)
    assert path.with_suffix(".md").read_text(encoding="utf-8") == markdown(path.stem, rows)
    assert path.with_suffix(".tex").read_text(encoding="utf-8") == latex(path.stem, rows)


def test_every_reading_is_on_the_page():
    rows = {row.method for row in read_rows(RESULTS / "paper" / "readings.csv")} - {"EA"}
    assert {label.strip("*") for label, _, _ in table_below("### All readings")} == rows
    assert rows == {*READINGS, "SDS (ours)"}
    assert f"{len(READINGS)} readings. Each differs" in (RESULTS / "paper" / "by-section.md").read_text(
        encoding="utf-8"
    )


def test_readings_agree_with_the_run_before_them():
    """The published networks are the same, so what both runs scored is the same, but for rounding of the last digit."""
    before = {row[1:-2]: row.value for row in read_rows(RESULTS / "paper" / "cifar10-published.csv")}
    rows = [row for row in read_rows(RESULTS / "paper" / "readings.csv") if row.task == "cifar10-published"]
    both = [(row.value, before[row[1:-2]]) for row in rows if row[1:-2] in before]
    assert len(both) == 15 * 3 * 5  # corruptions, methods, metrics
    np.testing.assert_allclose(*zip(*both, strict=True), rtol=1e-5, atol=1e-6)


# ---- statements in sentences: each is made of the rows again, and must stand on the page -------------------


def gains(file, method, metric, sign):
    """How much better than the average a method is, by (shift, severity, ensemble), clean images aside."""
    found = defaultdict(dict)
    for row in read_rows(RESULTS / "paper" / file):
        if row.metric == metric and row.shift != "clean":
            found[row.shift, row.severity, row.ensemble][row.method] = row.value
    return {place: sign * (values[method] - values["EA"]) for place, values in found.items()}


def number(value, digits):
    """As the page prints it: no zero before the point, a sign that is a minus."""
    text = f"{abs(value):.{digits}f}".removeprefix("0")
    return (MINUS if value < 0 else "+") + text


def of_severities():
    """Points of accuracy that SDS (paper) loses with the published networks, at each severity."""
    found = gains("cifar10-published.csv", "SDS (paper)", "accuracy", 1)
    means = [100 * np.mean([gain for place, gain in found.items() if place[1] == severity]) for severity in range(1, 6)]
    first, *middle, last = (number(mean, 2) for mean in means)
    return f"(accuracy {first} points at severity 1, {', '.join(middle)} and {last} at 5)"


def without_severity_5():
    means = []
    for metric in ("brier", "nll"):
        found = gains("cifar10-resnet20.csv", "SDS (paper)", metric, -1)
        means.append(np.mean([gain for place, gain in found.items() if place[0] == "contrast" and place[1] < 5]))
        assert np.mean([gain for place, gain in found.items() if place[0] == "contrast"]) > 0 > means[-1]
    brier, nll = number(means[0], 4)[1:], number(means[1], 3)[1:]
    return f"without it contrast loses {brier} of the Brier score and {nll} of NLL"


def printed_new_estimates():
    estimates, cells = on_the_averages_class(), cells_of_summaries(paper_summaries("imagenet-c"))["ece 300"]
    off = [place for place, value in estimates.items() if value < LITTLE]
    won = [place for place, values in cells.items() if values["EA"] - values["SDS"] > TIE]
    assert set(off) <= set(won)
    return (
        f"in {len(off)} of {len(cells)} means the new estimate gives less than .07 to EA's class, "
        f"and all {len(off)} are among the {len(won)} means in which SDS has the lower ECE"
    )


def printed_bcc():
    cells = cells_of_summaries(paper_summaries("imagenet-c"))
    flat = [place for place, values in cells["nll"].items() if abs(values["BCC"] - np.log(1000)) < 0.002]
    assert {cells["brier"][place]["BCC"] for place in flat} == {0.999}
    n_right = sum(cells["accuracy"][place]["BCC"] > 0.1 for place in flat)
    near, means = len(flat), len(cells["nll"])
    return (
        f"within .002 of ln 1000 = 6.908 in {near} of {means} means, with a Brier score of .999: all 1,000 classes are "
        f"about equally probable, and in {n_right} of the {near} the largest of them is still right"
    )


STATEMENTS = {
    "by severity": of_severities,
    "contrast": without_severity_5,
    "new estimates": printed_new_estimates,
    "BCC as printed": printed_bcc,
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements_are_those_of_the_rows(name):
    assert STATEMENTS[name]() in (RESULTS / "paper" / "by-section.md").read_text(encoding="utf-8")


def test_how_far_the_tolerance_leaves_bcc(shared):
    """What the page says of BCC on the stored logits, on two of the ensembles."""
    data, n_iterations, gaps = shared("cifar10_resnets.npz"), [], []
    for shift in ("clean", "jpeg"):
        for members in ([0, 1, 2], [1, 2, 3]):
            labels = cs.Predictions.from_logits(data[f"{shift}_logits"][members].astype(float)).harden()
            stopped = cs.BayesianClassifierCombination(max_iter=200).fit(labels)
            with pytest.warns(ConvergenceWarning):
                whole = cs.BayesianClassifierCombination(max_iter=200, tol=0).fit(labels)
            n_iterations.append(stopped.n_iter_)
            gaps.append(np.abs(stopped.posterior_ - whole.posterior_).max())
    page = (RESULTS / "paper" / "by-section.md").read_text(encoding="utf-8")
    assert f"after {min(n_iterations)} to {max(n_iterations)} iterations" in page
    assert f"differ by up to .{round(1000 * max(gaps)):03}." in page
