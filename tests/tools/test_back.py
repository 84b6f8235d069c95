"""What is written for a tool is read by the tool's own code, where that is installed.

- Label Studio: `label_studio_sdk.label_interface.LabelInterface`, which its server validates imports with
  (HumanSignal/label-studio, label_studio/data_import/serializers.py; guide/predictions).
- Argilla: `JsonIO._records_from_json`, which `dataset.records.from_json` calls (argilla-io/argilla,
  argilla/src/argilla/records/_io/_json.py).
- datasets: `load_dataset`.
- Prodigy: its source is closed. The form is that of prodi.gy/docs/api-interfaces#choice; that tasks come back as they
  went is tested with our own reader.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import consilience as cs
import tool_forms as forms

CONFIG = """
<View>
  <Text name="text" value="$text"/>
  <Choices name="sentiment" toName="text"><Choice value="Pos"/><Choice value="None"/></Choices>
  <Rating name="stars" toName="text" maxRating="5"/>
</View>
"""


def write(path, value):
    Path(path).write_text(json.dumps(value), encoding="utf-8")


def loaded(path):
    return json.loads(Path(path).read_text(encoding="utf-8"))


def votes(classes, n_items=12):
    """What three people say of each item, two of them mostly the same."""
    rng = np.random.default_rng(0)
    truth = rng.integers(len(classes), size=n_items)
    return [[classes[t if rng.random() < 0.8 else rng.integers(len(classes))] for _ in range(3)] for t in truth]


def stars(number):
    return {"from_name": "stars", "to_name": "text", "type": "rating", "value": {"rating": number}}


def tasks():
    both = zip(votes(["Pos", "None"]), votes([1, 3, 5]), strict=True)
    return [
        forms.task(
            100 + place,
            *(
                forms.annotation(who, forms.choice(said), stars(rated))
                for who, said, rated in zip((7, 8, 9), choices, ratings, strict=True)
            ),
        )
        for place, (choices, ratings) in enumerate(both)
    ]


@pytest.mark.parametrize(("question", "key"), [("sentiment", "choices"), ("stars", "rating")])
def test_label_studio_takes_predictions_for_its_own_tasks(run, tmp_path, question, key):
    write("project.json", tasks())
    words = ("--question", question, "--to", "label-studio", "-o", "back.json")
    code, _, err = run("aggregate", "project.json", *words)
    assert code == 0, err
    found = cs.answers(cs.read_predictions("project.json", question=question)).rows()
    back = loaded("back.json")
    assert [(task["id"], task["data"]) for task in back] == [(own["id"], own["data"]) for own in tasks()]
    for task, row in zip(back, found, strict=True):
        (prediction,) = task["predictions"]
        (result,) = prediction["result"]
        assert prediction["score"] == row["confidence"] and prediction["model_version"] == "consilience Consensus"
        assert (result["from_name"], result["to_name"], result["type"]) == (question, "text", key)
        assert result["value"] == {key: [row["answer"]] if key == "choices" else int(row["answer"])}


def test_label_studio_validates_them(run, tmp_path):
    interface = pytest.importorskip("label_studio_sdk.label_interface").LabelInterface(CONFIG)
    write("project.json", tasks())
    Path("votes.csv").write_text(
        "id,text,worker,label\n"
        + "".join(
            f"{i},t {i},w{w},{said}\n" for i, row in enumerate(votes(["Pos", "None"])) for w, said in enumerate(row)
        ),
        encoding="utf-8",
    )
    new = ("votes.csv", "--to-question", "sentiment", "--to-field", "text", "--classes", "Pos,None")
    ways = (("project.json", "--question", "sentiment"), ("project.json", "--question", "stars"), new)
    for words in ways:
        code, _, err = run("aggregate", *words, "--to", "label-studio", "-o", "back.json")
        assert code == 0, err
        for task in loaded("back.json"):
            assert interface.validate_prediction(task["predictions"][0], return_errors=True) == []
            assert interface.validate_task({"data": task["data"]})
    wrong = task["predictions"][0] | {"score": 2}
    assert interface.validate_prediction(wrong, return_errors=True)  # it can tell


def argilla_records():
    return [
        forms.argilla(
            f"r{place}",
            label=[{"value": said, "user_id": f"u{who}"} for who, said in enumerate(row)],
            quality=[{"value": 1 + (said == "a"), "user_id": f"u{who}"} for who, said in enumerate(row)],
        )
        | {"metadata": {"source": "web"}, "_server_id": None}
        for place, row in enumerate(votes(["a", "b"]))
    ]


@pytest.mark.filterwarnings("ignore:records.json. records of to_json do not say")
def test_argilla_gets_suggestions_and_keeps_its_responses(run, tmp_path):
    write("records.json", argilla_records())
    for question, kind in (("label", str), ("quality", int)):
        code, _, err = run("aggregate", "records.json", "--question", question, "--to", "argilla", "-o", "back.json")
        assert code == 0, err
        found = cs.answers(cs.read_predictions("records.json", question=question)).rows()
        for record, row in zip(loaded("back.json"), found, strict=True):
            suggestion = record["suggestions"][question]
            assert (record["id"], suggestion["value"]) == (row["item"], kind(row["answer"]))
            assert suggestion["score"] == row["confidence"] and suggestion["agent"] == "consilience Consensus"
            assert "responses" not in record and record["metadata"] == {"source": "web"}


@pytest.mark.filterwarnings("ignore:records.json. records of to_json do not say")
def test_argilla_reads_them(run, tmp_path):
    reading = pytest.importorskip("argilla.records._io._json").JsonIO
    write("records.json", argilla_records())
    code, _, err = run("aggregate", "records.json", "--question", "label", "--to", "argilla", "-o", "back.json")
    assert code == 0, err
    found = cs.answers(cs.read_predictions("records.json", question="label")).rows()
    for record, row in zip(reading._records_from_json("back.json"), found, strict=True):
        (suggestion,) = record.suggestions
        assert (record.id, suggestion.question_name, suggestion.value) == (row["item"], "label", row["answer"])
        assert suggestion.score == row["confidence"] and suggestion.agent == "consilience Consensus"
        model = record.api_model()  # as it is sent to the server
        assert model.fields == {"text": "…"} and not model.responses


@pytest.mark.parametrize("kind", ["folder", "parquet", "json"])
def test_datasets_loads_the_answers(run, tmp_path, kind):
    load = pytest.importorskip("datasets").load_dataset
    lines = [f"q{i},w{w},{said}\n" for i, row in enumerate(votes(["a", "b"])) for w, said in enumerate(row)]
    Path("votes.csv").write_text("task,worker,label\n" + "".join(lines), encoding="utf-8")
    if kind == "json":
        Path("folder").mkdir()
        assert run("aggregate", "votes.csv", "-o", "folder/answers.jsonl")[0] == 0
    else:
        assert run("aggregate", "votes.csv", "--to", "datasets", "-o", "folder")[0] == 0
    places = {"cache_dir": str(tmp_path / "cache"), "split": "train"}
    data = load("./folder", **places) if kind == "folder" else load(kind, data_dir="folder", **places)
    found = cs.answers(cs.read_predictions("votes.csv"))
    assert data.column_names == [*found.columns, "a", "b"]
    for name in found.columns:
        assert list(data[name]) == found[name]


def prodigy_tasks():
    return [
        forms.prodigy(
            100 + place, who, "accept", accept=[said], options=forms.OPTIONS, text=f"t{place}", meta={"page": 3}
        )
        for place, row in enumerate(votes(["A", "B"]))
        for who, said in zip(("ann", "bob", "cy"), row, strict=True)
    ]


def write_lines(path, records):
    Path(path).write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")


def test_a_queue_for_prodigy_comes_back_under_the_same_inputs(run, tmp_path):
    write_lines("tasks.jsonl", prodigy_tasks())
    assert run("aggregate", "tasks.jsonl", "--to", "prodigy", "-o", "queue.jsonl")[0] == 0
    queue = [json.loads(line) for line in Path("queue.jsonl").read_text(encoding="utf-8").splitlines()]
    found = {row["item"]: row for row in cs.answers(cs.read_predictions("tasks.jsonl")).rows() if row["review"]}
    assert {str(task["_input_hash"]) for task in queue} == {str(item) for item in found} and queue
    for task in queue:
        assert task["text"] == f"t{task['_input_hash'] - 100}" and task["options"] == forms.OPTIONS
        assert task["meta"]["page"] == 3 and task["meta"]["review"] and len(task["accept"]) == 1
        assert not {"answer", "_task_hash", "_annotator_id"} & task.keys()
    answered = [task | {"answer": "accept", "_task_hash": 1, "_annotator_id": "eve"} for task in queue]
    write_lines("reviewed.jsonl", answered)
    with pytest.warns(UserWarning, match="one member"):
        back = cs.read_predictions("reviewed.jsonl")
    assert back.items == [task["meta"]["item"] for task in queue]


def test_a_question_of_yes_and_no_has_nothing_to_select(run, tmp_path):
    answers = {"a": "accept", "b": "reject"}
    records = [
        forms.prodigy(place, who, answers[said], label="SPORT")
        for place, row in enumerate(votes(["a", "b"]))
        for who, said in zip(("ann", "bob", "cy"), row, strict=True)
    ]
    write_lines("tasks.jsonl", records)
    assert run("aggregate", "tasks.jsonl", "--to", "prodigy", "-o", "queue.jsonl")[0] == 0
    queue = [json.loads(line) for line in Path("queue.jsonl").read_text(encoding="utf-8").splitlines()]
    assert queue and all(task["label"] == "SPORT" and "options" not in task for task in queue)
    assert all(task["meta"]["answer"] in ("accept", "reject") for task in queue)


def test_from_one_tool_to_another(run, tmp_path):
    write("project.json", tasks())
    words = ("--question", "sentiment", "--to", "argilla", "--to-question", "label", "--to-field")
    assert run("aggregate", "project.json", *words, "text", "-o", "back.json")[0] == 0
    back = loaded("back.json")
    assert [(own["id"], own["fields"]) for own in back] == [(f"{t['id']}", t["data"]) for t in tasks()]
    code, _, err = run("aggregate", "project.json", *words, "body", "-o", "other.json")
    assert code == 2 and "--to-field" in err and "text" in err and not Path("other.json").exists()


def test_answers_are_appended_to_a_tools_own_table(run, tmp_path):
    """Each row gets the answer to its item, also a row whose own answer did not count."""
    workers = zip(("w1", "w2", "w3"), ("APPROVED", "APPROVED", "REJECTED"), strict=True)
    held = [
        forms.assignment(f"{place}.jpg", who, row[k], status=status)
        for k, (who, status) in enumerate(workers)
        for place, row in enumerate(votes(["cat", "dog"]))
    ]
    source = forms.Form("", "pool.tsv", [*held, forms.assignment("99.jpg", "w3", "cat", status="REJECTED")], set())
    source.write(tmp_path)
    with pytest.warns(UserWarning, match="rejected"):
        found = {row["item"]: row for row in cs.answers(cs.read_predictions("pool.tsv")).rows()}
    code, _, err = run("aggregate", "pool.tsv", "--append", "-o", "fused.tsv")
    assert code == 0, err
    header, *rows = [line.split("\t") for line in Path("fused.tsv").read_text(encoding="utf-8").splitlines()]
    assert [row[: len(source.held[0])] for row in rows] == [list(own.values()) for own in source.held]
    for cells in rows[:-1]:
        row = dict(zip(header, cells, strict=True))
        expected = found[row["INPUT:image"]]
        assert (row["answer"], float(row["confidence"])) == (expected["answer"], expected["confidence"])
    assert rows[-1][-5:] == [""] * 5  # nobody's answer to it counts


def test_answers_are_not_appended_to_a_tools_nested_records(run, tmp_path):
    write("project.json", tasks())
    code, _, err = run("aggregate", "project.json", "--question", "sentiment", "--append", "-o", "out.json")
    assert code == 2 and "an item in each row" in err and not Path("out.json").exists()
