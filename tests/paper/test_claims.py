"""The numbers of results/README.md and results/paper/by-section.md, counted once more by code of its own."""

import csv
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

RESULTS = Path(__file__).parents[2] / "results"
MINUS = "\N{MINUS SIGN}"
ECE, BRIER, NLL, ACCURACY, AUROC = "ece 300", "brier", "nll", "accuracy", "auroc"
FOUR = (ACCURACY, ECE, BRIER, NLL)
THREE = (ECE, BRIER, NLL)


@cache
def rows_of(file):
    with (RESULTS / "paper" / f"{file}.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def gaps(file, method, metric, other="EA", **where):
    """How much better one method is than another, cell by cell."""
    found = defaultdict(dict)
    for row in rows_of(file):
        if row["metric"] == metric and all(test(row[name]) for name, test in where.items()):
            place = row["task"], row["shift"], row["severity"], row["size"], row["ensemble"]
            found[place][row["method"]] = float(row["value"])
    sign = 1 if metric in {ACCURACY, AUROC} else -1
    both = [values for values in found.values() if method in values and other in values]
    assert both
    return [sign * (values[method] - values[other]) for values in both]


def text_of(value, digits, *, signed=True):
    sign = (MINUS if value < 0 else "+") if signed else ""
    return sign + f"{abs(value):.{digits}f}".removeprefix("0")


def told(found, metric, *, counts=False, digits=None, signed=True):
    """A mean as the page prints it, with cells won / even / lost."""
    mean, scale = sum(found) / len(found), 100 if metric == ACCURACY else 1
    n_digits = digits if digits is not None else {ACCURACY: 2, NLL: 3}.get(metric, 4)
    text = text_of(scale * mean, n_digits, signed=signed) + (" points" if metric == ACCURACY else "")
    if not counts:
        return text
    rounded = [round(gap, 9) for gap in found]
    won, lost = sum(gap > 0.0005 for gap in rounded), sum(gap < -0.0005 for gap in rounded)
    return f"{text} ({won} / {len(found) - won - lost} / {lost})"


def is_shifted(shift):
    return shift != "clean"


def is_glass(shift):
    return shift == "glass_blur"


def of_task(*names):
    return lambda task: task in names


def of_size(wanted):
    return lambda size: size == wanted


def against(file, metrics, methods=("SDS (paper)", "SDS (ours)"), *, counts=True, other="EA", **where):
    return [
        told(gaps(file, method, metric, other, **where), metric, counts=counts)
        for method in methods
        for metric in metrics
    ]


def of_others():
    """By how much SDS is better calibrated than DS and BCC on rotated digits."""
    return [
        told(gaps("mnist-rotation", method, metric, other), metric, digits=2 if metric == NLL else 3, signed=False)
        for method in ("SDS (paper)", "SDS (ours)")
        for other in ("DS", "BCC")
        for metric in THREE
    ]


def values(file, method, metric, **where):
    return [
        float(row["value"])
        for row in rows_of(file)
        if (row["method"], row["metric"]) == (method, metric) and all(test(row[name]) for name, test in where.items())
    ]


def bcc_at_180(file):
    at_180 = {"severity": lambda severity: float(severity) == 180}
    of_both = [values(file, method, NLL, **at_180) for method in ("BCC", "EA")]
    return " against ".join(f"{sum(found) / len(found):.2f}" for found in of_both)


def poorer():
    lost = [
        max(gaps(file, method, metric, shift=is_shifted)) < -0.0005
        for file in ("cifar10-published", "cifar10-resnet20")
        for method in ("DS", "BCC")
        for metric in THREE
    ]
    n_cells = sum(len(gaps(file, "DS", NLL, shift=is_shifted)) for file in ("cifar10-published", "cifar10-resnet20"))
    assert all(lost)
    return [f"in all {n_cells} cells"]


CLAIMS = {  # the beginning of a row of the table, or a part of it that no other row has, and what stands in it
    "[6.1]": lambda: [
        *(told(gaps("mnist-rotation", name, ACCURACY), ACCURACY).split()[0] for name in ("DS", "BCC", "MV")),
        *against("mnist-rotation", [ACCURACY], ["SDS (paper)"], counts=False),
    ],
    "6.1: SDS has better": of_others,
    "6.1: … and than EA": lambda: against("mnist-rotation", THREE),
    "6.1: BCC beats": lambda: [bcc_at_180("mnist-rotation")],
    "6.1: PE is best": lambda: [
        told(gaps("mnist-rotation", "PE", metric, f"SDS ({start})"), metric, counts=True)
        for start in ("paper", "ours")
        for metric in THREE
    ],
    "[6.2]": lambda: against("cifar10-published", FOUR, shift=is_shifted),
    "150 cells": lambda: against("cifar10-resnet20", FOUR, shift=is_shifted),
    "6.2: … and to PE": lambda: against("cifar10-resnet20", FOUR, counts=False, other="PE", shift=is_shifted),
    "6.2: SDS is better in all 4": lambda: against("cifar10-published", FOUR, counts=False, shift=is_glass),
    "`cifar10-resnet20`, 10 cells": lambda: against("cifar10-resnet20", FOUR, counts=False, shift=is_glass),
    "6.2: DS and BCC": poorer,
    "[6.5]": lambda: [
        told(gaps("ood", method, AUROC, task=of_task(task)), AUROC, counts=True).replace(" (", f" ({name}, ")
        if method == "SDS (paper)"
        else told(gaps("ood", method, AUROC, task=of_task(task)), AUROC, counts=True)
        for method in ("SDS (paper)", "SDS (ours)")
        for task, name in (("mnist", "MNIST"), ("cifar10-published", "CIFAR-10"))
    ],
    "[D]": lambda: [
        told(gaps("averaging", f"{method}, α = 1", metric, task=of_task("mnist")), metric, digits=digits)
        for method, all_digits in (("SDS (paper)", (1, 3, 1)), ("SDS (ours)", (1, 3, 2)))
        for metric, digits in zip((ACCURACY, BRIER, NLL), all_digits, strict=True)
    ],
    "[F]": lambda: [
        told(gaps("online", f"SDS ({start}){suffix}", metric, task=of_task("mnist")), metric)
        for start in ("paper", "ours")
        for suffix in (" online", "")
        for metric in (ECE, NLL)
    ],
    "[G]": lambda: [
        *against("clean", [ACCURACY], counts=False),
        *(told(gaps("clean", f"SDS ({start})", NLL), NLL, counts=True, digits=4) for start in ("paper", "ours")),
        *(told(gaps("clean", name, NLL), NLL, digits=2) for name in ("DS", "BCC")),
    ],
    "[H]": lambda: [
        told(gaps("ensemble-size", method, NLL, size=of_size(of), task=of_task(task)), NLL, digits=digits)
        for task, sizes, all_digits in (("cifar10-resnet20", "3 5", (4, 3)), ("mnist", "3 10", (3, 2)))
        for method, digits in zip(("SDS (paper)", "SDS (ours)"), all_digits, strict=True)
        for of in sizes.split()
    ],
}


def claim(words):
    table = (RESULTS / "README.md").read_text(encoding="utf-8").split("## Claim by claim", 1)[1].split("\n## ", 1)[0]
    (row,) = (line for line in table.splitlines() if words in line and line.startswith("|"))
    return row


@pytest.mark.parametrize("words", CLAIMS)
def test_numbers_of_a_claim(words):
    row = claim(words)
    missing = [text for text in CLAIMS[words]() if text not in row]
    assert not missing, row


# ---- the sizes of ensembles, beside what the paper prints ---------------------------------------------------


def printed(experiment, metric):
    """How much better SDS is than EA as the paper prints it, by size."""
    found = defaultdict(dict)
    with (RESULTS.parent / "paper" / "printed_results.csv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            if (row["experiment"], row["metric"]) == (experiment, metric):
                found[int(row["ensemble_size"])][row["method"]] = float(row["mean"])
    sign = 1 if metric == "Accuracy" else -1
    return [sign * (values["SDS"] - values["EA"]) for _, values in sorted(found.items())]


def measured(method, metric, task="cifar10-resnet20", sizes="3 5"):
    means = [gaps("ensemble-size", method, metric, size=of_size(of), task=of_task(task)) for of in sizes.split()]
    return [sum(found) / len(found) for found in means]


def on_mnist(method):
    return [measured(method, metric, "mnist", "3 5 7 9 10") for metric in FOUR]


def joined(numbers):
    texts = [text_of(number, 3) for number in numbers]
    return " / ".join(text[1:] if text[1:] == ".000" else text for text in texts)


PRINTED = ("Accuracy", "ECE", "Brier score", "NLL")
SIZES = {
    "CIFAR-10, Gaussian noise 3, to the letter": lambda: [measured("SDS (paper)", metric) for metric in FOUR],
    "… our start | 3 / 5": lambda: [measured("SDS (ours)", metric) for metric in FOUR],
    "MNIST, 30°, 60°, 90°, to the letter": lambda: on_mnist("SDS (paper)"),
    "MNIST, our start": lambda: on_mnist("SDS (ours)"),
    "as printed: CIFAR-100": lambda: [printed("cifar100-c-sizes", metric) for metric in PRINTED],
    "as printed: ImageNet": lambda: [printed("imagenet-c-sizes", metric) for metric in PRINTED],
}


@pytest.mark.parametrize("words", SIZES)
def test_sizes_of_ensembles(words):
    page = (RESULTS / "paper" / "by-section.md").read_text(encoding="utf-8")
    (row,) = (line for line in page.splitlines() if words in line and line.startswith("|"))
    assert [cell.strip() for cell in row.strip("|").split("|")][2:] == [joined(numbers) for numbers in SIZES[words]()]


def by_size(metric, task, sizes, methods):
    """The mean of each method, for each size of ensemble."""
    return [
        {
            name: sum(found) / len(found)
            for name in methods
            if (found := values("ensemble-size", name, metric, task=of_task(task), size=of_size(size)))
        }
        for size in sizes
    ]


def test_what_larger_ensembles_change_in_the_order():
    page = (RESULTS / "paper" / "by-section.md").read_text(encoding="utf-8")
    steady, labels = ["Consensus", "PE", "SDS (ours)", "SDS (paper)", "EA"], ["DS", "BCC"]
    for few, many in (by_size(NLL, "mnist", ["3", "10"], steady), by_size(NLL, "cifar10-resnet20", "35", steady)):
        assert sorted(few, key=few.get) == sorted(many, key=many.get)
    few, many = by_size(ACCURACY, "mnist", ["3", "10"], steady + labels)
    assert max(few[name] for name in labels) < min(few[name] for name in steady)
    assert min(many[name] for name in labels) > max(many[name] for name in steady)
    stated = [text_of(means[name], 3, signed=False) for means in (few, many) for name in labels]
    assert "({0} both) to the most accurate with ten ({2} and {3};".format(*stated) in page and stated[0] == stated[1]
    few, many = by_size(ACCURACY, "cifar10-resnet20", "35", ["EA", "PE", "SDS (ours)", *labels])
    assert all(few[name] >= many[name] for name in ("EA", "PE", "SDS (ours)"))
    assert all(few[name] < few["SDS (ours)"] and many[name] > many["SDS (ours)"] for name in labels)


def lost_by_pe(metric, angle):
    """In how many of the three ensembles PE is no better than the best of the other baselines."""
    of_each = [
        gaps("mnist-rotation", "PE", metric, name, severity=of_size(angle)) for name in ("DS", "BCC", "EA", "MV")
    ]
    return sum(round(min(found), 9) <= 0.0005 for found in zip(*of_each, strict=True))


@pytest.mark.parametrize("metric", THREE)
def test_where_probabilistic_ensembling_is_best_calibrated(metric):
    angles = {row["severity"] for row in rows_of("mnist-rotation")}
    lost = {float(angle): lost_by_pe(metric, angle) for angle in angles}
    assert sum(lost.values()) == 6
    assert {angle: n for angle, n in lost.items() if n and angle >= 30} == ({180: 2} if metric == NLL else {})


# ---- what the appendix says of the readings -----------------------------------------------------------------


def mean_of(method, metric, task):
    found = gaps("readings", method, metric, task=of_task(task))
    return sum(found) / len(found)


def names_of_readings():
    return {row["method"] for row in rows_of("readings")} - {"EA", "SDS (paper)", "SDS (ours)"}


def gains_everywhere(name):
    places = [(metric, task) for metric in (ACCURACY, BRIER, NLL) for task in ("mnist", "cifar10-published")]
    return all(mean_of(name, metric, task) > 0 for metric, task in places)


def test_what_starts_decide():
    page = (RESULTS / "paper" / "by-section.md").read_text(encoding="utf-8")
    gained = {name: mean_of(name, ACCURACY, "cifar10-published") for name in names_of_readings()}
    of_counts = {name for name in gained if "start from counts" in name}
    smoothed = {name for name in gained if "our smoothing" in name or ("pseudo-answer" in name and ".01" not in name)}
    assert min(gained[name] for name in smoothed | of_counts) > 0
    prior = "class prior fixed, uniform, moments anew"
    best_other = max(gained[name] for name in gained.keys() - smoothed - of_counts - {prior})
    assert f"no other one gains more than {text_of(100 * best_other, 2, signed=False)} points" in page
    assert set(sorted(gained, key=gained.get)[-len(of_counts) :]) == of_counts and len(of_counts) == 7
    for name in of_counts:
        assert min(gaps("readings", name, ACCURACY, task=of_task("cifar10-published"))) > 0.0005
    assert {name for name in gained.keys() - smoothed - of_counts if gains_everywhere(name)} == {prior}
    assert f"costs {-100 * gained['averaging of logarithms']:.1f} points" in page


def test_what_moments_decide():
    page = (RESULTS / "paper" / "by-section.md").read_text(encoding="utf-8")
    lost = [-100 * mean_of(name, ACCURACY, "cifar10-published") for name in ("SDS (paper)", "moments anew")]
    kept, anew = (text_of(points, 2, signed=False) for points in lost)
    assert f"shrinks from {kept} points to {anew}" in page
    assert mean_of("SDS (paper)", BRIER, "mnist") > 0.01 and mean_of("moments anew", BRIER, "mnist") < 0


@pytest.mark.parametrize("task", ["mnist", "fashion-mnist"])
def test_counts_are_more_accurate_than_our_start_and_less_calibrated(task):
    means = [{metric: mean_of(name, metric, task) for metric in FOUR} for name in ("start from counts", "SDS (ours)")]
    counts, ours = means
    assert counts[ACCURACY] > ours[ACCURACY] and all(counts[metric] < ours[metric] for metric in THREE)


def test_thirty_numbers_at_least_are_counted_again():
    assert sum(len(compute()) for compute in CLAIMS.values()) >= 30
