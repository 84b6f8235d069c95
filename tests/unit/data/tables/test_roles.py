"""The roles of columns: told, by name, by what they hold; refused where two readings are open."""

import pytest

import consilience as cs
from consilience.data.tables.columns import Column, Columns
from consilience.data.tables.roles import Roles
from consilience.data.tables.roles import roles_of as roles_of_columns
from consilience.data.tables.told import Told, role_of

QUESTIONS = [f"q{place}" for place in range(12) for _ in range(3)]
JUDGES = ["gpt", "claude", "llama"] * 12
VERDICTS = ["A", "B", "A", "A"] * 9
TEXTS = [f"It is clearer and more to the point, {place}." for place in range(36)]


def as_columns(table):
    return Columns({name: Column.of_list(name, values) for name, values in table.items()})


def roles_of(table, told=None):
    return Roles(*(own and own.name for own in roles_of_columns(as_columns(table), told)))


def joined_items(table, item):
    columns = as_columns(table).joined(item)
    return columns[item].rows() if item not in table else None


LONG = {"question_id": QUESTIONS, "judge_model": JUDGES, "verdict": VERDICTS}


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("filename", "item"),
        ("file_name", "item"),
        ("Image ID", "item"),
        ("docId", "item"),
        ("uuid", "item"),
        ("annotator_id", "member"),
        ("LLM judge", "member"),
        ("model_name", "member"),
        ("model_answer", "label"),
        ("final_verdict", "label"),
        ("y_true", "truth"),
        ("ground_truth_label", "truth"),
        ("rating", "score"),
        ("true", None),
        ("annotator_1", None),
        ("gpt-4.1", None),
        ("", None),
        ("confidence", None),
    ],
)
def test_the_last_word_of_a_name_tells_its_role(name, role):
    assert role_of(name) == role


@pytest.mark.parametrize(
    "others",
    [
        {},
        {"score": [1.5, 2.5, 3.5] * 12, "rationale": TEXTS},
        {"response": TEXTS},  # an answer by name, and free text
        {"id": list(range(36))},  # an item by name, that only numbers the rows
        {"question": [f"What is {name}?" for name in QUESTIONS]},  # the same items in other words: an id comes first
        {"judge_name": [f"the {name}" for name in JUDGES]},
        {"model": ["judged"] * 36},  # everywhere the same
        {"dataset": ["easy", "hard"] * 18},
    ],
)
def test_a_long_table_is_told_by_names_and_values(others):
    assert roles_of(LONG | others) == Roles("question_id", "judge_model", "verdict")
    other = roles_of(others | LONG)
    assert (other.item, other.label) == ("question_id", "verdict") and other.member in ("judge_model", "judge_name")


def test_the_topic_of_a_question_is_no_answer():
    """It is the same whoever answers, and the score is not."""
    topics = ["math" if question in QUESTIONS[:18] else "code" for question in QUESTIONS]
    table = {"question_id": QUESTIONS, "judge": JUDGES, "category": topics, "score": [1, 2, 5, 4] * 9}
    assert roles_of(table) == Roles("question_id", "judge", "score")
    assert roles_of(table, Told(label="category")).label == "category"
    assert roles_of({name: column for name, column in table.items() if name != "score"}).label == "category"
    assert roles_of(table | {"category": VERDICTS}).label == "category"
    table["label"] = table.pop("category")
    with pytest.raises(cs.InvalidPredictions, match="'label' and 'score' may: say label='label'"):
        roles_of(table)


def test_scores_are_answers_where_there_are_no_others():
    table = {"question_id": QUESTIONS, "judge": JUDGES, "score": [1, 2, 5, 4] * 9, "rationale": TEXTS}
    assert roles_of(table) == Roles("question_id", "judge", "score")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (LONG | {"decision": VERDICTS[::-1]}, "one column must hold the label; 'verdict' and 'decision' may"),
        (
            {"question": QUESTIONS, "who": JUDGES, "said": VERDICTS},
            r"name it, as member='who' \(gpt, claude\) or member='said' \(A, B\)",
        ),
        ({"who": JUDGES, "judge": JUDGES, "said": VERDICTS}, "needs a column of items"),
        (
            {"id": list("abcdef"), "label": list("xyxyxy"), "ann": list("xxyyxy"), "bob": list("yyxyxy")},
            "say label='label', or member='ann,bob'",
        ),
    ],
)
def test_two_readings_are_refused_with_what_to_say(table, message):
    with pytest.raises(cs.InvalidPredictions, match=message):
        roles_of(table)


def test_what_the_user_says_decides():
    table = {"a": QUESTIONS, "b": JUDGES, "c": VERDICTS}
    assert roles_of(table, Told("a", "b", "c")) == Roles("a", "b", "c")
    with pytest.raises(cs.InvalidPredictions, match="expected the column 'd'"):
        roles_of(table, Told("a", "d", "c"))
    both = LONG | {"model": ["m1"] * 20 + ["m2"] * 16}
    assert roles_of(both, Told(member="judge_model")).member == "judge_model"


@pytest.mark.parametrize("item", ["id", "filename", "Unnamed: 0"])
def test_a_wide_table_has_one_row_for_each_item(item):
    table = {item: [f"i{place}" for place in range(6)], "ann": list("xyxyxy"), "human judge": list("xxyyxy")}
    assert roles_of(table) == Roles(item, None, None)
    assert roles_of({item: table[item], "text": TEXTS[:6], "label": list("xyxyxy")}) == Roles(item, None, "label")


def test_columns_joined_name_items():
    table = {"question": [1, 1, 2], "model": ["a", "b", "a"]}
    assert joined_items(table, "question+model") == ["1/a", "1/b", "2/a"]
    assert joined_items(table, "question") is None
    with pytest.raises(cs.InvalidPredictions, match="must name every item"):
        joined_items(table | {"model": ["a", None, ""]}, "question+model")
    with pytest.raises(cs.InvalidPredictions, match="must name items differently"):
        joined_items({"a": ["x/y", "x"], "b": ["z", "y/z"]}, "a+b")


LATENCY = [100 + place * 37 % 97 for place in range(36)]


@pytest.mark.parametrize("item", ["run", "thing", "qid", "trace_id", "row", "run_id"])
def test_items_of_a_long_table_are_found_whatever_they_are_called(item):
    table = {item: QUESTIONS, "judge_model": JUDGES, "verdict": VERDICTS, "rationale": TEXTS, "ms": LATENCY}
    assert roles_of(table) == Roles(item, "judge_model", "verdict")


def test_a_long_table_without_items_is_refused():
    with pytest.raises(cs.InvalidPredictions, match="'judge_model' needs a column of items"):
        roles_of({"judge_model": JUDGES, "verdict": VERDICTS, "rationale": TEXTS})


def test_two_unusual_columns_that_may_hold_items_are_refused():
    table = {"thing": QUESTIONS, "other": QUESTIONS[9:] + QUESTIONS[:9], "judge_model": JUDGES, "verdict": VERDICTS}
    with pytest.raises(cs.InvalidPredictions, match="'thing' and 'other' may: say item='thing'"):
        roles_of(table | {"other": ["q50", *table["other"][1:]]})
    table["run_id"] = table.pop("thing")
    assert roles_of(table).item == "run_id"


@pytest.mark.parametrize("name", ["pass_fail", "result", "outcome", "v"])
def test_a_score_is_no_label_beside_words_that_may_be(name):
    scores = [0, 5, 7, 10] * 9
    table = {"question_id": QUESTIONS, "judge_model": JUDGES, name: VERDICTS, "score": scores, "rationale": TEXTS}
    with pytest.raises(cs.InvalidPredictions, match=f"'{name}' and 'score' may: say label='{name}'"):
        roles_of(table)
    assert roles_of(table, Told(label="score")).label == "score"
    split = {"split": ["easy", "hard"] * 18, "vendor": ["one", "two", "two"] * 12}
    split["split"] = ["easy"] * 18 + ["hard"] * 18  # of items, as `vendor` is of members
    del table[name]
    assert roles_of(table | split).label == "score"


def test_a_wide_table_stays_wide_if_its_items_are_told():
    """Even if a member's name, such as `prob-judge`, could be that of a column of members."""
    items = [f"q{place}" for place in range(36)]
    table = {"question_id": items, "gpt": VERDICTS, "prob-judge": VERDICTS}
    assert roles_of(table, Told(item="question_id")) == roles_of(table) == Roles("question_id", None, None)
