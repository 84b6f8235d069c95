"""A jury of language models, from the log-probabilities of their answer tokens.

    python examples/llm_jury.py                                     records made up here, whose truth is known
    python examples/llm_jury.py answers.jsonl --choices yes no      your own

Ask each judge to answer with one letter or word, with `logprobs=True, top_logprobs=5`, and keep the responses. A line
of the file is `{"item": …, "judge": …, "response": …}`, the response being what a chat-completions interface gives; of
several answers of a judge to an item the last one counts. The records of the first command are no model's:
`made_up_records` draws them, always the same, in the shape of such responses.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import consilience as cs

LEAST_MASS = 0.5
"""A judge whose next token is less probably an answer than this has not answered."""


# ---- from responses to predictions ------------------------------------------------------------------------


def read_records(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a file of JSON lines; empty lines say nothing."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.strip():
            record = json.loads(line)
            if not isinstance(record, dict) or not {"item", "judge", "response"} <= record.keys():
                raise ValueError(f"a record must have item, judge and response; line {number} has not")
            yield record


def read_jury(records: Iterable[dict[str, Any]], choices: list[str]) -> cs.Predictions:
    """What each judge says of each item; a judge without an answer to an item is missing there."""
    if len({spelled(choice) for choice in choices}) < len(choices):
        raise ValueError(f"choices must differ in more than case and punctuation; got {choices}")
    rows = {(record["judge"], record["item"]): read_answer(record["response"], choices) for record in records}
    judges, items = (list(dict.fromkeys(key[place] for key in rows)) for place in (0, 1))
    nothing = [math.nan] * len(choices)
    array = np.array([[rows.get((judge, item)) or nothing for item in items] for judge in judges])
    is_answered = ~np.isnan(array).all(axis=(0, 2))
    names = [item for item, answered in zip(items, is_answered, strict=True) if answered]
    return cs.Predictions(array[:, is_answered], members=judges, items=names, classes=choices)


def read_answer(response: dict[str, Any], choices: list[str]) -> list[float] | None:
    """The probability of each choice, its spellings summed; None where the judge said something else.

    Only the most probable tokens are listed. A choice that is not among them has at most the probability of the last
    one listed, and at most what the list leaves over: it gets the smaller of the two.
    """
    logprobs = response["choices"][0].get("logprobs")
    if not logprobs or not logprobs.get("content"):
        return None
    listed = {entry["token"]: math.exp(entry["logprob"]) for entry in logprobs["content"][0]["top_logprobs"]}
    sums = dict.fromkeys(map(spelled, choices), 0.0)
    for token, probability in listed.items():
        if spelled(token) in sums:
            sums[spelled(token)] += probability
    if sum(sums.values()) < LEAST_MASS:
        return None
    unlisted = max(0.0, min(*listed.values(), 1 - sum(listed.values())))
    filled = [value or unlisted for value in sums.values()]
    return [value / sum(filled) for value in filled]


def spelled(token: str) -> str:
    """A token without what spellings differ in: `A`, ` A`, `a`, `(A)`, `**A**` and `A.` are one answer."""
    return token.strip(" \n\t().*:\"'`").casefold()


# ---- records that nobody answered -------------------------------------------------------------------------

JUDGES = {  # how well a judge knows, how sure it sounds, how much it likes the first choice
    "large": (3.0, 1.0, 0.0),
    "large, terse prompt": (2.6, 1.2, 0.0),
    "medium": (1.8, 1.5, 0.0),
    "small": (1.0, 2.0, 0.3),
    "small, likes A": (1.0, 1.5, 2.5),
}
SPELLINGS = ("{}", " {}", "({})", "{}.")


def made_up_records(choices: list[str], n_items: int = 400) -> tuple[list[dict[str, Any]], np.ndarray]:
    """Responses of judges that never were, and the truth (items,) they were drawn from."""
    rng = np.random.default_rng(7)
    truth = rng.integers(len(choices), size=n_items)
    difficulty = rng.uniform(0.2, 1.2, size=n_items)
    records = []
    for judge, (skill, loudness, first) in JUDGES.items():
        for item in range(n_items):
            scores = rng.normal(size=len(choices)) + skill * difficulty[item] * np.eye(len(choices))[truth[item]]
            scores[0] += first
            response = made_up_response(rng, loudness * scores, choices)
            records.append({"item": f"q{item:03}", "judge": judge, "response": response})
    return records, truth


def made_up_response(rng: np.random.Generator, scores: np.ndarray, choices: list[str]) -> dict[str, Any]:
    """A chat completion that lists the five most probable first tokens, now and then of a refusal."""
    weights = dict(made_up_tokens(rng, scores, choices))
    weights["I"] = math.exp(rng.normal(-3, 2)) * sum(weights.values())
    weights["The"] = math.exp(rng.normal(-5, 1)) * sum(weights.values())
    total = sum(weights.values())
    top = sorted(weights, key=weights.__getitem__, reverse=True)[:5]
    listed = [{"token": token, "logprob": math.log(weights[token] / total)} for token in top]
    content = [{**listed[0], "top_logprobs": listed}]
    message = {"role": "assistant", "content": top[0]}
    choice = {"index": 0, "message": message, "logprobs": {"content": content}, "finish_reason": "stop"}
    return {"object": "chat.completion", "choices": [choice]}


def made_up_tokens(rng: np.random.Generator, scores: np.ndarray, choices: list[str]) -> Iterator[tuple[str, float]]:
    """Each choice in several spellings, which share its weight."""
    for choice, score in zip(choices, scores, strict=True):
        for spelling, share in zip(SPELLINGS, rng.dirichlet([8, 2, 0.3, 0.3]), strict=True):
            yield spelling.format(choice), math.exp(score) * share


# ---- the verdict ------------------------------------------------------------------------------------------


def main() -> None:
    """Read, fuse, diagnose, explain."""
    parser = argparse.ArgumentParser(description="Fuse the answers of language models, without labels.")
    parser.add_argument("records", nargs="?", type=Path, help="JSON lines of item, judge and response")
    parser.add_argument("--choices", nargs="+", default=["A", "B", "C", "D"])
    options = parser.parse_args()
    if options.records is None:
        print("The records are made up: no language model was asked. Their truth is known, and scores the methods.\n")
        records, truth = made_up_records(options.choices)
        predictions = read_jury(records, options.choices)
        labels = np.array(options.choices)[truth[[int(item[1:]) for item in predictions.items]]]
    else:
        predictions, labels = read_jury(read_records(options.records), options.choices), None
    report(predictions, labels)


def report(predictions: cs.Predictions, labels: np.ndarray | None) -> None:
    """What came in, what each method makes of it, what it says of the judges, and why one verdict fell."""
    is_missing = np.isnan(predictions.to_array()).all(axis=2)
    print(f"{predictions}; {is_missing.sum()} answers missing\n")
    print(cs.compare(predictions, labels))
    print("\nThe judges, by their answers alone\n")
    print(cs.diagnose(predictions))
    jury = cs.SoftDawidSkene().fit(predictions)
    verdicts, votes = jury.predict(predictions), cs.MajorityVote().fit_predict(predictions)
    changed = np.flatnonzero(verdicts != votes)
    place = int(changed[0]) if len(changed) else 0
    item = predictions.items[place]
    print(f"\nWhy Soft Dawid-Skene says {verdicts[place]} of {item!r}, where most votes are for {votes[place]}\n")
    print(cs.explain(predictions, item, aggregator=jury))


if __name__ == "__main__":
    main()
