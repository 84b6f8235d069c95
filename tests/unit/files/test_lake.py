"""Data sets in and out: the same answers as in memory, whatever form they lie in, and nothing else than asked for."""

from __future__ import annotations

import json
import shutil

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone

import consilience as cs
from consilience.data.tables.told import Told
from consilience.files.lake import buckets, fusing, meaning

MEMBERS, CLASSES = ["ann", "bob", "cyd", "dan"], ["cat", "dog", "fox"]


def panel(n_items=600, seed=0):
    """Votes (members, items), and probabilities that have them as their largest."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=n_items)
    is_right = rng.random((4, n_items)) < np.array([0.9, 0.8, 0.7, 0.6])[:, None]
    votes = np.where(is_right, truth, rng.integers(3, size=is_right.shape))
    rows = 0.4 * np.eye(3)[votes] + 0.6 * rng.dirichlet(np.full(3, 4.0), size=votes.shape)
    return votes, rows


def long_votes(n_items=600, seed=0):
    votes, _ = panel(n_items, seed)
    return pl.DataFrame(
        {
            "task": [f"t{i:04d}" for i in range(n_items) for _ in MEMBERS],
            "worker": MEMBERS * n_items,
            "label": [CLASSES[k] for k in votes.T.ravel()],
        }
    )


def wide_votes(n_items=600):
    votes, _ = panel(n_items)
    names = {name: [CLASSES[k] for k in votes[m]] for m, name in enumerate(MEMBERS)}
    return pl.DataFrame({"item": [f"t{i:04d}" for i in range(n_items)], **names})


def in_parts(frame, folder, n_parts=3):
    """Write a frame as several files; rows of one item may be in two of them."""
    folder.mkdir(parents=True, exist_ok=True)
    for place in range(n_parts):
        frame[place::n_parts].write_parquet(folder / f"part-{place}.parquet")
    return str(folder)


def fused(sources, output, method=None, *, told=None, **options):
    own = {name: options.pop(name) for name in ("logits", "skips") if name in options}
    run = fusing.LakeRun(list(map(str, sources)), str(output), told or Told(), settings={}, **own)
    return run.run(lambda data: clone(method or cs.DawidSkene()).fit(data), **options)


def written(output):
    return pl.read_parquet(f"{output}/").sort("item")


@pytest.fixture(autouse=True)
def small_buckets(monkeypatch):
    monkeypatch.setattr(buckets, "NUMBERS_IN_BUCKET", 500)


def expected(method, *frames, **names):
    made = [cs.Predictions.from_frame(frame, **names) for frame in frames]
    fitted = clone(method).fit(made[0])
    order = np.argsort(fitted.items_)
    return np.array(fitted.items_)[order], fitted.predict_proba(made[0])[order], fitted.classes_


@pytest.mark.parametrize("method", [cs.DawidSkene(), cs.BayesianClassifierCombination(), cs.MajorityVote()], ids=str)
def test_long_votes_are_fused_as_in_memory(method, tmp_path):
    frame = long_votes()
    found = fused([in_parts(frame, tmp_path / "votes")], tmp_path / "out", method, with_posterior=True)
    items, posterior, classes = expected(method, frame)
    table = written(tmp_path / "out")
    assert table["item"].to_list() == items.tolist()
    np.testing.assert_allclose(table.select(classes).to_numpy(), posterior, atol=1e-10)
    assert table["answer"].to_list() == [classes[k] for k in posterior.argmax(axis=1)]
    np.testing.assert_allclose(table["confidence"], posterior.max(axis=1), atol=1e-10)
    assert set(table["n_answers"]) == {4}
    assert (found.items, found.answers, found.members, found.classes) == (600, 2400, MEMBERS, CLASSES)
    assert found.parts > 1
    assert "all 600 items" in found.learned_from
    assert "patterns" in found.learned_from
    assert sum(found.shares.values()) == pytest.approx(1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.manifest.json", "votes"]


def test_every_form_of_votes_gives_the_same(tmp_path):
    frame = long_votes()
    in_parts(frame, tmp_path / "long")
    in_parts(wide_votes(), tmp_path / "wide")
    for name in MEMBERS:  # a folder for each member, as Spark writes them
        own = frame.filter(pl.col("worker") == name).drop("worker")
        in_parts(own, tmp_path / f"hive/worker={name}", 2)
        own.rename({"task": "item"}).write_parquet(tmp_path / f"{name}.parquet")
    (tmp_path / "text").mkdir()
    frame.write_csv(tmp_path / "text/votes.csv")
    frame.write_csv(tmp_path / "votes.tsv", separator="\t")
    frame.write_ndjson(tmp_path / "votes.jsonl")
    whole_numbers = frame.with_columns(pl.col("task").str.slice(1).cast(pl.Int64))
    in_parts(whole_numbers, tmp_path / "numbers")
    sources = {
        "folder": ["long"],
        "pattern": ["long/*.parquet"],
        "files": ["long/part-0.parquet", "long/part-1.parquet", "long/part-2.parquet"],
        "wide": ["wide"],
        "hive": ["hive"],
        "csv": ["text/*.csv"],
        "tsv": ["votes.tsv"],
        "jsonl": ["votes.jsonl"],
        "a data set for each member": [f"{name}.parquet" for name in MEMBERS],
        "numbers": ["numbers"],
    }
    first = None
    for name, own in sources.items():
        out = tmp_path / f"out of {name}"
        found = fused([tmp_path / source for source in own], out, with_posterior=True)
        assert (found.items, found.answers, found.members) == (600, 2400, MEMBERS), name
        table = written(out).drop("item")
        first = table if first is None else first
        np.testing.assert_allclose(table.select(CLASSES).to_numpy(), first.select(CLASSES).to_numpy(), atol=1e-10)
        assert table["answer"].to_list() == first["answer"].to_list()
    assert written(tmp_path / "out of numbers")["item"].dtype == pl.Int64


def test_every_form_of_probabilities_gives_the_same(tmp_path):
    _, rows = panel()
    names = [f"t{i:04d}" for i in range(600)]
    long = pl.DataFrame(
        {
            "item": names * 4,
            "member": np.repeat(MEMBERS, 600),
            **{name: rows[:, :, k].ravel() for k, name in enumerate(CLASSES)},
        }
    )
    in_parts(long, tmp_path / "long")
    for m, name in enumerate(MEMBERS):
        own = pl.DataFrame({"item": names, **{c: rows[m, :, k] for k, c in enumerate(CLASSES)}})
        in_parts(own, tmp_path / "each" / name)
    lists = pl.DataFrame({"item": names * 4, "member": np.repeat(MEMBERS, 600), "probs": rows.reshape(-1, 3).tolist()})
    in_parts(lists, tmp_path / "lists")
    wide = pl.DataFrame({"item": names, **{name: rows[m].tolist() for m, name in enumerate(MEMBERS)}})
    in_parts(wide, tmp_path / "wide lists")
    logits = long.with_columns(pl.col(CLASSES).log())
    in_parts(logits, tmp_path / "logits")
    data = cs.Predictions(rows, members=MEMBERS, items=names, classes=CLASSES)
    plain = cs.SoftDawidSkene(max_iter=10).fit(data).predict_proba(data)
    told = Told(classes=tuple(CLASSES))
    for name, sources, options in [
        ("long", ["long"], {}),
        ("each", [f"each/{name}" for name in MEMBERS], {}),
        ("lists", ["lists"], {"told": told}),
        ("wide lists", ["wide lists"], {"told": told}),
        ("logits", ["logits"], {"logits": True}),
    ]:
        out = tmp_path / f"out of {name}"
        found = fused(
            [tmp_path / own for own in sources], out, cs.SoftDawidSkene(max_iter=10), with_posterior=True, **options
        )
        assert (found.items, found.answers, found.members, found.classes) == (600, 2400, MEMBERS, CLASSES), name
        np.testing.assert_allclose(written(out).select(CLASSES).to_numpy(), plain, atol=1e-9, err_msg=name)


def test_missing_votes_and_words_for_missing_are_no_answers(tmp_path):
    frame = wide_votes()
    rng = np.random.default_rng(1)
    frame = frame.with_columns(
        pl.when(pl.Series(rng.random(600) < 0.3)).then(pl.lit("NA")).otherwise(pl.col("bob")).alias("bob"),
        pl.when(pl.Series(rng.random(600) < 0.3)).then(None).otherwise(pl.col("cyd")).alias("cyd"),
    )
    found = fused([in_parts(frame, tmp_path / "votes")], tmp_path / "out", with_posterior=True)
    _, posterior, _ = expected(cs.DawidSkene(), frame)
    np.testing.assert_allclose(written(tmp_path / "out").select(CLASSES).to_numpy(), posterior, atol=1e-10)
    assert found.classes == CLASSES
    assert found.answers == 2400 - frame["cyd"].null_count() - (frame["bob"] == "NA").sum()


def test_classes_may_be_told_and_need_not_occur(tmp_path):
    told = Told(classes=("fox", "eel", "cat", "dog"))
    found = fused([in_parts(long_votes(), tmp_path / "votes")], tmp_path / "out", told=told, with_posterior=True)
    assert found.classes == ["fox", "eel", "cat", "dog"]
    assert found.shares["eel"] == 0
    assert written(tmp_path / "out").columns[-4:] == ["fox", "eel", "cat", "dog"]


def test_who_answers_twice_counts_twice_and_many_patterns_are_sampled(tmp_path, monkeypatch):
    monkeypatch.setattr(fusing, "SAMPLED_NUMBERS", 700)
    frame = pl.concat([long_votes(), long_votes()[:8]])  # in one file: as a crowd may
    frame.write_parquet(tmp_path / "votes.parquet")
    found = fused([tmp_path / "votes.parquet"], tmp_path / "out")
    assert found.answers == 2408
    assert "a sample of" in found.learned_from
    table = written(tmp_path / "out")
    assert table["n_answers"][:3].to_list() == [8, 8, 4]
    assert (table["answer"] == written_plainly(tmp_path)).mean() > 0.94  # the sample differs with polars' hash


def written_plainly(tmp_path):
    fused([in_parts(long_votes(), tmp_path / "plain")], tmp_path / "out of plain")
    return written(tmp_path / "out of plain")["answer"]


# ---- once, again, and after a stop --------------------------------------------------------------------------


def test_a_finished_folder_is_left_alone(tmp_path):
    votes = in_parts(long_votes(), tmp_path / "votes")
    first = fused([votes], tmp_path / "out")
    stamps = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}
    again = fused([votes], tmp_path / "out")
    assert again.is_old
    assert again._replace(is_old=False) == first
    assert stamps == {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}


def test_a_run_that_was_stopped_goes_on(tmp_path, monkeypatch):
    votes = in_parts(long_votes(), tmp_path / "votes")
    fused([votes], tmp_path / "whole")
    for where, at, last in ((buckets.Buckets, "spool", 3), (fusing, "_merged", 3), (fusing, "whole_file", 4)):
        with monkeypatch.context() as patch:
            calls, real = [], getattr(where, at)

            def stopping(*args, calls=calls, real=real, last=last, **options):
                calls.append(args)
                if len(calls) == last:
                    raise KeyboardInterrupt
                return real(*args, **options)

            patch.setattr(where, at, stopping)
            with pytest.raises(KeyboardInterrupt):
                fused([votes], tmp_path / at)
        assert not (tmp_path / at).exists()
        kept = {path: path.stat().st_mtime_ns for path in (tmp_path / f"{at}.partial").rglob("part-*.parquet")}
        assert bool(kept) == (at == "whole_file")
        fused([votes], tmp_path / at)
        assert written(tmp_path / at).equals(written(tmp_path / "whole"))
        assert not (tmp_path / f"{at}.partial").exists()


def test_changed_input_and_other_options_are_refused(tmp_path):
    votes = in_parts(long_votes(), tmp_path / "votes")
    fused([votes], tmp_path / "out")
    long_votes()[1::3].reverse().write_parquet(tmp_path / "votes/part-1.parquet")
    with pytest.raises(cs.InvalidPredictions, match=r"part-1\.parquet has changed"):
        fused([votes], tmp_path / "out")
    shutil.rmtree(tmp_path / "out")
    fused([votes], tmp_path / "out")
    run = fusing.LakeRun([votes], str(tmp_path / "out"), Told(), settings={"method": "bcc"})
    with pytest.raises(cs.InvalidPredictions, match="other options, method = None"):
        run.run(lambda data: cs.DawidSkene().fit(data))
    shutil.rmtree(tmp_path / "out")
    run.run(lambda data: cs.DawidSkene().fit(data))
    with pytest.raises(cs.InvalidPredictions, match="other options, method = 'bcc'"):  # an option that is no more given
        fused([votes], tmp_path / "out")


def test_a_folder_of_somebody_else_is_not_touched(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="new or empty"):
        fused([in_parts(long_votes(), tmp_path / "votes")], tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]


# ---- bad input ------------------------------------------------------------------------------------------------


def check_refused(folder, out, *words, **options):
    with pytest.raises(cs.InvalidPredictions) as error:
        fused([folder] if isinstance(folder, str) else folder, out, **options)
    for word in words:
        assert word in str(error.value), error.value
    assert not out.exists()
    assert not out.with_name("out.partial").exists()


def test_a_partition_that_cannot_be_read_is_named_or_skipped(tmp_path):
    votes = in_parts(long_votes(), tmp_path / "votes")
    good = (tmp_path / "votes/part-1.parquet").read_bytes()
    (tmp_path / "votes/part-1.parquet").write_bytes(good[: len(good) // 2])
    check_refused(votes, tmp_path / "out", "part-1.parquet", "cannot be read", "--skip-bad")
    found = fused([votes], tmp_path / "out", skips=True)
    assert len(found.skipped) == 1
    assert "part-1.parquet" in found.skipped[0]
    assert found.answers == 1600


def test_a_partition_with_other_columns_is_named_or_skipped(tmp_path):
    votes = in_parts(long_votes(), tmp_path / "votes")
    long_votes()[:9].with_columns(pl.lit(1).alias("label")).write_parquet(tmp_path / "votes/part-7.parquet")
    long_votes()[:9].drop("worker").write_parquet(tmp_path / "votes/part-8.parquet")
    check_refused(votes, tmp_path / "out", "part-7.parquet", "'label'", "String", "Int32")
    found = fused([votes], tmp_path / "out", skips=True)
    assert len(found.skipped) == 2
    assert found.answers == 2400


@pytest.mark.parametrize("form", [long_votes, wide_votes])
def test_answers_given_in_two_partitions_are_named_or_left_out(form, tmp_path):
    votes = in_parts(form(), tmp_path / "votes")
    form()[:4].write_parquet(tmp_path / "votes/part-again.parquet")
    check_refused(votes, tmp_path / "out", "part-again.parquet", "parquet has item 't0", "ann")
    found = fused([votes], tmp_path / "out", skips=True)
    assert (found.items, found.answers) == (600, 2400)
    assert found.left_out == (4 if form is long_votes else 16)


def test_an_item_that_a_member_lacks_is_named_or_missing(tmp_path):
    frame = long_votes()
    for name in MEMBERS[:3]:
        own = frame.filter(pl.col("worker") == name).drop("worker")
        own[5 if name == "bob" else 0 :].write_parquet(tmp_path / f"{name}.parquet")
    sources = [str(tmp_path / f"{name}.parquet") for name in MEMBERS[:3]]
    check_refused(sources, tmp_path / "out", "'bob'", "t000", "bob.parquet")
    found = fused(sources, tmp_path / "out", skips=True)
    assert (found.items, found.answers) == (600, 1795)


def test_items_without_an_answer_are_named_or_left_out(tmp_path):
    frame = wide_votes()
    blank = pl.DataFrame({"item": ["blank"], **{name: [None] for name in MEMBERS}}, schema=frame.schema)
    votes = in_parts(pl.concat([frame, blank]), tmp_path / "votes")
    check_refused(votes, tmp_path / "out", "nobody answers item 'blank'")
    found = fused([votes], tmp_path / "out", skips=True)
    assert (found.items, found.left_out) == (600, 1)
    assert "all 600 items" in found.learned_from


def listed(rows, members=MEMBERS):
    """Lists of probabilities, with the rows of each member together."""
    n_items = rows.shape[1]
    items = [f"t{i:04d}" for i in range(n_items)]
    return pl.DataFrame(
        {
            "item": items * len(members),
            "judge": [name for name in members for _ in items],
            "probabilities": rows.reshape(-1, 3).tolist(),
        }
    )


@pytest.mark.parametrize("n_parts", [1, 4])
def test_rows_of_one_member_may_stand_together(n_parts, tmp_path):
    _, rows = panel(3000)
    frame = listed(rows)
    for place in range(n_parts):
        (tmp_path / "lists").mkdir(exist_ok=True)
        frame[place * 12_000 // n_parts :][: 12_000 // n_parts].write_parquet(tmp_path / f"lists/part-{place}.parquet")
    found = fused([tmp_path / "lists"], tmp_path / "out", with_posterior=True)
    assert (found.members, found.items, found.answers) == (MEMBERS, 3000, 12_000)
    posterior = cs.DawidSkene().fit(rows).predict_proba(rows)
    np.testing.assert_allclose(written(tmp_path / "out").select("0", "1", "2").to_numpy(), posterior, atol=1e-10)


@pytest.mark.parametrize("n_lost", [1, 2])
@pytest.mark.parametrize("other", [[], ["note"]], ids=["same columns", "other columns"])
def test_a_partition_that_is_lost_while_it_is_looked_at_is_named_or_skipped(n_lost, other, tmp_path, monkeypatch):
    """The first rows tell what the columns mean. The second look finds fewer partitions, or none with these."""

    def two_parts():
        folder = in_parts(wide_votes(), tmp_path / "wide", 2)
        last = pl.read_parquet(f"{folder}/part-1.parquet").with_columns(pl.lit("x").alias(name) for name in other)
        last.write_parquet(f"{folder}/part-1.parquet")
        return folder

    votes = two_parts()
    read = meaning._read

    def read_and_lose(*given, **options):
        found = read(*given, **options)
        for place in range(n_lost):
            (tmp_path / f"wide/part-{place}.parquet").unlink(missing_ok=True)
        return found

    monkeypatch.setattr(meaning, "_read", read_and_lose)
    check_refused(votes, tmp_path / "out", "part-0.parquet cannot be read", "--skip-bad")
    if n_lost == 1:
        found = fused([two_parts()], tmp_path / "out", skips=True)
        assert (len(found.skipped), found.items) == (1, 300)


def test_lists_may_be_of_a_fixed_length(tmp_path):
    frame = listed(panel()[1])
    fused([in_parts(frame, tmp_path / "lists")], tmp_path / "out")
    fixed = frame.with_columns(pl.col("probabilities").list.to_array(3))
    fused([in_parts(fixed, tmp_path / "arrays")], tmp_path / "again")
    assert written(tmp_path / "again").equals(written(tmp_path / "out"))


def test_classes_may_stand_in_another_order_in_each_data_set(tmp_path):
    _, rows = panel()
    for member in range(2):
        frame = pl.DataFrame({"item": range(600), **{c: rows[member, :, k] for k, c in enumerate(CLASSES)}})
        order = CLASSES if member == 0 else CLASSES[::-1]
        in_parts(frame.select("item", *order), tmp_path / MEMBERS[member])
    fused([tmp_path / name for name in MEMBERS[:2]], tmp_path / "out", cs.Average(), with_posterior=True)
    np.testing.assert_allclose(written(tmp_path / "out").select(CLASSES).to_numpy(), rows[:2].mean(axis=0), atol=1e-12)


@pytest.mark.parametrize("row", [3, 2500], ids=["among the first", "later"])
@pytest.mark.parametrize(
    ("wrong", "said"),
    [([1.7, -0.9, 0.2], "0.9|none"), ([0.5, 0.5, 0.5], "sum|none"), ([0.5, 0.5], "2, 3")],
)
def test_numbers_that_are_no_probabilities_are_named_or_skipped(row, wrong, said, tmp_path):
    _, rows = panel(3000)
    (tmp_path / "lists").mkdir()
    for place in range(3):
        frame = listed(rows[:, 1000 * place :][:, :1000]).with_columns(pl.col("item") + f" {place}")
        if place == 1:
            values = frame["probabilities"].to_list()
            values[row] = wrong
            frame = frame.with_columns(probabilities=pl.Series(values))
        frame.write_parquet(tmp_path / f"lists/part-{place}.parquet")
    with pytest.raises(
        cs.InvalidPredictions, match=rf"part-1.parquet.*({said}).*--skip-bad leaves such partitions out"
    ):
        fused([tmp_path / "lists"], tmp_path / "out")
    found = fused([tmp_path / "lists"], tmp_path / "out", skips=True)
    assert (len(found.skipped), found.items, found.answers) == (1, 2000, 8000)


def test_a_row_of_nan_is_a_missing_answer(tmp_path):
    _, rows = panel()
    rows[1, :20] = np.nan
    rows[:, 7] = np.nan
    frame = listed(rows)
    lists = in_parts(frame, tmp_path / "lists")
    check_refused(lists, tmp_path / "out", "nobody answers item 't0007'")
    found = fused([lists], tmp_path / "out", skips=True)
    assert (found.items, found.answers, found.left_out) == (599, 2400 - 19 - 4, 1)


def test_a_file_that_may_not_grow_is_no_bad_partition(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise pl.exceptions.ComputeError("underlying IO error: File too large (os error 27)")

    votes = in_parts(long_votes(), tmp_path / "votes")
    monkeypatch.setattr(pl.LazyFrame, "sink_parquet", fail)
    with pytest.raises(OSError, match="no space is left on the disk to sort"):
        fused([votes], tmp_path / "out", skips=True)


def test_what_is_no_data_set_is_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    check_refused(str(tmp_path / "empty"), tmp_path / "out", "empty", "none")
    no_ids = in_parts(wide_votes().drop("item"), tmp_path / "no ids")
    check_refused(no_ids, tmp_path / "out", "column of items")
    with pytest.raises(FileNotFoundError):
        fused([tmp_path / "nowhere"], tmp_path / "out")
    gaps = long_votes().with_columns(pl.when(pl.col("task") == "t0003").then(None).otherwise("task").alias("task"))
    check_refused(in_parts(gaps, tmp_path / "gaps"), tmp_path / "out", "'task'", "missing")
    _, rows = panel()
    percents = pl.DataFrame({"item": range(600), **{c: 100 * rows[0, :, k] for k, c in enumerate(CLASSES)}})
    check_refused(in_parts(percents, tmp_path / "percents"), tmp_path / "out2", "probabilities")


def test_a_class_called_like_a_column_has_no_posterior(tmp_path):
    frame = long_votes().with_columns(pl.col("label").replace("fox", "confidence"))
    votes = in_parts(frame, tmp_path / "votes")
    check_refused(votes, tmp_path / "out", "'confidence'", with_posterior=True)


def test_the_manifest_says_what_the_parts_were_made_of(tmp_path):
    votes = in_parts(long_votes(), tmp_path / "votes")
    found = fused([votes], tmp_path / "out")
    manifest = json.loads((tmp_path / "out.manifest.json").read_text())
    assert [own["path"] for own in manifest["inputs"]] == [f"{votes}/part-{place}.parquet" for place in range(3)]
    assert manifest["fused"]["items"] == found.items
