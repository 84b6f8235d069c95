"""Tables of `results/*.txt` as Markdown, so that a page shows what was measured last and cannot go stale."""

from __future__ import annotations

import re
from pathlib import Path

RESULTS = Path(__file__).parent.parent / "results"


MINUS = "\N{MINUS SIGN}"


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


def _ratios(*numbers: str) -> list[str]:
    return [loss(number, worse_above=1.0) for number in numbers]


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
