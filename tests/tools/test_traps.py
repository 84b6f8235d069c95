"""What tools write that looks like something else: each is read as its users mean it, or refused with what to do."""

import csv
import io
import json

import pytest

import consilience as cs
import tool_forms as forms
from consilience.data.tables.told import Told
from consilience.files import read_labels, read_sources
from tool_forms import answers_in


def write(folder, name, held):
    return forms.Form("", name, held, set()).write(folder)


def found(*paths, question=None):
    return set(answers_in(read_sources(list(paths), told=Told(question=question)).predictions))


# ---- two files call different things by one name ---------------------------------------------------------------


def log(task, model, answers, **more):
    """UKGovernmentBEIS/inspect_ai, log/_log.py: EvalLog and EvalSample; ids count from 1 in each task."""
    samples = [
        {"id": k, "epoch": 1, "input": [{"id": f"{model}{k}", "role": "user", "content": f"{task} {k}"}]}
        | {"choices": ["a", "b"], "target": "A", "scores": {"choice": {"value": "C", "answer": said}}}
        for k, said in enumerate(answers, 1)
    ]
    for place, field in more.items():
        samples[int(place[1:])] |= field
    return {"status": "success", "eval": {"task": task, "model": model}, "samples": samples}


def test_samples_of_two_tasks_of_inspect_are_no_panel(tmp_path):
    first = write(tmp_path, "a.json", log("arc", "m1", "AB"))
    assert len(found(first, write(tmp_path, "b.json", log("arc", "m2", "BB")))) == 4
    with pytest.raises(cs.InvalidPredictions, match="about the same items.*'1' is .*arc 1.* and .*mmlu 1"):
        found(first, write(tmp_path, "c.json", log("mmlu", "m2", "BB")))


def test_annotators_of_two_projects_of_doccano_are_no_panel(tmp_path):
    one, other = ([{"id": 1, "text": text, "label": ["pos"], "Comments": []}] for text in ("good", "bad"))
    with pytest.raises(cs.InvalidPredictions, match="'1' is 'good' .* and 'bad'"):
        found(write(tmp_path, "ann.jsonl", one), write(tmp_path, "bob.jsonl", other))


def test_tests_of_two_evals_of_promptfoo_are_no_panel(tmp_path):
    paths = [
        write(tmp_path, f"{who}.jsonl", [forms.result(0, 0, who, "pos") | {"vars": {"text": text}}])
        for who, text in (("a", "good"), ("b", "bad"))
    ]
    with pytest.raises(cs.InvalidPredictions, match="about the same items"):
        found(*paths)


def test_what_a_run_of_promptfoo_adds_to_its_tests_is_no_other_test(tmp_path):
    """promptfoo/promptfoo, src/evaluator.ts: attachConversationVar; a table has all variables as text."""
    run = {"sessionId": "s1", "_conversation": [{"output": "pos"}]}
    one = forms.result(0, 0, "a", "pos") | {"vars": {"text": "good", "n": 1} | run}
    table = "text,n,[b] {{text}},Status,Score,Named Scores,Grader Reason,Comment\ngood,1,neg,PASS,1,{},,\n"
    (tmp_path / "b.csv").write_text(table, encoding="utf-8")
    assert found(write(tmp_path, "a.jsonl", [one]), str(tmp_path / "b.csv")) == {("0", "a", "pos"), ("0", "b", "neg")}


def test_questions_of_two_subjects_in_helm_are_told_apart(tmp_path):
    """stanford-crfm/helm, scenarios/scenario.py: with_instance_ids; the questions of each run are id0, id1, …"""

    def run(model, subject, said):
        references = [{"output": {"text": text}, "tags": ["correct"] * (text == "no")} for text in ("yes", "no")]
        instance = {"id": "id0", "input": {"text": f"{subject}?"}, "references": references}
        result = {"success": True, "completions": [{"text": f" {said}"}]}
        state = {"instance": instance, "output_mapping": {"A": "yes", "B": "no"}, "result": result}
        return {"adapter_spec": {"model": model, "method": "multiple_choice_joint"}, "request_states": [state]}

    runs = [("a", "law", "A"), ("a", "history", "B"), ("b", "law", "B")]
    paths = [write(tmp_path, f"{k}/scenario_state.json", run(*own)) for k, own in enumerate(runs)]
    panel = cs.read_predictions(paths)
    assert panel.n_items == 2 and all(item.startswith("id0-") for item in panel.items)
    assert sorted((member, label) for _, member, label in answers_in(panel)) == [("a", "no"), ("a", "yes"), ("b", "no")]
    law = answers_in(cs.read_predictions(paths[0]))[0][0]
    known = read_labels(paths[0]).labels
    assert (list(known.items), list(known.labels)) == ([law], ["no"]) and law in panel.items
    cs.DawidSkene().fit(panel, known)
    with pytest.raises(cs.InvalidPredictions, match=f"one of the 2 items .*{law}.*; got 'id0'"):
        cs.DawidSkene().fit(panel, {"id0": "no"})


# ---- what does not count -----------------------------------------------------------------------------------------


def test_an_invalidated_sample_of_inspect_does_not_count(tmp_path):
    """inspect_ai, log/_log.py: EvalSample.invalidation, which `invalidate_samples` sets."""
    held = log("arc", "m", "ABA", _2={"invalidation": {"author": "ann", "reason": "leaked"}})
    source = read_sources([write(tmp_path, "a.json", held)])
    assert set(answers_in(source.predictions)) == {("1", "m", "A"), ("2", "m", "B")}
    assert "left out 1 invalidated samples" in source.remarks[0]


@pytest.mark.parametrize(
    ("status", "counts"),
    [("APPROVED", True), ("ACCEPTED", True), ("SUBMITTED", True)]
    + [(status, False) for status in ("REJECTED", "SKIPPED", "EXPIRED", "ACTIVE")],
)
def test_assignments_of_toloka_that_are_not_done_do_not_count(status, counts, tmp_path):
    """Toloka/toloka-kit, client/assignment.py: Status of an assignment, and of `get_assignments_df`."""
    held = [forms.assignment("1.jpg", "w1", "cat"), forms.assignment("2.jpg", "w1", "dog")]
    last = forms.assignment("2.jpg", "w2", "cat") | {"ASSIGNMENT:status": status}
    source = read_sources([write(tmp_path, "pool.tsv", [*held, last])])
    assert (("2.jpg", "w2", "cat") in set(answers_in(source.predictions))) == counts
    assert counts or f"left out 1 {status.lower()} assignments" in source.remarks[0]


# ---- several labels, several answers ------------------------------------------------------------------------------


def doccano_csv(folder, name, labels):
    """doccano/doccano, formatters.py: JoinedCategoryFormatter; writers.py: CsvWriter."""
    text = "id,text,label,Comments\n" + "".join(f"{k},t {k},{label},\n" for k, label in enumerate(labels))
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def test_csv_of_doccano_is_of_one_annotator(tmp_path):
    ann, bob = (
        doccano_csv(tmp_path, "ann.csv", ["pos", "C#", ""]),
        doccano_csv(tmp_path, "bob.csv", ["neg", "pos", "neg"]),
    )
    expected = {("0", "ann", "pos"), ("1", "ann", "C#"), ("0", "bob", "neg"), ("1", "bob", "pos"), ("2", "bob", "neg")}
    assert found(ann, bob) == expected
    with pytest.raises(cs.InvalidPredictions, match="'cy' gives 2 to item '0', .*no classification"):
        found(doccano_csv(tmp_path, "cy.csv", ["neg#pos", "neg", "pos"]))
    with pytest.raises(cs.InvalidPredictions, match="everybody's answers together"):
        found(doccano_csv(tmp_path, "all.csv", ["neg", "pos"]))


def test_a_label_of_doccano_may_contain_what_joins_several(tmp_path):
    """`issue` is the label of a row, and 3 of none. A file of JSON Lines has lists, which leave no doubt."""
    source = read_sources([doccano_csv(tmp_path, "ann.csv", ["C#", "issue#3", "issue", "issue#3"])])
    assert [label for _, _, label in sorted(answers_in(source.predictions))] == ["C#", "issue#3", "issue", "issue#3"]
    assert "'issue#3' was read as one label; JSONL" in source.remarks[0]
    rows = [{"id": k, "text": "t", "label": [said], "Comments": []} for k, said in enumerate(["a#b", "a", "b"])]
    source = read_sources([write(tmp_path, "bob.jsonl", rows)])
    assert [label for _, _, label in sorted(answers_in(source.predictions))] == ["a#b", "a", "b"]
    assert not source.remarks


def test_a_table_of_several_people_is_not_one_of_doccano(tmp_path):
    lines = (f"{item},t {item},{said},,{who}\n" for item, said in ((1, "pos"), (2, "neg")) for who in ("ann", "bob"))
    path = tmp_path / "votes.csv"
    path.write_text("id,text,label,Comments,who\n" + "".join(lines), encoding="utf-8")
    with pytest.raises(cs.InvalidPredictions, match="each item once.*item=, member= and label="):
        cs.read_predictions(path)
    assert cs.read_predictions(path, item="id", member="who", label="label").members == ["ann", "bob"]


def test_a_model_that_was_asked_several_times(tmp_path):
    """lm_eval/evaluator.py: with `repeats` and no filter that takes one, each document has a list of answers."""
    held = [forms.generated(k, said, "A", "none") for k, said in enumerate((["A", "B", "[invalid]"], ["B", "B", "A"]))]
    source = read_sources([write(tmp_path, "m.jsonl", held)])
    assert sorted(label for item, _, label in answers_in(source.predictions) if item[0] == "0") == ["A", "B"]
    assert sorted(label for item, _, label in answers_in(source.predictions) if item[0] == "1") == ["A", "B", "B"]


@pytest.mark.parametrize("target", ["It is … so that\n#### {}", "['{}', 'E']"])
def test_targets_that_are_not_written_as_answers_are_no_truth(target, tmp_path):
    """lm_eval/tasks/gsm8k: the target is a solution, of which exact_match compares the end; others have lists."""
    said = ["A", "B", "B"]
    held = [forms.generated(k, own, target.format("ABA"[k]), "none") for k, own in enumerate(said)]
    for record, is_right in zip(held, (1.0, 1.0, 0.0), strict=True):
        record["exact_match"] = is_right
    path = write(tmp_path, "m.jsonl", held)
    source = read_sources([path])
    assert [label for _, _, label in answers_in(source.predictions)] == said
    assert "targets are not written as the answers are" in source.remarks[0]
    with pytest.raises(cs.InvalidPredictions, match="must have true labels"):
        read_labels(path)


def test_a_task_of_zooniverse_that_came_to_ask_something_else_is_told(tmp_path):
    """A workflow's versions share the names of tasks; `task_label` has the question."""
    held = [forms.classification(subject, "ann", said) for subject, said in (("1", "Yes"), ("2", "No"))]
    held[1]["annotations"] = held[1]["annotations"].replace("\\u2026", "Is it a star?")
    (remark,) = read_sources([write(tmp_path, "z.csv", held)]).remarks
    assert "asked in 2 wordings" in remark and "Is it a star?" in remark


# ---- the same in another form ---------------------------------------------------------------------------------------


def rows_of_label_studio(**cells):
    """HumanSignal/label-studio-sdk, converter: convert_to_json_min and prettify_result."""
    return [
        {"id": item, "text": f"text {item}", "site": "web" if item % 2 else "app", "annotator": who}
        | {"annotation_id": 10 * item + who, "created_at": "2024-01-01", "updated_at": "2024-01-01", "lead_time": 1.5}
        | {name: values[2 * item + who] for name, values in cells.items()}
        for item in range(3)
        for who in range(2)
    ]


MOODS = ["Pos", "Neg", "Pos", "Pos", "Neg", ""]
EXPECTED = {("0", "0", "Pos"), ("0", "1", "Neg"), ("1", "0", "Pos"), ("1", "1", "Pos"), ("2", "0", "Neg")}


def as_csv(rows):
    """converter/exports/csv2.py: what is no text is JSON."""
    text = io.StringIO()
    writer = csv.DictWriter(text, sorted(rows[0]), quoting=csv.QUOTE_NONNUMERIC)
    writer.writeheader()
    flat = [
        {name: json.dumps(own) if isinstance(own, list | dict) else own for name, own in row.items()} for row in rows
    ]
    writer.writerows(flat)
    return text.getvalue()


@pytest.fixture(params=["json", "csv"])
def saved(request, tmp_path):
    def save(rows):
        path = tmp_path / f"project.{request.param}"
        path.write_text(json.dumps(rows) if request.param == "json" else as_csv(rows), encoding="utf-8")
        return str(path)

    return save


def test_rows_of_label_studio_are_answers_to_a_control(saved):
    """The site is the same in both rows of a task, and no control; ids and times are none either."""
    source = read_sources([saved(rows_of_label_studio(mood=MOODS))])
    assert set(answers_in(source.predictions)) == EXPECTED
    assert "do not say what is ground truth" in source.remarks[0]


def test_rows_of_label_studio_may_have_several_controls(saved):
    stars = [[{"rating": 1 + k % 5}] for k in range(6)]
    path = saved(rows_of_label_studio(mood=MOODS, stars=stars))
    assert found(path, question="mood") == EXPECTED
    assert {label for _, _, label in found(path, question="stars")} == {"1", "2", "3", "4", "5"}
    with pytest.raises(cs.InvalidPredictions, match="question='mood' or question='stars'"):
        found(path)


AGREED = ["Pos", "Pos", "Neg", "Neg", "Pos", "Pos"]
ALL_AGREED = {(str(k // 2), str(k % 2), said) for k, said in enumerate(AGREED)}


def without(rows, *names):
    return [{name: own for name, own in row.items() if name not in names} for row in rows]


def test_a_control_of_label_studio_on_which_all_agree_is_read_if_it_is_the_only_one(saved):
    assert found(saved(without(rows_of_label_studio(mood=AGREED), "text", "site"))) == ALL_AGREED


def test_a_control_of_label_studio_on_which_all_agree_may_be_what_tasks_show(saved):
    """The site is the same in all rows of a task too, and so is a text, of which there are few here."""
    path = saved(rows_of_label_studio(mood=AGREED))
    with pytest.raises(cs.InvalidPredictions) as error:
        found(path)
    assert all(f"question='{name}'" in str(error.value) for name in ("mood", "site", "text"))
    assert found(path, question="mood") == ALL_AGREED


def test_a_control_of_label_studio_on_which_all_agree_may_stand_beside_another(saved):
    stars = [[{"rating": 1 + k % 5}] for k in range(6)]
    path = saved(without(rows_of_label_studio(mood=AGREED, stars=stars), "text", "site"))
    assert found(path, question="mood") == ALL_AGREED
    source = read_sources([path])
    assert {label for _, _, label in answers_in(source.predictions)} == {"1", "2", "3", "4", "5"}
    assert "['mood'] may be the question too, though the same in all rows" in source.remarks[0]


def test_what_tasks_show_is_no_control_beside_one_of_free_text_or_spans(saved):
    for said in (lambda row: f"{row}: a remark", lambda _: [{"start": 0, "end": 3, "text": "tex", "labels": ["PER"]}]):
        rows = without(rows_of_label_studio() * 4, "text")
        path = saved([own | {"id": row // 2, "said": said(row)} for row, own in enumerate(rows)])
        with pytest.raises(cs.InvalidPredictions, match="'said'.* is no classification.*question='site'"):
            found(path)
        assert {label for _, _, label in found(path, question="site")} == {"app", "web"}


def test_rows_of_label_studio_with_several_choices_are_refused(saved):
    with pytest.raises(cs.InvalidPredictions, match="gives 2 to item .?0.?, .*no classification"):
        found(saved(rows_of_label_studio(mood=[{"choices": ["Pos", "Neg"]}, *MOODS[1:]])))
    spans = [[{"start": 0, "end": 3, "text": "tex", "labels": ["PER"]}]] * 6
    with pytest.raises(cs.InvalidPredictions, match="no classification"):
        found(saved([{k: v for k, v in row.items() if k != "site"} for row in rows_of_label_studio(tag=spans)]))


def test_rows_of_label_studio_go_back_as_predictions(run, tmp_path):
    path = write(tmp_path, "project.json", rows_of_label_studio(mood=MOODS))
    back = str(tmp_path / "back.json")
    code, _, err = run("aggregate", path, "--to", "label-studio", "--to-field", "text", "-o", back)
    assert code == 0, err
    tasks = json.loads((tmp_path / "back.json").read_text())
    assert [task["data"]["text"] for task in tasks] == ["text 0", "text 1", "text 2"]
    assert {result["from_name"] for task in tasks for result in task["predictions"][0]["result"]} == {"mood"}


def test_records_that_are_kept_as_columns(run, tmp_path):
    """argilla, records/_io/_generic.py: to_dict; pandas writes records so too."""
    rows = [{"id": f"r{k}", "text": "…"} for k in range(2)]
    for row, said in zip(rows, (["a", "b"], ["b"]), strict=True):
        users = ["u1", "u2"][: len(said)]
        row |= {"q.responses": said, "q.responses.users": users, "q.responses.status": ["submitted"] * len(said)}
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    assert found(write(tmp_path, "a.json", columns)) == {("r0", "u1", "a"), ("r0", "u2", "b"), ("r1", "u1", "b")}
    code, _, err = run("aggregate", "a.json", "--to", "argilla", "-o", "back.json")
    assert code == 0, err
    assert [own["id"] for own in json.loads((tmp_path / "back.json").read_text())] == ["r0", "r1"]
    judged = {"user_input": {"0": "q", "1": "p"}, "response": {"0": "r", "1": "s"}, "polite": {"0": 1, "1": 0}}
    assert found(write(tmp_path, "gpt.json", judged)) == {("q → r", "gpt", "1"), ("p → s", "gpt", "0")}


def test_the_latest_run_of_deepeval(tmp_path):
    """confident-ai/deepeval, test_run/test_run.py: `.deepeval/.latest_test_run.json` has the run inside."""
    cases = [
        {"name": f"case_{k}", "input": f"in {k}", "actualOutput": "…", "order": k}
        | {"metricsData": [{"name": "Polite", "success": k == j, "evaluationModel": f"judge{j}"} for j in range(2)]}
        for k in range(2)
    ]
    path = write(tmp_path, "latest.json", {"testRunData": {"testCases": cases}, "testRunLink": None})
    expected = {(f"case_{k}", f"judge{j}", "pass" if k == j else "fail") for k in range(2) for j in range(2)}
    assert found(path) == expected


@pytest.mark.parametrize("response", [[-40.5], [-40.5, False], ["-40.5", "False"]])
def test_one_log_likelihood_is_no_answer(response, tmp_path):
    """Texts whose likelihood is measured, as older and newer versions write it."""
    held = [forms.generated(k, "", "A", "none") | {"filtered_resps": [response]} for k in range(3)]
    with pytest.raises(cs.InvalidPredictions, match="no classification"):
        found(write(tmp_path, "m.jsonl", held))
