"""Judgments of MT-Bench (FastChat's llm_judge): ratings of single answers, or which of two answers wins.

A judge and its prompt are one member. A pair is judged in both orders, which are two answers to one item.
"""

from __future__ import annotations

from typing import Any

from consilience.files.tools.export import Export, Given, Reader


def read(given: Given) -> Export:
    """Each judgment as an answer, a pair's as two; those that could not be parsed are left out."""
    export = Export(both_orders=all("g1_winner" in record for record in given.data))
    for record in given.data:
        question = f"{record['question_id']}/{record.get('turn', 1)}"
        member = "/".join(record["judge"]) if isinstance(record["judge"], list) else record["judge"]
        if "g1_winner" not in record:
            _add(export, f"{record['model']}/{question}", member, record["score"], record["score"] == -1)
            continue
        item = f"{record['model_1']} v {record['model_2']}/{question}"
        for winner in (record["g1_winner"], record["g2_winner"])[: 1 if "m1_score" in record else 2]:
            _add(export, item, member, winner, winner == "error")
    return export


def _add(export: Export, item: str, member: str, said: Any, is_failed: bool) -> None:
    if is_failed:
        export.left_out["judgments without a verdict"] += 1
    else:
        export.add(item, member, said)


READER = Reader(
    "mt-bench",
    "MT-Bench",
    item="the judged model (or pair of models), question and turn",
    member="the judge and its prompt",
    label="`score`, or `g1_winner` and `g2_winner` as two answers",
    records=("question_id model judge score judgment", "question_id model_1 model_2 judge g1_winner g2_winner"),
    read=read,
    verified="lm-sys/FastChat, fastchat/llm_judge/common.py: play_a_match_single, play_a_match_pair",
)
