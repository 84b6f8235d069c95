"""Label Studio: tasks with a prediction each, for *Import*, as its guide to pre-annotations has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from consilience.files.tools.annotation import VALUES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from consilience.files.back.outcome import Outcome

TOOL = "label-studio"

AS_VALUE: dict[str, Callable[[str], Any]] = {"choices": lambda answer: [answer], "rating": int, "number": float}
"""How the value of a control holds an answer, where that is not text."""


class Control(NamedTuple):
    """What gives the answer in a project, and what it is about."""

    from_name: str
    to_name: str
    type: str

    def result(self, answer: Any) -> dict[str, Any]:
        """The answer as a result."""
        return {**self._asdict(), "value": {VALUES[self.type]: AS_VALUE.get(self.type, str)(str(answer))}}


def records(outcome: Outcome) -> Iterator[dict[str, Any]]:
    """A task for each item: those of the project that was read, or new ones."""
    control = _control(outcome)
    for row, fields, task in outcome.rows(TOOL):
        result = [control.result(row["answer"])]
        prediction = {"model_version": outcome.agent, "score": row["confidence"], "result": result}
        if task is not None and "data" in task:
            yield {"id": task["id"], "data": task["data"], "predictions": [prediction]}
        else:
            shown = fields or {outcome.named_field(): row["item"]}
            yield {"data": {outcome.facts.key: row["item"], **shown}, "predictions": [prediction]}


def _control(outcome: Outcome) -> Control:
    """The control that the answers were read from, or the one that the user names."""
    question = outcome.asked(TOOL)
    tasks = [task for _, _, task in outcome.rows(TOOL) if task is not None]
    results = (result for task in tasks for own in task.get("annotations", []) for result in own["result"])
    for result in results:
        if result.get("from_name") == question and result["type"] in VALUES:
            return Control(question, result["to_name"], result["type"])
    return Control(question, outcome.named_field(), "choices")
