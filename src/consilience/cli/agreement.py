"""`consilience agreement`."""

from consilience.cli import screen
from consilience.cli.inputs import Given
from consilience.cli.summary import MOST_PAIRS, coefficients, pairs_by_kappa
from consilience.insight.agreement import PanelAgreement, agreement
from consilience.system.tables import Table


def command(*, json: bool = False, given: Given) -> None:
    """Say how much members agree beyond chance: all of them, each with the others, and in pairs. Needs no labels.

    `consilience agreement votes.csv`
    """
    predictions = given.predictions()
    found = agreement(predictions)
    members = Table({"member": predictions.members, "kappa": found.by_member.tolist()})
    if json:
        parts = {"observed": found.observed, "members": members.rows(), "pairs": _pairs(found).rows()}
        screen.print_json(coefficients(found) | parts)
        return
    screen.print_text(repr(found), found.sentence())
    screen.print_table(members, "Each member with the others, beyond chance")
    pairs = _pairs(found, most=MOST_PAIRS)
    if len(pairs):
        screen.print_table(pairs, "Pairs, Cohen's kappa")
    if len(pairs) == 2 * MOST_PAIRS:
        screen.print_note(
            f"The {MOST_PAIRS} pairs that agree least, and the {MOST_PAIRS} that agree most; --json has all."
        )


def _pairs(found: PanelAgreement, most: int | None = None) -> Table:
    """The pairs of members, those first that agree least; at most so many from either end."""
    first, second = pairs_by_kappa(found.kappa, most)
    return Table(
        {
            "first": [found.compared[member] for member in first],
            "second": [found.compared[member] for member in second],
            "kappa": found.kappa[first, second].tolist(),
            "error": found.kappa_error[first, second].tolist(),
        }
    )
