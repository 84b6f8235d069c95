"""Results of RewardBench: which of two answers a reward model or a judge prefers, one file for each model.

The file calls the answers chosen and rejected, which tells the truth. Members see them as A and B: A is the one that
comes first in the alphabet.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from consilience.files.tools.export import Export, Given, Reader


def read(given: Given) -> Export:
    """The preferred answer; the chosen one is the truth. Results of one half are ties or errors."""
    export, member = Export(classes=frozenset("AB")), given.stem.removesuffix("_outputs")
    records = given.data
    if isinstance(records, dict):  # columns, beside what is said of the whole run
        member, columns = records["model"], {name: own for name, own in records.items() if isinstance(own, list)}
        records = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    for place, record in enumerate(records):
        chosen, rejected = _differing(_answer(record["text_chosen"]), _answer(record["text_rejected"]))
        names = ("A", "B") if chosen < rejected else ("B", "A")
        # The answers tell rows of two data sets apart where these have no ids.
        known = record.get("id", f"{place}-{sha256(f'{chosen} {rejected}'.encode()).hexdigest()[:8]}")
        item = f"{record['subset']}/{known}" if "subset" in record else known
        export.know(item, names[0])
        if record["results"] in (0, 1):
            export.add(item, member, names[0] if record["results"] == 1 else names[1])
        else:
            export.left_out["ties or errors"] += 1
    return export


def _answer(text: Any) -> str:
    """The last message of a conversation."""
    return str(text[-1]["content"] if isinstance(text, list) else text)


def _differing(one: str, other: str) -> tuple[str, str]:
    """Both texts without what they share at their ends: each model puts its own template around them."""
    start = _shared(one, other)
    one, other = one[start:], other[start:]
    if one == other:
        raise ValueError("two answers must differ")
    end = _shared(one[::-1], other[::-1])
    return one[: len(one) - end], other[: len(other) - end]


def _shared(one: str, other: str) -> int:
    """How many characters are the same from the start."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


READER = Reader(
    "rewardbench",
    "RewardBench",
    item="`subset` and `id`, else the row",
    member="`model`, else the name of the file",
    label="the preferred answer: A is the one that comes first in the alphabet; the chosen one is the truth",
    read=read,
    whole=("model model_type results[] text_chosen[] text_rejected[] id[]",),
    records=("results scores_chosen scores_rejected text_chosen text_rejected",),
    verified="allenai/reward-bench 0.1.4, rewardbench/rewardbench.py, scripts/run_rm.py and scripts/run_generative.py",
)
