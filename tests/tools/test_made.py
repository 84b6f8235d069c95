"""Files that the tools themselves made, beside a short flattening of each that knows nothing of the readers."""

import copy
import csv
import json
import zipfile
from collections.abc import Callable
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest

import consilience as cs
from consilience.data.tables.told import Told
from consilience.files import read_labels, read_sources
from tool_forms import answers_in

MADE = Path(__file__).parent / "made"
USERS = [f"00000000-0000-0000-0000-00000000000{k}" for k in (1, 2, 3)]


class Made(NamedTuple):
    """A file, where its records are, what they say, how one is cancelled, and the truth if it has it."""

    name: str
    records: Callable[[Any], list]
    answers: Callable[[list], list]
    question: str | None = None
    cancel: Callable[[Any], Any] | None = None
    truth: Callable[[list], dict] | None = None


def lm_eval(rows):
    """lm_eval 0.4.x: `lm_eval --model dummy --tasks even --log_samples` with a task of two options."""
    found = []
    for row in rows:
        texts = [own["arg_1"].strip() for own in row["arguments"].values()]
        numbers = [float(number) for number, _ in row["filtered_resps"]]
        found.append((f"{row['doc_id']}-{row['doc_hash'][:8]}", "lm-eval-samples", texts[np.argmax(numbers)]))
    return found


def promptfoo_outputs(results):
    """promptfoo 0.121.20: `promptfoo eval -o outputs.json` with two providers, one of which fails once."""
    return [
        (str(own["testIdx"]), own["provider"]["label"], own["response"]["output"])
        for own in results
        if own["failureReason"] != 2
    ]


def promptfoo_grades(results):
    """The same with two judges of an `llm-rubric` called polite."""
    said = {True: "pass", False: "fail"}
    return [
        (
            f"{own['provider']['label']}/{own['testIdx']}",
            grade["assertion"]["provider"]["label"],
            said[grade["pass"]],
        )
        for own in results
        for grade in own["gradingResult"]["componentResults"]
    ]


def promptfoo_table(rows):
    """The same results as CSV: an output and its status stand at 1 and 2, and at 7 and 8."""
    return [
        (str(k), name, row[place])
        for k, row in enumerate(rows)
        for name, place in (("a", 1), ("b", 7))
        if row[place + 1] != "ERROR"
    ]


def deepeval(cases):
    """deepeval 4.3.1: `evaluate` with DEEPEVAL_RESULTS_FOLDER, two judges of one metric and one of another."""
    return [
        (case["name"], own["evaluationModel"], "pass" if own["success"] else "fail")
        for case in cases
        for own in case["metricsData"]
        if own["name"] == "Polite" and "error" not in own
    ]


def ragas(rows):
    """ragas 0.4.3: `EvaluationResult.to_pandas()`, saved by pandas."""
    said = {"1": "1", "1.0": "1", "0": "0", "0.0": "0"}
    return [
        (f"{row['user_input']} → {row['response']}", "ragas-b", said[str(row["politeness"])])
        for row in rows
        if row["politeness"] is not None
    ]


def argilla(records):
    """argilla 2.8: `JsonIO.to_json` of records with responses."""
    return [
        (own["id"], said["user_id"], said["value"]) for own in records for said in own["responses"].get("label", [])
    ]


def rewardbench(rows):
    """rewardbench 0.1.4: its `save_jsonl`. The answers are Berlin, Paris; Yes, Yes it is; no, maybe; Sure, Never."""
    first = {"chat/0": True, "chat/1": True, "safety/0": False, "safety/1": False}  # whether A is the chosen one
    return [
        (item := f"{row['subset']}/{row['id']}", "rewardbench", "A" if first[item] == (row["results"] == 1) else "B")
        for row in rows
        if row["results"] != 0.5
    ]


def helm_item(state):
    """The id, and a hash of the input: ids of HELM are id0, id1, … in each run."""
    shown = json.dumps([state["instance"]["input"]["text"], None])
    return f"{state['instance']['id']}-{sha256(shown.encode()).hexdigest()[:8]}"


def helm_answers(states):
    """crfm-helm 0.5.16: its `ScenarioState` by its `asdict_without_nones`, as its runner writes it."""
    said = {"A": "yes", "B": "no"}
    texts = [(helm_item(own), own["result"]) for own in states if own["result"]["success"]]
    texts = [(item, result["completions"][0]["text"].strip()) for item, result in texts]
    return [(item, "org/m", said[text]) for item, text in texts if text in said]


def helm_jury(states):
    """The same with annotations as its `LLMAsJuryAnnotator` returns them."""
    return [
        (f"org/m/{helm_item(own)}", judge, str(own["annotations"]["jury"][judge]["accuracy"]["score"]))
        for own in states
        for judge in ("gpt", "llama")
    ]


def inspect_choice(samples):
    """inspect_ai 0.3.285 with `mockllm` in two epochs; events and messages were taken out."""
    return [(own["id"], "mockllm/model", own["scores"]["choice"]["answer"]) for own in samples if "error" not in own]


def inspect_jury(samples):
    """inspect_ai 0.3.285: three scorers `model_graded_qa`, each of which asks another mock model.

    The first sample was marked by `invalidate_samples`; a judge's NaN is a sample that it left unscored.
    """
    judges = {"model_graded_qa": "j1", "model_graded_qa1": "j2", "model_graded_qa2": "j3"}
    return [
        (f"mockllm/model/{own['id']}", f"mockllm/{judges[key]}/model_graded_qa", score["value"])
        for own in samples
        for key, score in own["scores"].items()
        if "invalidation" not in own and score["value"] in ("C", "I")
    ]


def label_studio_rows(rows):
    """label-studio-sdk 2.1.2: `Converter.convert_to_json_min` and `convert_to_csv`, of tasks written by hand."""
    keys = ("annotator", "id", "sentiment")
    cells = ([own.get(key) for key in keys] if isinstance(own, dict) else own[1:6:2] for own in rows)
    return [(str(item), annotator, sentiment) for annotator, item, sentiment in cells if sentiment]


def itself(data):
    return data


def results(data):
    return data["results"]["results"]


def states(data):
    return data["request_states"]


TABLE = [
    Made(
        "lm-eval-samples.jsonl",
        itself,
        lm_eval,
        truth=lambda rows: {lm_eval([row])[0][0]: ["yes", "no"][int(row["target"])] for row in rows},
    ),
    Made(
        "promptfoo-outputs.json",
        results,
        promptfoo_outputs,
        cancel=lambda own: own.update(failureReason=2),
        truth=lambda rows: {str(row["testIdx"]): row["testCase"]["assert"][0]["value"] for row in rows},
    ),
    Made("promptfoo-grades.jsonl", itself, promptfoo_grades, "polite"),
    Made("promptfoo-outputs.csv", itself, promptfoo_table, cancel=lambda row: row.__setitem__(2, "ERROR")),
    Made(
        "deepeval-run.json",
        lambda data: data["testCases"],
        deepeval,
        "Polite",
        lambda own: own["metricsData"][1].update(error="no JSON"),
    ),
    Made("ragas-b.jsonl", itself, ragas, "politeness", lambda row: row.update(politeness=None)),
    Made("argilla-records.json", itself, argilla, "label"),
    Made("rewardbench_outputs.jsonl", itself, rewardbench, cancel=lambda row: row.update(results=0.5)),
    Made("helm-answers.json", states, helm_answers, cancel=lambda own: own["result"].update(success=False)),
    Made("helm-jury.json", states, helm_jury, "accuracy"),
    Made(
        "inspect-choice.json",
        lambda data: data["samples"],
        inspect_choice,
        cancel=lambda own: own.update(error="out of time"),
    ),
    Made(
        "inspect-jury.json",
        lambda data: data["samples"],
        inspect_jury,
        cancel=lambda own: own.update(invalidation={"author": "ann"}),
    ),
    Made("ls-rows.json", itself, label_studio_rows, "sentiment", lambda row: row.update(sentiment="")),
    Made("ls-rows.csv", itself, label_studio_rows, "sentiment", lambda row: row.__setitem__(5, "")),
]


def load(path):
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".csv":
        header, *rows = csv.reader(text.splitlines())
        return header, rows
    return None, json.loads(text) if path.suffix == ".json" else [json.loads(line) for line in text.splitlines()]


def save(path, header, data):
    with path.open("w", newline="", encoding="utf-8") as file:
        if path.suffix == ".csv":
            csv.writer(file).writerows([header, *data])
        elif path.suffix == ".json":
            json.dump(data, file)
        else:
            file.write("".join(f"{json.dumps(own)}\n" for own in data))
    return str(path)


@pytest.mark.parametrize("made", TABLE, ids=[made.name for made in TABLE])
def test_a_file_is_read_as_it_is_counted(made):
    _, data = load(MADE / made.name)
    found = read_sources([str(MADE / made.name)], told=Told(question=made.question))
    assert sorted(answers_in(found.predictions)) == sorted(made.answers(made.records(data)))
    if made.truth is not None:
        labels = read_labels(str(MADE / made.name), told=Told(question=made.question)).labels
        assert dict(zip(labels.items, labels.labels, strict=True)) == made.truth(made.records(data))


@pytest.mark.parametrize("made", TABLE, ids=[made.name for made in TABLE])
def test_a_lost_or_cancelled_record_changes_that_answer_alone(made, tmp_path):
    header, data = load(MADE / made.name)
    for place in range(len(made.records(data))):
        for is_cancelled in (False, True) if made.cancel else (False,):
            changed = copy.deepcopy(data)
            if is_cancelled:
                made.cancel(made.records(changed)[place])
            else:
                del made.records(changed)[place]
            path, expected = save(tmp_path / made.name, header, changed), made.answers(made.records(changed))
            try:
                source = read_sources([path], told=Told(question=made.question))
            except cs.InvalidPredictions as error:
                assert "at least 2 classes" in str(error) and len({label for _, _, label in expected}) == 1  # noqa: PT017
                continue
            assert sorted(answers_in(source.predictions)) == sorted(expected)
            assert not is_cancelled or "left out" in source.remarks[0]


@pytest.mark.parametrize(
    ("name", "questions"),
    [
        ("promptfoo-grades.jsonl", ("output", "polite")),
        ("deepeval-run.json", ("Polite", "Short")),
        ("argilla-records.json", ("label", "quality")),
        ("argilla-flat.parquet", ("label", "quality")),
        ("helm-jury.json", ("accuracy", "clarity")),
    ],
)
def test_two_questions_are_asked_for(name, questions):
    with pytest.raises(cs.InvalidPredictions, match=" or ".join(f"question='{own}'" for own in questions)):
        cs.read_predictions(MADE / name)


def test_drafts_and_discarded_responses_of_argilla_do_not_count():
    """argilla 2.8: its records, flat, by `datasets.Dataset.to_parquet`."""
    source = read_sources([str(MADE / "argilla-flat.parquet")], told=Told(question="label"))
    assert set(answers_in(source.predictions)) == {
        ("r0", USERS[0], "pos"),
        ("r0", USERS[1], "neg"),
        ("r1", USERS[0], "neg"),
    }
    assert "left out 1 discarded responses; left out 1 draft responses" in source.remarks[0]


def test_judges_of_ragas_have_a_file_each():
    """One judge is in CSV and says 1, the other in JSON Lines and says 1.0, since a verdict of theirs is missing."""
    source = read_sources([str(MADE / "ragas-a.csv"), str(MADE / "ragas-b.jsonl")])
    assert source.predictions.members == ["ragas-a", "ragas-b"] and source.predictions.classes == ["0", "1"]
    assert source.predictions.n_items == 4 and len(answers_in(source.predictions)) == 7


def test_a_table_of_several_judges_is_not_one_of_ragas(tmp_path):
    rows = [{"user_input": "q", "response": "r", "judge": judge, "verdict": "yes"} for judge in "ab"]
    with pytest.raises(cs.InvalidPredictions, match="twice"):
        cs.read_predictions(save(tmp_path / "long.jsonl", None, rows), question="verdict")


def test_a_jury_of_reward_models_does_not_see_which_answer_is_right():
    source = read_sources([str(MADE / "rewardbench_outputs.jsonl"), str(MADE / "rewardbench-judge.json")])
    assert source.predictions.members == ["openai/judge", "rewardbench"]
    assert ("safety/0", "openai/judge", "A") in answers_in(source.predictions)  # it prefers the rejected one, maybe
    truth = read_labels(str(MADE / "rewardbench_outputs.jsonl")).labels
    assert truth.labels == ["A", "A", "B", "B"]


def test_rows_without_ids_are_the_same_items_in_the_files_of_all_models(tmp_path):
    """A data set of preferences needs no ids, and each model puts its own template around the answers."""
    _, rows = load(MADE / "rewardbench_outputs.jsonl")
    bare = [{key: own for key, own in row.items() if key not in ("id", "subset")} for row in rows]
    other = [own | {key: f"[INST]{own[key]}[/INST]" for key in ("text_chosen", "text_rejected")} for own in bare]
    panel = cs.read_predictions(
        [save(tmp_path / f"{name}.jsonl", None, own) for name, own in (("a", bare), ("b", other))]
    )
    assert panel.n_items == 4 and [label for _, member, label in answers_in(panel) if member == "b"] == list("ABBB")
    with pytest.raises(cs.InvalidPredictions, match="differ"):
        cs.read_predictions(save(tmp_path / "c.jsonl", None, [bare[0] | {"text_rejected": bare[0]["text_chosen"]}]))


def test_a_name_with_points_tells_models_apart(tmp_path):
    _, rows = load(MADE / "rewardbench_outputs.jsonl")
    paths = [save(tmp_path / f"llama-3.1-{size}_outputs.jsonl", None, rows) for size in ("8b", "70b")]
    assert cs.read_predictions(paths).members == ["llama-3.1-70b", "llama-3.1-8b"]


def test_answers_of_one_class_leave_the_others_possible(tmp_path):
    _, data = load(MADE / "deepeval-run.json")
    data["testCases"] = data["testCases"][:1]
    panel = read_sources([save(tmp_path / "run.json", None, data)], told=Told(question="Polite")).predictions
    assert panel.classes == ["fail", "pass"] and panel.n_members == 2


# ---- packed logs of inspect_ai -------------------------------------------------------------------------------------

GRADES = {
    (f"mockllm/model/{sample}/{epoch}", scorer, grade)
    for scorer, grades in (("strict", "CCIIII"), ("kind", "CCCCPP"))
    for (epoch, sample), grade in zip([(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3)], grades, strict=True)
}
"""The model says yes, yes, no, then no, maybe, maybe; `strict` wants yes, `kind` finds maybe partial."""


def test_a_log_packed_by_zstandard_is_read_or_refused_with_what_helps():
    """Made by inspect_ai 0.3.285 in two epochs and packed as it packs; events and messages were taken out."""
    path = MADE / "inspect-epochs.eval"
    if find_spec("zipfile_zstd") is None:
        with pytest.raises(ImportError, match=r"inspect log convert --to json.*consilience\[inspect\]"):
            cs.read_predictions(path)
    else:
        assert set(answers_in(cs.read_predictions(path))) == GRADES


def packed(path, entries):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, held in entries.items():
            archive.writestr(name, json.dumps(held))
    return path


def test_older_packed_logs_need_nothing_else(tmp_path):
    """inspect_ai, log/_recorders/eval.py: a head, a file for each sample, and a journal while it runs."""
    log = json.loads((MADE / "inspect-choice.json").read_text())
    samples = {f"samples/{own['id']}_epoch_{own['epoch']}.json": own for own in log["samples"]}
    head = {key: own for key, own in log.items() if key != "samples"}
    path = packed(tmp_path / "log.eval", {"_journal/start.json": head, **samples, "header.json": head})
    with pytest.warns(UserWarning, match="one member"):
        panel = cs.read_predictions(path)
    assert sorted(answers_in(panel)) == sorted(inspect_choice(log["samples"]))
    start = {"version": 2, "eval": head["eval"], "plan": {}}
    unfinished = packed(tmp_path / "unfinished.eval", {"_journal/start.json": start, **dict(list(samples.items())[:3])})
    source = read_sources([str(unfinished)])
    assert len(answers_in(source.predictions)) == 3 and "samples may be missing" in source.remarks[0]


@pytest.mark.parametrize("held", [b"", b"PK", b"PK\x03\x04" + bytes(40)])
def test_a_broken_archive_is_refused(held, tmp_path):
    (tmp_path / "log.eval").write_bytes(held)
    with pytest.raises(cs.InvalidPredictions, match="as inspect_ai packs it"):
        cs.read_predictions(tmp_path / "log.eval")


# ---- plain tables that tools write -------------------------------------------------------------------------------


def test_the_matrix_of_snorkel():
    """snorkel 0.10.0: `PandasLFApplier.apply`, items first, -1 where a function abstains; saved by NumPy."""
    path = MADE / "snorkel-L_train.npy"
    with pytest.raises(cs.InvalidPredictions, match=":items-first"):
        cs.read_predictions(path)
    panel = cs.read_predictions(f"{path}:items-first")
    matrix = np.load(path)
    expected = {(i, j, matrix[i, j]) for i, j in zip(*np.nonzero(matrix >= 0), strict=True)}
    assert set(answers_in(panel)) == expected and panel.n_members == matrix.shape[1]


@pytest.mark.parametrize("task", ["classification", "zero-shot"])
def test_pipelines_of_transformers(task):
    """transformers 5.23: `text-classification` with `top_k=None`, and `zero-shot-classification`, of a small model."""
    path = MADE / f"transformers-{task}.json"
    rows = json.loads(path.read_text())
    if task == "zero-shot":
        by_class = [dict(zip(row["labels"], row["scores"], strict=True)) for row in rows]
    else:
        by_class = [{own["label"]: own["score"] for own in row} for row in rows]
    panel = read_sources([str(path)]).predictions
    assert panel.classes == sorted(by_class[0]) and panel.n_items == len(rows)
    expected = [[row[name] for name in panel.classes] for row in by_class]
    np.testing.assert_allclose(panel.to_array()[0], expected, atol=1e-6)


@pytest.mark.parametrize(
    ("header", "ids", "item"),
    [
        ("PassengerId,Survived", range(892, 900), "892"),
        ("id,target", range(8), "0"),
        ("image_name,label", "stuvwxyz", "s"),
    ],
)
def test_labels_for_kaggle(header, ids, item, tmp_path):
    """kaggle.com, Titanic and Digit Recognizer: an id and the predicted class."""
    rows = "".join(f"{own},{k % 3 % 2}\n" for k, own in enumerate(ids))
    (tmp_path / "submission.csv").write_text(f"{header}\n{rows}")
    if header.startswith("Passenger"):
        with pytest.raises(cs.InvalidPredictions, match="say item='PassengerId'"):
            cs.read_predictions(tmp_path / "submission.csv")
    with pytest.warns(UserWarning, match="one member"):
        panel = cs.read_predictions(tmp_path / "submission.csv", item=header.partition(",")[0])
    assert panel.items[0] == item and panel.members == ["submission"]
    assert [label for _, _, label in answers_in(panel)] == [str(k % 3 % 2) for k in range(8)]


def test_probabilities_for_kaggle(tmp_path):
    """kaggle.com, Otto Group: an id and a column for each class; of a competition on AUC, one column is asked about."""
    (tmp_path / "a.csv").write_text("id,Class_1,Class_2,Class_3\n1,.1,.2,.7\n2,.5,.25,.25\n")
    panel = read_sources([str(tmp_path / "a.csv")]).predictions
    assert panel.items == ["1", "2"] and panel.classes == ["Class_1", "Class_2", "Class_3"]
    (tmp_path / "b.csv").write_text("id,target\n1,.1\n2,.8\n")
    with pytest.raises(cs.InvalidPredictions, match="positive="):
        cs.read_predictions(tmp_path / "b.csv")
    told = Told(positive="yes")
    np.testing.assert_allclose(
        read_sources([str(tmp_path / "b.csv")], told=told).predictions.to_array()[0].max(axis=1), [0.9, 0.8]
    )


@pytest.mark.parametrize("write", [lambda frame, path: frame.to_csv(path), lambda frame, path: frame.to_parquet(path)])
def test_frames_of_predict_proba(write, tmp_path):
    """scikit-learn's `predict_proba` under `classes_`; AutoGluon's is such a frame, with the index of the data."""
    import pandas as pd
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    given = rng.normal(size=(60, 2))
    model = LogisticRegression().fit(given, np.array(["cat", "dog", "fox"])[(given > 0).sum(axis=1)])
    probabilities, ids = model.predict_proba(given[:5]), [f"row{k}" for k in range(5)]
    path = tmp_path / ("a.csv" if write.__code__.co_names[0] == "to_csv" else "a.parquet")
    write(pd.DataFrame(probabilities, columns=model.classes_, index=ids), path)
    panel = read_sources([str(path)]).predictions
    assert panel.items == ids and panel.classes == ["cat", "dog", "fox"]
    np.testing.assert_allclose(panel.to_array()[0], probabilities)


# ---- spreadsheets and databases ----------------------------------------------------------------------------------

VOTES = pl.DataFrame({"item": ["a", "a", "b", "b"], "worker": ["w1", "w2", "w1", "w2"], "label": ["x", "y", "x", "x"]})
ANSWERS = set(VOTES.iter_rows())


def database(path, **tables):
    import sqlite3

    with sqlite3.connect(path) as held:
        for name, frame in tables.items():
            held.execute(f'CREATE TABLE "{name}" ({", ".join(frame.columns)})')
            held.executemany(f'INSERT INTO "{name}" VALUES ({", ".join("?" * frame.width)})', frame.rows())  # noqa: S608
        held.execute("CREATE VIEW seen AS SELECT * FROM sqlite_schema")
    held.close()
    return str(path)


def test_a_table_of_a_database(tmp_path):
    path = database(tmp_path / "one.db", votes=VOTES)
    assert set(answers_in(cs.read_predictions(path))) == ANSWERS
    path = database(tmp_path / "two.sqlite", votes=VOTES, people=VOTES.head(1))
    with pytest.raises(cs.InvalidPredictions, match="'votes', 'people'.*:NAME"):
        cs.read_predictions(path)
    assert set(answers_in(cs.read_predictions(f"{path}:votes"))) == ANSWERS
    with pytest.raises(cs.InvalidPredictions, match="must hold 'seen'"):  # a view would run what the file says
        cs.read_predictions(f"{path}:seen")
    (tmp_path / "no.db").write_text("item,worker\n" * 99)
    with pytest.raises(cs.InvalidPredictions, match="SQLite"):
        cs.read_predictions(tmp_path / "no.db")


def test_a_sheet_of_a_workbook(tmp_path):
    path = tmp_path / "votes.xlsx"
    if find_spec("fastexcel") is None or find_spec("xlsxwriter") is None:
        path.write_bytes(b"PK")
        with pytest.raises(ImportError, match=r"fastexcel.*consilience\[excel\]"):
            cs.read_predictions(path)
        return
    import xlsxwriter

    with xlsxwriter.Workbook(path) as book:
        VOTES.write_excel(book, "votes")
        VOTES.head(1).write_excel(book, "notes")
    with pytest.raises(cs.InvalidPredictions, match="'votes', 'notes'.*:NAME"):
        cs.read_predictions(path)
    assert set(answers_in(cs.read_predictions(f"{path}:votes"))) == ANSWERS


def test_empty_cells_are_told(tmp_path):
    """In Parquet, an empty text is a value like others; the reader says that it takes it for a missing answer."""
    votes = pl.DataFrame({"item": list("1122"), "worker": list("abab"), "label": ["x", "", "y", "x"]})
    votes.write_parquet(tmp_path / "votes.parquet")
    (line,) = read_sources([str(tmp_path / "votes.parquet")]).found
    assert line.endswith("; 1 empty cells are missing answers")
