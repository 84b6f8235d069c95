"""The file of each tool is read as the panel that was counted by hand, or refused with what to say."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import consilience as cs
import tool_forms as forms
from consilience.data.labels import known_labels
from consilience.data.tables.frames import columns_of
from consilience.data.tables.told import Told
from consilience.files import read_labels, read_sources
from consilience.files.tools import READERS
from tool_forms import FORMS, answers_in

MADE = Path(__file__).parent / "made"


def told(form):
    return Told(question=form.question)


@pytest.mark.parametrize("name", FORMS)
def test_a_file_is_read_as_its_panel(name, tmp_path):
    form = FORMS[name]
    source = read_sources([form.write(tmp_path)], told=told(form))
    found = answers_in(source.predictions)
    assert set(found) == form.answers and len(found) == len(form.answers)
    assert f"as {READERS[form.tool].title} writes it" in source.found[0]
    assert all(remark in source.found[0] and remark in source.remarks[0] for remark in form.remarks)
    assert bool(source.remarks) == bool(form.remarks)


@pytest.mark.parametrize("name", FORMS)
def test_the_truth_is_apart(name, tmp_path):
    form = FORMS[name]
    path = form.write(tmp_path)
    if not form.truth:
        with pytest.raises(cs.InvalidPredictions, match="must have true labels"):
            read_labels(path, told=told(form))
        return
    found = read_labels(path, told=told(form)).labels
    answered = {item for item, _, _ in form.answers}
    expected = {item: label for item, label in form.truth.items() if item in answered}
    assert dict(zip(found.items, found.labels, strict=True)) == expected


@pytest.mark.parametrize("name", FORMS)
def test_a_reader_can_be_forced(name, tmp_path):
    form = FORMS[name]
    path = form.write(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        panel = cs.read_predictions(path, format=form.tool, question=form.question)
    assert set(answers_in(panel)) == form.answers


@pytest.mark.parametrize("name", FORMS)
def test_one_reader_recognises_a_file(name, tmp_path):
    form = FORMS[name]
    given = columns_of(form.held) if form.name.endswith((".csv", ".tsv")) else form.held
    assert [tool for tool, reader in READERS.items() if reader.recognises(given)] == [form.tool]


def test_every_reader_has_a_form():
    made = {form.tool for form in FORMS.values()} | {"inspect", "alpaca-eval"}  # tested below
    assert made | {"rewardbench", "helm", "deepeval", "ragas"} == set(READERS)  # in test_made


def test_what_is_left_out_is_said_in_python_too(tmp_path):
    form = FORMS["toloka: assignments.tsv"]
    with pytest.warns(UserWarning, match="left out 1 rejected assignments"):
        cs.read_predictions(form.write(tmp_path))


# ---- several files ---------------------------------------------------------------------------------------------


def test_members_answer_in_several_files(tmp_path):
    """Annotators of doccano have a file each, and each may use some of the classes; workers answer in several pools."""
    ann = FORMS["doccano: ann.jsonl"]
    bob = ann._replace(
        name="bob.jsonl", held=[{"id": k, "text": "…", "label": ["pos"], "Comments": []} for k in (1, 2)]
    )
    source = read_sources([ann.write(tmp_path), bob.write(tmp_path)])
    assert set(answers_in(source.predictions)) == ann.answers | {("1", "bob", "pos"), ("2", "bob", "pos")}
    pool = FORMS["toloka: assignments.tsv"]
    other = pool._replace(name="b.tsv", held=[forms.assignment("9.jpg", "w1", "cat")])
    panel = read_sources([pool.write(tmp_path), other.write(tmp_path)]).predictions
    assert set(answers_in(panel)) == pool.answers | {("9.jpg", "w1", "cat")}


def test_each_file_is_told_on_a_line_of_its_own(tmp_path, run):
    ann = FORMS["doccano: ann.jsonl"]
    paths = [ann.write(tmp_path), ann._replace(name="bob.jsonl").write(tmp_path)]
    source = read_sources(paths)
    assert [line.partition(":")[0] for line in source.found] == paths and len(source.examples) == 2
    code, _, err = run("aggregate", *paths, "-m", "average")
    assert code == 0 and "\\n" not in err


def test_an_answer_in_two_files_is_refused(tmp_path):
    pool = FORMS["toloka: assignments.tsv"]
    with pytest.raises(cs.InvalidPredictions, match="an answer must be in one file"):
        read_sources([pool.write(tmp_path), pool._replace(name="b.tsv").write(tmp_path)])


def test_tasks_of_other_options_are_no_panel(tmp_path):
    boolq = FORMS["lm-eval: org__model/samples_boolq_2024-05-01T10-00-00.000000.jsonl"]
    held = [forms.sample(5, [["-1", "F"], ["-2", "F"]], "0", (" true", " false"))]
    other = boolq._replace(name="org__model/samples_rte_2024-05-01T10-00-00.000000.jsonl", held=held)
    with pytest.raises(cs.InvalidPredictions, match="files must have the same options"):
        read_sources([boolq.write(tmp_path), other.write(tmp_path)])


def test_a_tool_beside_an_array(tmp_path):
    path = FORMS["wrench: train.json"].write(tmp_path)
    np.savez(tmp_path / "net.npz", net=[[0.1, 0.9], [0.8, 0.2]], items=["0", "1"], classes=["0", "1"])
    panel = read_sources([path, f"{tmp_path / 'net.npz'}:net"]).predictions
    assert set(panel.members) == {"function 0", "function 1", "function 2", "net"} and panel.n_items == 2


# ---- single tools ---------------------------------------------------------------------------------------------


def test_log_likelihoods_are_logits(tmp_path):
    form = FORMS["lm-eval: org__model/samples_boolq_2024-05-01T10-00-00.000000.jsonl"]
    with pytest.warns(UserWarning, match="one member"):
        panel = cs.read_predictions(form.write(tmp_path))
    logits = np.array([[-2.0, -1.0], [-1.0, -3.0]])  # no, yes
    expected = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert panel.classes == ["no", "yes"]
    np.testing.assert_allclose(panel.to_array()[0], expected)


def test_models_of_lm_eval_are_told_by_their_folders(tmp_path):
    name = "samples_boolq_2024-05-01T10-00-00.000000.jsonl"
    first = FORMS[f"lm-eval: org__model/{name}"]
    other = first._replace(name=f"org__other/{name}")
    panel = cs.read_predictions([first.write(tmp_path), other.write(tmp_path)])
    assert panel.members == ["org__model", "org__other"] and panel.n_items == 2


def test_options_of_a_document_are_told_by_their_places(tmp_path):
    """Documents whose options differ, also in number; a place beyond a document's options is impossible there."""
    held = [
        forms.sample(0, [["-1", "F"], ["-2", "F"], ["-3", "F"]], "0", (" a", " b", " c")),
        forms.sample(1, [["-2", "F"], ["-1", "F"]], "d", (" d", " e")),
    ]
    form = forms.Form("lm-eval", "m.jsonl", held, set())
    source = read_sources([form.write(tmp_path)])
    assert source.predictions.classes == ["0", "1", "2"]
    assert source.predictions.to_array()[0, 1, 2] == 0
    assert read_labels(form.write(tmp_path)).labels.labels == ["0", "0"]


@pytest.mark.parametrize(("accuracy", "expected"), [(1.0, ["0"]), (0.0, ["1"])])
def test_a_target_that_may_be_a_place_or_an_option_is_decided_by_the_score(tmp_path, accuracy, expected):
    """The options are 1 and 0. The target 1 is the text of the first, and the place of the second."""
    held = [forms.sample(0, [["-2", "F"], ["-1", "F"]], "1", (" 1", " 0"), acc=accuracy)]
    found = read_labels(forms.Form("lm-eval", "m.jsonl", held, set()).write(tmp_path))
    assert found.labels.labels == expected


def test_perplexity_is_no_classification(tmp_path):
    held = [forms.sample(k, [["-40.5", "False"]], "word", (" word",)) for k in range(3)]
    with pytest.raises(cs.InvalidPredictions, match="no classification"):
        read_sources([forms.Form("lm-eval", "m.jsonl", held, set()).write(tmp_path)])


def test_the_weighted_preference_of_alpaca_eval_is_a_probability(tmp_path):
    """tatsu-lab/alpaca_eval, README.md: 1 prefers output_1, 2 output_2; a draw is 0 or 1.5."""
    records = [
        {"instruction": "Why?", "output_1": "…", "output_2": "…", "generator_1": "base", "generator_2": "new"}
        | {"annotator": judge, "preference": preference}
        for judge, preference in (("gpt4", 1.25), ("claude", 2.0), ("vote", 0), ("other", None))
    ]
    (tmp_path / "annotations.json").write_text(json.dumps(records))
    with pytest.warns(UserWarning, match="left out 1 annotations without a preference"):
        panel = cs.read_predictions(tmp_path / "annotations.json")
    assert panel.items == ["base v new/Why?"] and panel.members == ["claude", "gpt4", "vote"]
    assert panel.classes == ["output_1", "output_2"]
    np.testing.assert_allclose(panel.to_array()[:, 0], [[0, 1], [0.75, 0.25], [0.5, 0.5]])


def test_answers_in_logs_of_inspect(tmp_path):
    """Made by inspect_ai 0.3.285 with `mockllm` in two epochs; events and messages were taken out."""
    source = read_sources([str(MADE / "inspect-choice.json")])
    said = {("q0", "A"), ("q1", "B"), ("q2", "C"), ("q3", "A")}
    found = answers_in(source.predictions)
    assert sorted(found) == sorted((item, "mockllm/model", label) for item, label in said for _ in range(2))
    truth = known_labels(read_labels(str(MADE / "inspect-choice.json")).labels, source.predictions.axes)
    assert truth.tolist() == [0, 1, 2, 0]


def test_graders_in_logs_of_inspect():
    """Made by inspect_ai 0.3.285: the model says yes, no, maybe; `strict` wants yes, `kind` finds maybe partial."""
    panel = cs.read_predictions(MADE / "inspect-grades.json")
    expected = {("0", "strict", "C"), ("1", "strict", "I"), ("2", "strict", "I")}
    expected |= {("0", "kind", "C"), ("1", "kind", "C"), ("2", "kind", "P")}
    assert set(answers_in(panel)) == {(f"mockllm/model/{item}", scorer, value) for item, scorer, value in expected}


def test_one_grader_of_free_answers_can_be_read_in_two_ways(tmp_path):
    held = json.loads((MADE / "inspect-grades.json").read_text())
    for sample in held["samples"]:
        sample["scores"] = {"match": {"value": "C", "answer": "yes"}}
    (tmp_path / "log.json").write_text(json.dumps(held))
    with pytest.raises(cs.InvalidPredictions, match="question='answer' or question='grade'"):
        cs.read_predictions(tmp_path / "log.json")


def test_submitted_responses_of_argilla_in_parquet(tmp_path):
    import polars as pl

    form = FORMS["argilla: flat.jsonl"]
    pl.DataFrame(form.held).write_parquet(tmp_path / "records.parquet")
    panel = read_sources([str(tmp_path / "records.parquet")]).predictions
    assert set(answers_in(panel)) == form.answers


def test_scores_of_both_models_are_one_verdict(tmp_path):
    """lm-sys/FastChat, play_a_match_pair with a judge of single answers: no order, so that both winners are one."""
    held = [
        forms.duel(k, "gpt-4", winner, winner) | {"m1_score": 7, "m2_score": 9}
        for k, winner in ((1, "tie"), (2, "model_2"))
    ]
    panel = read_sources([forms.Form("", "p.jsonl", held, set()).write(tmp_path)]).predictions
    assert len(answers_in(panel)) == 2


def test_tasks_of_two_workflows_are_two_questions(tmp_path):
    held = [forms.classification("5", "ann", "Yes"), forms.classification("5", "ann", "Round", workflow="2")]
    with pytest.raises(cs.InvalidPredictions, match="question='1/T0' or question='2/T0'"):
        cs.read_predictions(forms.Form("", "z.csv", held, set()).write(tmp_path))


def test_prompts_tell_the_columns_of_one_provider_apart(tmp_path):
    held = [forms.result(0, 0, "a", "pos"), forms.result(0, 1, "a", "neg")]
    panel = read_sources([forms.Form("", "p.jsonl", held, set()).write(tmp_path)]).predictions
    assert set(answers_in(panel)) == {("0", "a/prompt 0", "pos"), ("0", "a/prompt 1", "neg")}


def test_a_grade_that_broke_is_no_verdict(tmp_path):
    held = json.loads(json.dumps(forms.GRADES))
    held[0]["gradingResult"]["componentResults"][0]["metadata"] = {"graderError": True}
    source = read_sources([forms.Form("", "p.jsonl", held, set()).write(tmp_path)])
    assert set(answers_in(source.predictions)) == FORMS["promptfoo: graded.jsonl"].answers - {("a/0", "j1", "pass")}
    assert "left out 1 grades with an error" in source.remarks[0]


def test_picked_options_are_read_where_options_were_offered(tmp_path):
    data = {"correct": True, "expected": "A", "options": ["A", "B"]}
    held = [
        forms.SPEC,
        forms.event(0, "match", data | {"picked": "A", "sampled": "A. Since …"}),
        forms.event(1, "match", data | {"picked": "B", "sampled": "B, of course"}),
    ]
    panel = read_sources([forms.Form("", "e.jsonl", held, set()).write(tmp_path)]).predictions
    assert set(answers_in(panel)) == {("e.dev.0", "gpt-x", "A"), ("e.dev.1", "gpt-x", "B")}


def test_the_last_model_of_a_model_graded_eval_judges_the_others(tmp_path):
    """openai/evals, elsuite/modelgraded/classify.py: the last completion function judges."""
    spec = {"spec": forms.SPEC["spec"] | {"completion_fns": ["small", "judge"]}}
    held = [spec, *(forms.event(k, "metrics", {"choice": choice}) for k, choice in enumerate(("Yes", "No")))]
    panel = read_sources([forms.Form("", "e.jsonl", held, set()).write(tmp_path)]).predictions
    assert set(answers_in(panel)) == {("small/e.dev.0", "judge", "Yes"), ("small/e.dev.1", "judge", "No")}


@pytest.mark.parametrize("kind", [None, ["raw"]])
def test_events_of_openai_evals_of_an_odd_type_are_passed_over(kind, tmp_path):
    data = {"correct": True, "expected": "A"}
    held = [forms.SPEC, *(forms.event(k, "match", data | {"sampled": said}) for k, said in enumerate("AB"))]
    path = forms.Form("", "e.jsonl", [*held, forms.event(2, kind, {})], set()).write(tmp_path)
    assert len(answers_in(read_sources([path]).predictions)) == 2


@pytest.mark.parametrize("winner", [{"name": "model_1"}, {"name": ["model_1"]}, {"a": 1.0, "b": None}])
def test_an_answer_that_is_a_record_is_refused(winner, tmp_path):
    held = [forms.duel(81, "gpt-4", winner, "tie")]
    with pytest.raises(cs.InvalidPredictions, match="a label, or a number for each class; 'gpt-4/pair-v2' gives {'"):
        read_sources([forms.Form("", "pairs.jsonl", held, set()).write(tmp_path)])


def test_grades_with_several_entries_are_several_questions(tmp_path):
    held = json.loads((MADE / "inspect-grades.json").read_text())
    for place, sample in enumerate(held["samples"]):
        sample["scores"] = {"judge": {"value": {"polite": place % 2, "short": 1 - place % 2}}}
    sample["scores"]["judge"]["value"]["polite"] = float("nan")
    (tmp_path / "log.json").write_text(json.dumps(held))
    source = read_sources([str(tmp_path / "log.json")], told=Told(question="polite"))
    assert sorted(label for _, _, label in answers_in(source.predictions)) == ["0", "1"]
    assert "left out 1 samples that a scorer left unscored" in source.remarks[0]


def test_a_session_of_prodigy_that_nobody_named_is_the_file(tmp_path):
    """prodi.gy: without `?session=` both ids are the time when the server started, another one on the next day."""
    times = ("2024-02-06_10-17-19", "2024-02-07_09-00-01")
    held = [forms.prodigy(k, time, "accept", label="SPORT", _session_id=time) for k, time in enumerate(times)]
    held.append(forms.prodigy(2, "sports-ann", "reject", label="SPORT", _session_id="sports-ann"))
    panel = read_sources([forms.Form("", "bob.jsonl", held, set()).write(tmp_path)]).predictions
    assert set(answers_in(panel)) == {("0", "bob", "accept"), ("1", "bob", "accept"), ("2", "sports-ann", "reject")}


def test_options_that_nobody_chose_are_classes(tmp_path):
    held = [forms.prodigy(7, "ann", "accept", accept=["A"], options=forms.OPTIONS)]
    panel = read_sources([forms.Form("", "p.jsonl", held, set()).write(tmp_path)]).predictions
    assert panel.classes == ["A", "B"]


def test_unconditional_options_of_mutual_information_are_no_options(tmp_path):
    """lm_eval/api/task.py: continuations are asked again without their context, after all others."""
    texts = (" yes", " no", " yes", " no")
    responses = [["-1", "F"], ["-2", "F"], ["-3", "F"], ["-9", "F"]]
    held = [forms.sample(0, responses, "1", texts, acc_mutual_info=1.0)]
    source = read_sources([forms.Form("", "m.jsonl", held, set()).write(tmp_path)])
    assert source.predictions.classes == ["no", "yes"]
    np.testing.assert_allclose(source.predictions.to_array()[0, 0, 1], 1 / (1 + np.exp(-1)))


def test_a_field_of_mechanical_turk_is_called_as_in_its_form(tmp_path):
    path = FORMS["mturk: Batch_1_batch_results.csv"].write(tmp_path)
    with pytest.warns(UserWarning, match="rejected"):
        assert cs.read_predictions(path, question="category").n_items == 1


# ---- refusals -------------------------------------------------------------------------------------------------


def test_several_questions_are_asked_for(tmp_path, run):
    path = FORMS["label-studio: project.json"].write(tmp_path)
    with pytest.raises(cs.InvalidPredictions, match="one question .* question='sentiment' or question='ironic'"):
        cs.read_predictions(path)
    code, _, err = run("aggregate", path)
    assert code == 2 and "--question sentiment or --question ironic" in " ".join(err.split())
    with pytest.raises(cs.InvalidPredictions, match="question= must be one of"):
        cs.read_predictions(path, question="mood")


def test_a_file_without_questions_has_none_to_choose(tmp_path):
    with pytest.raises(cs.InvalidPredictions, match="no questions to choose from"):
        cs.read_predictions(FORMS["doccano: ann.jsonl"].write(tmp_path), question="x")


BOX = {"from_name": "tag", "to_name": "img", "type": "rectanglelabels", "value": {"x": 1, "rectanglelabels": ["a"]}}
REGION = forms.choice("a") | {"value": {"choices": ["a"], "start": 0, "end": 3}}
MANY = forms.choice("a") | {"value": {"choices": ["a", "b"]}}
NOT_CLASSES = {
    "boxes": ("p.json", [forms.task(1, forms.annotation(1, BOX))]),
    "choices for regions": ("p.json", [forms.task(1, forms.annotation(1, REGION))]),
    "several labels": ("p.json", [forms.task(1, forms.annotation(1, MANY))]),
    "spans of doccano": ("ann.jsonl", [{"id": 1, "text": "…", "label": [[0, 3, "ORG"]], "Comments": []}]),
    "spans without ids": ("ann.jsonl", [{"text": "Ann", "label": [[0, 3, "PER"]]}, {"text": "Bob", "label": []}]),
    "spans of an older doccano": ("ann.jsonl", [{"id": k, "text": f"t{k}", "labels": [[0, 2, "ORG"]]} for k in (1, 2)]),
    "relations of doccano": (
        "ann.jsonl",
        [{"id": 1, "text": "…", "entities": [{"label": "ORG", "start_offset": 0, "end_offset": 3}], "relations": []}],
    ),
    "boxes of COCO": (
        "coco.json",
        {"images": [{"id": 1}, {"id": 2}], "annotations": [{"image_id": 1, "category_id": 2, "bbox": [1, 2, 3, 4]}]},
    ),
    "boxes of doccano": ("ann.jsonl", [{"id": 1, "filename": "…", "bbox": [{"x": 1}], "Comments": []}]),
    "spans of Prodigy": ("p.jsonl", [forms.prodigy(1, "ann", "accept", spans=[{"start": 0, "end": 3}])]),
    "rankings": ("r.json", [forms.argilla("r", q=[{"value": [{"value": "a", "rank": 1}], "user_id": "u"}])]),
    "drawings": ("z.csv", [forms.classification("5", "ann", [{"x": 1, "y": 2}])]),
    "sentences": (
        "r.json",
        [forms.argilla(f"r{k}", q=[{"value": f"it is the case number {k}", "user_id": "u"}]) for k in range(5)],
    ),
    "free text": ("r.json", [forms.argilla(f"r{k}", q=[{"value": f"w {k}", "user_id": "u"}]) for k in range(30)]),
    "matches": (
        "e.jsonl",
        [forms.SPEC, forms.event(0, "match", {"correct": True, "expected": ["A"], "picked": ["A"]})],
    ),
}


@pytest.mark.parametrize("name", NOT_CLASSES)
def test_other_than_classes_is_said_to_be_no_classification(name, tmp_path):
    path, held = NOT_CLASSES[name]
    with pytest.raises(cs.InvalidPredictions, match="no classification"):
        read_sources([forms.Form("", path, held, set()).write(tmp_path)])


def test_answers_without_members_are_refused(tmp_path):
    form = FORMS["doccano: ann.jsonl"]._replace(name="all.jsonl")
    with pytest.raises(cs.InvalidPredictions, match="everybody's answers together"):
        read_sources([form.write(tmp_path)])


@pytest.mark.parametrize(
    "held",
    [
        {"project": "x", "rows": [{"a": 1}]},
        [{"project": "x", "votes": [{"who": "ann", "said": "yes"}]}],
        [{"project": "x", "label": "a", "task": {"votes": [{"who": "ann", "said": "yes"}]}}],
    ],
)
def test_a_nested_file_that_no_reader_knows_is_refused_with_readers_and_keys(held, tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(held))
    with pytest.raises(cs.InvalidPredictions) as error:
        cs.read_predictions(tmp_path / "a.json")
    assert all(word in str(error.value) for word in ("label-studio", "lm-eval", "'project'"))


def test_deep_json_is_refused(tmp_path):
    for deep in ('{"a":' * 900 + "1" + "}" * 900, "[" * 900 + "]" * 900):
        (tmp_path / "a.json").write_text(f'[{{"x": {deep}}}]')
        with pytest.raises(cs.InvalidPredictions):
            cs.read_predictions(tmp_path / "a.json")


def test_a_file_of_another_form_is_refused_when_forced(tmp_path):
    (tmp_path / "a.json").write_text('[{"item": 1, "member": "ann", "label": "x"}]')
    for name, reader in READERS.items():
        if reader.whole or reader.records:
            with pytest.raises(cs.InvalidPredictions):
                cs.read_predictions(tmp_path / "a.json", format=name)
    with pytest.raises(cs.InvalidPredictions, match="format= must be one of lm-eval"):
        cs.read_predictions(tmp_path / "a.json", format="excel")
    with pytest.raises(cs.InvalidPredictions, match="Toloka writes a table"):
        cs.read_predictions(tmp_path / "a.json", format="toloka")


SCRAPS = [None, 1, "x", [], {}, [[]], [{}], {"a": None}]


@pytest.mark.parametrize("name", [name for name, form in FORMS.items() if not form.name.endswith(("csv", "tsv"))])
def test_damaged_files_are_read_or_refused(name, tmp_path):
    """Each value of the first record, or of what is in it, is replaced by something else."""
    form = FORMS[name]
    first = form.held[0] if isinstance(form.held, list) else form.held
    for path in paths_in(first):
        for scrap in SCRAPS:
            held = json.loads(json.dumps(form.held))
            place = held[0] if isinstance(held, list) else held
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = scrap
            try:
                read_sources([form._replace(held=held).write(tmp_path)], told=told(form))
            except cs.InvalidPredictions:
                continue


def paths_in(value, path=(), depth=4):
    """The places of all values in nested JSON."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inside:
        yield (*path, key)
        if depth:
            yield from paths_in(part, (*path, key), depth - 1)


def test_a_table_whose_columns_are_named_is_a_table(tmp_path):
    path = FORMS["toloka: assignments.tsv"].write(tmp_path)
    panel = cs.read_predictions(path, item="INPUT:image", member="ASSIGNMENT:worker_id", label="OUTPUT:result")
    assert len(answers_in(panel)) == 4  # the rejected one too


# ---- the command line -----------------------------------------------------------------------------------------


def test_formats_are_listed(run):
    code, out, _ = run("formats")
    assert code == 0 and all(f"{name}: {reader.title}" in out for name, reader in READERS.items())
    assert out.count("not verified") == 1  # of Mechanical Turk, whose columns Amazon does not document
    code, out, _ = run("formats", "--json")
    assert set(json.loads(out)) == set(READERS)


def test_known_labels_come_from_the_same_file(run, tmp_path):
    path = FORMS["toloka: assignments.tsv"].write(tmp_path)
    code, _, err = run("aggregate", path, "-m", "dawid-skene", "--known", path, "--from", "toloka")
    assert code == 0, err
    assert "1 true labels, for --known or --labels" in " ".join(err.split())


def test_labels_of_items_that_nobody_answered_do_no_harm(run, tmp_path):
    path = FORMS["lm-eval: model.jsonl"].write(tmp_path)
    words = ("--question", "strict", "--classes", "A,B,C", "--labels", path)
    code, _, err = run("aggregate", path, "-m", "average", *words)
    assert code == 0, err
    assert "2 labels" in " ".join(err.split())


def test_labels_of_another_file_are_a_table(run, tmp_path):
    path = FORMS["wrench: train.json"].write(tmp_path)
    (tmp_path / "truth.csv").write_text("item,label\n0,1\n1,0\n")
    code, _, err = run("aggregate", path, "-m", "average", "--from", "wrench", "--labels", str(tmp_path / "truth.csv"))
    assert code == 0, err


@pytest.mark.parametrize(
    ("path", "data", "n_left_out"),
    [
        (
            "project.json",
            [forms.task(k, forms.annotation(7, forms.choice(said))) for k, said in enumerate(("", *"ab"))],
            1,
        ),
        ("model.jsonl", [forms.generated(k, said, "A", "none") for k, said in enumerate(("A", "", " ", "B"))], 2),
    ],
    ids=["label-studio", "lm-eval"],
)
def test_a_blank_answer_is_none(tmp_path, path, data, n_left_out):
    """Blank text is no class of its own."""
    text = json.dumps(data) if path.endswith(".json") else "\n".join(map(json.dumps, data))
    (tmp_path / path).write_text(text, encoding="utf-8")
    with pytest.warns(UserWarning, match=f"left out {n_left_out} records without an answer"):
        read = cs.read_predictions(tmp_path / path)
    assert "" not in read.classes and len(read.classes) == 2


@pytest.mark.parametrize(("place", "role"), [(0, "item"), (1, "member"), (2, "label")])
def test_a_name_that_is_spelled_in_two_ways_is_refused(tmp_path, place, role):
    answers = [["q1", "ann", "a"], ["q1", "bob", "a"], ["q2", "ann", "b"], ["q2", "bob", "b"]]
    for own, name in zip(answers, ["1", "1.0", "1", "1"], strict=True):
        own[place] = name
    task = {"_task_hash": 1, "answer": "accept", "options": [{"id": "a"}, {"id": "b"}]}
    form = [task | {"_input_hash": item, "_annotator_id": own, "accept": [said]} for item, own, said in answers]
    path = tmp_path / "reviews.jsonl"
    path.write_text("".join(f"{json.dumps(own)}\n" for own in form), encoding="utf-8")
    with pytest.raises(cs.InvalidPredictions, match=f"column '{role}' must spell a name in one way; got '1' and '1.0'"):
        read_sources([str(path)])
