"""Tables of `results/*.txt` as Markdown, so that a page shows what was measured last and cannot go stale."""

from __future__ import annotations

import json
import re
from pathlib import Path

RESULTS = Path(__file__).parent.parent / "results"


MINUS = "\N{MINUS SIGN}"
SCORES = ("accuracy", "NLL")


def rows(
    file: str, title: str | None, columns: list[str] | None = None
) -> list[dict[str, str]]:
    """The rows of the table under a title, after the first empty line where it is empty, or at the top for None.

    They are by the names of the columns: those of the header, or the ones given.
    """
    lines = (RESULTS / file).read_text(encoding="utf-8").splitlines()
    start = 0 if title is None else lines.index(title) + 1
    length = next((n for n, line in enumerate(lines[start:]) if not line.strip()), None)
    header, *body = [
        re.split(r"\s{2,}", line.strip()) for line in lines[start:][:length]
    ]
    names = columns or header
    table = [
        dict(zip(names, row, strict=True)) for row in body if len(row) == len(names)
    ]
    if not table:
        raise ValueError(f"{file} has no complete row under {title!r}")
    return table


def block(file: str, name: str) -> dict[str, list[str]]:
    """The numbers of each row, by its first cell, of the first table that has a row of this name."""
    for table in (RESULTS / file).read_text(encoding="utf-8").split("\n\n"):
        cells = [re.split(r"\s{2,}", line.strip()) for line in table.splitlines()]
        if any(own[0] == name for own in cells):
            return {own[0]: own[1:] for own in cells}
    raise ValueError(f"{file} has no row {name!r}")


def row(file: str, title: str, name: str) -> dict[str, str]:
    """The row whose first cell is `name`."""
    return next(own for own in rows(file, title) if next(iter(own.values())) == name)


def short(number: str) -> str:
    """A number as the pages write it: a true minus, and no zero before the point.

    >>> short("+2.45"), short("0.867"), short("1.130")
    ('+2.45', '.867', '1.130')
    """
    return re.sub(r"\b0\.", ".", number).replace("-", MINUS)


def loss(number: str, *, worse_above: float | None = None) -> str:
    """The number, bold where it is worse than averaging: below 0, or above `worse_above`."""
    value = float(number)
    is_worse = value < 0 if worse_above is None else value > worse_above
    return f"**{short(number)}**" if is_worse else short(number)


def markdown(header: list[str], body: list[list[str]]) -> str:
    """A table."""
    return "\n".join(
        f"| {' | '.join(cells)} |" for cells in [header, ["---"] * len(header), *body]
    )


def by_family(file: str, names: dict[str, str]) -> str:
    """Consensus by family, the largest gain first, and all families together."""
    body = [
        [
            names[own["family"]],
            own["panels"],
            loss(own["accuracy"]),
            *_ratios(own["nll"], own["brier"]),
            short(own["ece debiased"]),
            short(own["auroc"]),
        ]
        for own in sorted(
            rows(file, "consensus by family, all kinds"),
            key=lambda own: -float(own["accuracy"]),
        )
    ]
    every = row(file, "all kinds", "consensus")
    points = f"{loss(every['points'])} ({short(every['95 %'])})"
    body.append(
        [
            "*all families*",
            every["panels"],
            points,
            *_ratios(every["NLL ×"], every["Brier ×"]),
            short(every["ECE"]),
            short(every["AUROC"]),
        ]
    )
    return markdown(
        ["family", "panels", "points", "NLL ×", "Brier ×", "ECE", "AUROC"], body
    )


def by_kind(file: str, kinds: list[str]) -> str:
    """Consensus by kind of panel."""
    body = []
    for kind in kinds:
        own = row(file, kind, "consensus")
        points = f"{loss(own['points'])} ({short(own['95 %'])})"
        body.append(
            [
                kind,
                points,
                own["won : lost"],
                short(own["worst"]),
                *_ratios(own["NLL ×"], own["Brier ×"]),
            ]
        )
    return markdown(["kind", "points", "won : lost", "worst", "NLL ×", "Brier ×"], body)


def methods_by_kind(file: str, kinds: list[str], methods: dict[str, str]) -> str:
    """Points and NLL of several methods, by kind of panel."""
    points, nll = (
        {own["method"]: own for own in rows(file, title)}
        for title in ("accuracy, points", "NLL ×")
    )
    body = [
        [
            kind,
            *(
                f"{short(points[method][kind])}, {short(nll[method][kind])}"
                for method in methods
            ),
        ]
        for kind in kinds
    ]
    return markdown(["panels", *methods.values()], body)


def on_panels(bases: dict[str, str], methods: dict[str, str]) -> str:
    """Accuracy and NLL of methods on published panels of the bench, the best of each in bold."""
    kept = json.loads((RESULTS / "quality.json").read_text(encoding="utf-8"))["panels"]
    columns = []
    for base in bases:
        scores = next(
            own["scores"]
            for own in kept
            if own["base"] == base and own["kind"] == "as it is"
        )
        for place, best, digits in ((0, max, 3), (1, min, 2)):
            column = [f"{scores[name][place]:.{digits}f}" for name in methods]
            top = best(column, key=float)
            columns.append(
                [f"**{short(own)}**" if own == top else short(own) for own in column]
            )
    header = [f"{name}: {score}" for name in bases.values() for score in SCORES]
    body = list(zip(methods.values(), *columns, strict=True))
    return markdown(["method", *header], [list(cells) for cells in body])


def _ratios(*numbers: str) -> list[str]:
    return [loss(number, worse_above=1.0) for number in numbers]


ESTIMATES = ["error, points", "members better than 70 %", "interval holds"]
ESTIMATES += ["its width, points", "rank correlation"]


def estimates() -> str:
    """How far off estimated accuracies are, and how often their intervals hold, by kind of panel."""
    found = block("estimates.txt", "as it is")
    told = block("shares.txt", "as it is")
    names = {"all": "all", "as it is": "as they are", "votes": "votes"}
    names |= {"rare": "one rare class of two", "many members": "forty members"}
    names |= {"copies": "copies", "10 items": "ten items"}
    body = [
        [name, found[kind][0], *_estimated(found[kind]), short(told[kind][-2])]
        for kind, name in names.items()
    ]
    last = "error if told the true [class shares](class-shares.md)"
    return markdown(["panels", "number", *ESTIMATES, last], body)


def estimates_by_family(names: dict[str, str]) -> str:
    """The same by family, and how often the interval of the fused answer holds there."""
    found = block("estimates.txt", next(iter(names)))
    body = [
        [name, *_estimated(found[family]), _held(found[family][9])]
        for family, name in names.items()
    ]
    return markdown(["family", *ESTIMATES, "interval of the fused answer holds"], body)


def _estimated(numbers: list[str]) -> list[str]:
    _, error, _, error_of_good, holds, width, rank, *_ = numbers
    return [
        f"{float(error):.1f}",
        f"{float(error_of_good):.1f}",
        _held(holds),
        f"{float(width):.0f}",
        short(rank),
    ]


def _held(share: str) -> str:
    """How often intervals hold, bold where it is less often than nine times of ten."""
    own = f"{float(share):.0f} %"
    return f"**{own}**" if float(share) < 90 else own


def false_alarms() -> str:
    """How often monitoring raises an alarm on streams that do not change."""
    generated, real = block("drift.txt", "networks"), block("drift.txt", "annotators")
    names = {
        "generated: networks": generated["networks"],
        "generated: a crowd with gaps": generated["crowd"],
        "generated: 200 classes": generated["many classes"],
        "real panels of 11 families": real["all families"],
        "each item four times in a row": generated["in runs of four (not independent)"],
    }
    body = [
        [name, number, *(short(share.replace("%", " %")) for share in shares)]
        for name, (number, *shares) in names.items()
    ]
    return markdown(
        ["without drift", "windows", "asked 1 %", "asked 5 %", "asked 10 %"], body
    )


def told_shares() -> str:
    """What stated class shares gain, against averaging and against Consensus that is told nothing."""
    columns = ["told", "panels", "points", "NLL", "Brier", "won", "lost", "worst"]
    untold = {own["told"]: own for own in rows("shares.txt", "", columns)}
    body = []
    for own in rows("shares.txt", "Against averaging:", columns):
        against = untold.get(own["told"])
        cells = ["", "", "", ""]
        if against is not None:
            won_lost = f"{against['won']} : {against['lost']}"
            cells = [
                loss(against["points"]),
                loss(against["NLL"], worse_above=1.0),
                won_lost,
                short(against["worst"]),
            ]
        body.append(
            [
                own["told"],
                own["panels"],
                loss(own["points"]),
                loss(own["NLL"], worse_above=1.0),
                *cells,
            ]
        )
    header = [
        "told",
        "panels",
        "against averaging: points",
        "NLL ×",
        "against Consensus untold: points",
        "NLL ×",
    ]
    return markdown([*header, "won : lost", "worst"], body)
