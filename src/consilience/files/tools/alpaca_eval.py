"""Annotations of AlpacaEval: a judge's preference between two outputs, from 1 (the first) to 2 (the second)."""

from __future__ import annotations

from consilience.data.axes import short
from consilience.data.names import is_missing
from consilience.files.tools.export import Export, Given, Reader
from consilience.system.errors import InvalidPredictions


def read(given: Given) -> Export:
    """Preferences as probabilities of the two outputs; a draw is one half of each."""
    export = Export()
    for record in given.data:
        item = f"{record.get('generator_1', 1)} v {record.get('generator_2', 2)}/{record['instruction']}"
        preference = record["preference"]
        if is_missing(preference):
            export.left_out["annotations without a preference"] += 1
            continue
        second = 0.5 if preference == 0 else float(preference) - 1  # draws are 0 or 1.5
        if not 0 <= second <= 1:
            raise InvalidPredictions(f"a preference must be 0 or from 1 to 2; got {short(preference)}")
        export.add(item, record["annotator"], {"output_1": 1 - second, "output_2": second})
    return export


READER = Reader(
    "alpaca-eval",
    "AlpacaEval",
    item="both generators and the instruction",
    member="`annotator`",
    label="`preference`: 2 less it is the probability of `output_1`",
    records=("instruction output_1 output_2 annotator preference",),
    read=read,
    verified="tatsu-lab/alpaca_eval, README.md (Interpreting annotations) and metrics/winrate.py",
)
