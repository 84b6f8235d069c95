"""Results of Ragas (`to_pandas`, saved as CSV or JSON), one file for each judge; each discrete metric is a question."""

from __future__ import annotations

from typing import Any

from consilience.data.axes import short
from consilience.data.names import NUMBER, is_missing
from consilience.data.tables.told import UNNAMED
from consilience.files.tools.export import Export, Given, Reader, asked, no_classification

SAMPLE = frozenset(
    {
        "user_input",
        "retrieved_contexts",
        "reference_contexts",
        "retrieved_context_ids",
        "reference_context_ids",
        "response",
        "multi_responses",
        "reference",
        "rubrics",
        "rubric",
        "persona_name",
        "query_style",
        "query_length",
        "reference_tool_calls",
        "reference_topics",
    }
)
"""The columns of what is judged; the others are metrics."""


def read(given: Given) -> Export:
    """Verdicts of one metric; the judge is not in the file, so that its name is the judge's."""
    names = dict.fromkeys(
        name for record in given.data for name in record if name not in SAMPLE and name not in (*UNNAMED, "index")
    )
    verdicts = {name: [_verdict(record.get(name)) for record in given.data] for name in names}
    discrete = [name for name, own in verdicts.items() if not any(isinstance(value, float) for value in own)]
    if not discrete:
        no_classification(f"scores, which are no classes, in {', '.join(names) or 'no column'}")
    export, items = Export(asked(given, discrete)), set()
    for record, verdict in zip(given.data, verdicts[export.question or ""], strict=True):
        item = f"{record['user_input']} → {record['response']}"
        if item in items:
            raise ValueError(f"it judges {short(item)} twice, and does not say who is which judge")
        items.add(item)
        export.rows.append(item)
        export.add(item, given.stem, verdict)
    return export


def _verdict(value: Any) -> Any:
    """Text, or a whole number as such: pandas writes 1.0 where another row has none. Other numbers stay floats."""
    if is_missing(value) or value == "":
        return None
    if isinstance(value, str) and not NUMBER.fullmatch(value):
        return value
    return int(float(value)) if float(value).is_integer() else float(value)


READER = Reader(
    "ragas",
    "Ragas",
    item="`user_input` and `response`",
    member="the judge: the name of the file",
    label="the verdict of a discrete metric; each is a question",
    read=read,
    records=("user_input response",),
    columns=("user_input response",),
    verified="made by ragas 0.4.3 (`EvaluationResult.to_pandas`)",
)
