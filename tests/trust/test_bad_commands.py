"""Wrong files and options on the command line: exit code 2, one sentence, nothing written, inputs as they were."""

import hashlib
import os
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience.cli import main

from trust.sentences import assert_one_sentence

RNG = np.random.default_rng(0)
BLOCK = RNG.dirichlet(np.ones(3), size=(4, 10))
TRUTH = RNG.integers(3, size=10)
TWO_CLASSES = BLOCK[0, :, :2] / BLOCK[0, :, :2].sum(axis=1, keepdims=True)


def spoiled(value):
    array = BLOCK.copy()
    array[1, 2, 0] = value
    return array


ARRAYS = {
    "ok": BLOCK,
    "one": BLOCK[0],
    "truth": TRUTH,
    "short": BLOCK[0][:4],
    "two": TWO_CLASSES,
    "transposed": BLOCK.swapaxes(1, 2),
    "scores": np.random.default_rng(0).uniform(0.1, 2, size=(4, 10, 3)),
    "negative": spoiled(-0.5),
    "half": spoiled(np.inf).astype(np.float16),
    "partly": spoiled(np.nan),
    "unanswered": np.full((3, 4, 3), np.nan),
    "complex": BLOCK + 0j,
    "words": np.array([[["cat", "dog"]]]),
    "dates": np.array(["2020-01-01"], dtype="datetime64[D]"),
    "four": np.zeros((2, 2, 2, 2)),
    "number": np.float64(3),
    "nobody": np.zeros((0, 10, 3)),
    "nothing": np.zeros((4, 0, 3)),
    "no-class": np.zeros((3, 4, 0)),
    "single": np.ones((3, 4, 1)),
    "fractions": TRUTH + 0.5,
    "same": np.zeros(10, dtype=int),
    "far": np.array([0, 10**9]),
    "unsigned": np.array([[2**63, 0]], dtype=np.uint64),
    "below": np.array([[0, 1, -7]]),
    "unknown": np.full(10, -1),
    "outside": TRUTH + 3,
}
TEXTS = {
    "latin.txt": "q0\nq\u00e9\n".encode("latin-1"),
    "empty.csv": b"",
    "blank.csv": b"\n\n\n",
    "header.csv": b"item,member,label\n",
    "ragged.csv": b"item,member,label\n1,a,x,y\n",
    "utf16.csv": "item,member,label\n1,a,x\n".encode("utf-16"),
    "latin.csv": "item,member,label\n1,a,caf\xe9\n".encode("latin-1"),
    "zeros.csv": bytes(64),
    "quote.csv": b'item,member,label\n1,a,"x\n',
    "semicolons.csv": b"item;member;label\n1;a;x\n",
    "tabs.csv": b"item\tmember\tlabel\n1\ta\tx\n",
    "commas.tsv": b"item,member,label\n1,a,x\n",
    "twice.csv": b"item,cat,cat\n1,0.5,0.5\n",
    "items-twice.csv": b"item,cat,dog\n1,0.5,0.5\n1,0.4,0.6\n",
    "no-name.csv": b"item,cat,dog\n,0.5,0.5\n1,0.4,0.6\n",
    "items.csv": b"item\n1\n2\n",
    "no-item.csv": b"member,label\na,x\nb,y\n",
    "index.csv": b",member,label\n0,a,x\n1,b,y\n",
    "infinite.csv": b"item,cat,dog\n1,inf,0\n2,0.5,0.5\n",
    "minus.csv": b"item,cat,dog\n1,-0.5,1.5\n2,0.5,0.5\n",
    "off.csv": b"item,cat,dog\n1,0.5,0.4\n2,0.5,0.5\n",
    "part.csv": b"item,cat,dog\n1,0.5,\n2,0.5,0.5\n",
    "words.csv": b"item,cat,dog\n1,a,0.5\n2,0.5,0.5\n",
    "score.csv": b"item,score\n1,0.93\n2,0.11\n",
    "one-class.csv": b"item,member,label\n1,a,x\n2,a,x\n",
    "long.csv": b"item,member,label\n1,a," + b"x" * 200_000 + b"\n",
    "gold.csv": b"item,label\n0,elephant\n",
    "other.csv": b"item,label\n99,0\n",
    "torn.csv": b"item,label\n0,1\n0,2\n",
    "three.csv": b"item,a,b\n0,1,2\n",
    "crowd.csv": b"task,worker,label\nt1,a,x\nt2,a,y\nt1,b,x\nt2,b,x\n",
    "text.txt": b"hello",
    "empty.npy": b"",
    "empty.npz": b"",
    "empty.parquet": b"",
    "empty.safetensors": b"",
    "noise.npy": RNG.bytes(400),
    "noise.npz": RNG.bytes(400),
    "noise.parquet": RNG.bytes(400),
    "noise.safetensors": RNG.bytes(400),
    "picture.csv": b"\x89PNG\r\n\x1a\n" + RNG.bytes(100),
}


def prepare(folder):
    for name, array in ARRAYS.items():
        np.save(folder / f"{name}.npy", array)
    for name, content in TEXTS.items():
        (folder / name).write_bytes(content)
    np.savez(folder / "pair.npz", a=BLOCK, b=BLOCK)
    np.savez(folder / "unequal.npz", a=BLOCK[0], b=BLOCK[0][:3])
    np.savez(folder / "objects.npz", a=np.array([{}], dtype=object))
    np.save(folder / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    cs.Average().fit(BLOCK).save(folder / "model.npz")
    for name, size in (("ok.npy", 300), ("pair.npz", 900), ("model.npz", 600)):
        (folder / f"cut-{name}").write_bytes((folder / name).read_bytes()[:size])
    (folder / "flipped.npz").write_bytes((folder / "pair.npz").read_bytes().replace(b"NUMPY", b"NUMPZ"))
    (folder / "renamed.npy").write_bytes((folder / "pair.npz").read_bytes())
    with zipfile.ZipFile(folder / "texts.npz", "w") as archive:
        archive.writestr("readme.txt", "hello")
    (folder / "folder.npy").mkdir()
    (folder / "folder.csv").mkdir()
    pd.DataFrame({"item": [1, 2], "label": [["1", "2"], ["2"]]}).to_parquet(folder / "lists.parquet")
    pd.DataFrame({"item": [1, 2]}).iloc[:0].to_parquet(folder / "rows.parquet")
    (folder / "cut.parquet").write_bytes((folder / "lists.parquet").read_bytes()[:-20])
    save_file = pytest.importorskip("safetensors.numpy").save_file
    save_file({"a": BLOCK[0].copy()}, folder / "one.safetensors")
    (folder / "cut.safetensors").write_bytes((folder / "one.safetensors").read_bytes()[:-9])


# the words of the command; the file or option its sentence names, what was expected, what came
COMMANDS = [
    ("aggregate absent.npy", "absent.npy", "file", "No such file"),
    ("aggregate folder.npy", "folder.npy", "expected a file", "is a directory"),
    ("aggregate folder.csv", "folder.csv", "expected a file", "is a directory"),
    ("aggregate text.txt", "file of predictions", "must end in one of .npy", "got 'text.txt'"),
    ("aggregate empty.npy", "empty.npy", "a NumPy array", "got 0"),
    ("aggregate empty.npz", "empty.npz", "a NumPy archive", "not a zip file"),
    ("aggregate empty.csv", "empty.csv", "a header and rows", "it is empty"),
    ("aggregate empty.parquet", "empty.parquet", "a Parquet table", "at least 12 bytes"),
    ("aggregate empty.safetensors", "empty.safetensors", "a safetensors file", "header too small"),
    ("aggregate noise.npy", "noise.npy", "a NumPy array", "magic string"),
    ("aggregate noise.npz", "noise.npz", "a NumPy archive", "not a zip file"),
    ("aggregate noise.parquet", "noise.parquet", "a Parquet table", "must end with PAR1"),
    ("aggregate noise.safetensors", "noise.safetensors", "a safetensors file", "header"),
    ("aggregate cut-ok.npy", "cut-ok.npy", "a NumPy array", "mmap length"),
    ("aggregate cut-pair.npz", "cut-pair.npz", "a NumPy archive", "not a zip file"),
    ("aggregate cut.parquet", "cut.parquet", "a Parquet table", "must end with PAR1"),
    ("aggregate cut.safetensors", "cut.safetensors", "a safetensors file", "header"),
    ("aggregate flipped.npz", "flipped.npz", "a NumPy archive", "Bad CRC-32"),
    ("aggregate renamed.npy", "renamed.npy", "a NumPy array", "magic string"),
    ("aggregate texts.npz", "texts.npz", "(members, items, classes)", "it holds nothing"),
    ("aggregate objects.npz", "objects.npz", "of numbers", "Python objects, which are never loaded"),
    ("aggregate objects.npy", "objects.npy", "of numbers", "Python objects, which are never loaded"),
    ("aggregate pair.npz", "pair.npz", "one array (members, items, classes)", "['a', 'b']"),
    ("aggregate pair.npz:c", "pair.npz", "must hold 'c'", "['a', 'b']"),
    ("aggregate unequal.npz", "unequal.npz", "one shape (items, classes)", "(3, 3)"),
    ("aggregate crowd.csv:x", "a table", "has no entries to pick one of", "got 'crowd.csv:x'"),
    ("aggregate one.npy short.npy", "files", "the same items", "short.npy has 4"),
    ("aggregate one.npy two.npy", "files", "the same classes", "two.npy has 2"),
    ("aggregate one.npy one.npy", "members", "distinct names", "got 'one'"),
    ("aggregate transposed.npy", "transposed.npy", "sum to 1 over classes", "The second axis does"),
    ("aggregate scores.npy", "scores.npy", "from 0 to 1", "Add :logits"),
    ("aggregate negative.npy", "negative.npy", "from 0 to 1", "has -0.5"),
    ("aggregate half.npy", "half.npy", "from 0 to 1", "has inf"),
    ("aggregate partly.npy", "partly.npy", "NaN for every class", "NaN for 1 of 3"),
    ("aggregate unanswered.npy", "unanswered.npy", "at least one member", "item 0 has none"),
    ("aggregate complex.npy", "complex.npy", "(members, items, classes)", "complex128"),
    ("aggregate words.npy", "words.npy", "(members, items, classes)", "(1, 1, 2) <U3"),
    ("aggregate dates.npy", "dates.npy", "(members, items, classes)", "datetime64"),
    ("aggregate four.npy", "four.npy", "(members, items, classes)", "(2, 2, 2, 2)"),
    ("aggregate number.npy", "number.npy", "(members, items, classes)", "() float64"),
    ("aggregate nobody.npy", "nobody.npy", "at least 1 member", "got 0"),
    ("aggregate nothing.npy", "nothing.npy", "at least 1 item", "got 0"),
    ("aggregate no-class.npy", "no-class.npy", "at least 2 classes", "got 0"),
    ("aggregate single.npy", "single.npy", "at least 2 classes", "got 1"),
    ("aggregate fractions.npy", "fractions.npy", "(items, classes)", "(10,) float64"),
    ("aggregate same.npy", "same.npy", "at least 2 classes", "got 1"),
    ("aggregate far.npy", "far.npy", "positions of classes", "got 1000000000"),
    ("aggregate unsigned.npy", "unsigned.npy", "integers up to", "got 9223372036854775808"),
    ("aggregate below.npy", "below.npy", "or -1 where missing", "has -7"),
    ("aggregate ok.npy --logits", "ok.npy", "must not be probabilities", "sums to 1"),
    ("aggregate blank.csv", "blank.csv", "a header and rows", "it is empty"),
    ("aggregate header.csv", "header.csv", "at least one row", "it has none"),
    ("aggregate ragged.csv", "ragged.csv", "3 values in each row", "row 2 has 4"),
    ("aggregate utf16.csv", "utf16.csv", "in UTF-8", "it is UTF-16: save it as UTF-8"),
    ("aggregate latin.csv", "latin.csv", "in UTF-8", "0xe9"),
    ("aggregate picture.csv", "picture.csv", "in UTF-8", "0x89"),
    ("aggregate ok.npy --items latin.txt", "latin.txt", "a list of names in UTF-8", "line 2 has the byte 0xe9"),
    ("aggregate zeros.csv", "zeros.csv", "in UTF-8", "bytes of 0"),
    ("aggregate quote.csv", "quote.csv", "a table", "a quote is opened, and not closed"),
    ("aggregate semicolons.csv", "semicolons.csv", "separated by ','", "has ';'"),
    ("aggregate tabs.csv", "tabs.csv", "separated by ','", "'item\\tmember\\tlabel'"),
    ("aggregate commas.tsv", "commas.tsv", "separated by '\\t'", "has ','"),
    ("aggregate twice.csv", "twice.csv", "different names", "got 'cat' twice"),
    ("aggregate items-twice.csv", "items-twice.csv", "a column must say whose", "more than once"),
    ("aggregate no-name.csv", "no-name.csv", "must name every item", "row 2 is empty"),
    ("aggregate items.csv", "items.csv", "columns of answers beside", "it has none"),
    ("aggregate no-item.csv", "no-item.csv", "needs a column of items", "members in 'member'"),
    ("aggregate index.csv", "index.csv", "needs a column of items", "members in 'member'"),
    ("aggregate infinite.csv", "infinite.csv", "from 0 to 1", "has inf"),
    ("aggregate minus.csv", "minus.csv", "from 0 to 1", "item '1' of member 'minus' has -0.5"),
    ("aggregate off.csv", "off.csv", "sum to 1", "item '1' of member 'off' sums to 0.9"),
    ("aggregate part.csv", "part.csv", "NaN for every class", "item '1'"),
    ("aggregate words.csv", "words.csv", "names or whole numbers", "holds 0.5"),
    ("aggregate score.csv", "score.csv", "names or whole numbers", "'score' holds 0.93"),
    ("aggregate one-class.csv", "one-class.csv", "at least 2 classes", "got 1"),
    ("aggregate long.csv", "long.csv", "at least 2 classes", "got 1"),
    ("aggregate lists.parquet", "lists.parquet", "must hold names", "row 0 holds"),
    ("aggregate rows.parquet", "rows.parquet", "at least one row", "it has none"),
    ("aggregate crowd.csv --item-column q", "crowd.csv", "the column 'q'", "'task'"),
    ("aggregate model.npz", "model.npz", "must hold predictions", "it is a saved model"),
    ("aggregate ok.npy --model pair.npz", "pair.npz", "consilience saved", "is not"),
    ("aggregate ok.npy --model cut-model.npz", "cut-model.npz", "consilience saved", "is not"),
    ("aggregate ok.npy --model absent.npz", "absent.npz", "file", "No such file"),
    ("aggregate ok.npy --model model.npz -m bcc", "--model", "do not go with it", "--method"),
    ("aggregate one.npy --model model.npz", "member", "must be one of", "got 'one'"),
    ("aggregate ok.npy --class-shares .5,.4", "--class-shares", "one number for each of 3", "(2,)"),
    ("report ok.npy --class-shares 0=.5,9=.5", "--class-shares", "of the classes [0, 1, 2]", "got '9'"),
    ("aggregate pair.npz:a -m magic", "--method", "one of consensus", "got 'magic'"),
    ("aggregate ok.npy --option nope=3", "--option", "NAME=VALUE", "got 'nope=3'"),
    ("aggregate ok.npy --option max_iter", "--option", "NAME=VALUE", "got 'max_iter'"),
    ("aggregate ok.npy -m dawid-skene --option max_iter=0", "max_iter", "at least 1", "got 0"),
    ("aggregate ok.npy -m dawid-skene --option max_iter=many", "max_iter", "an integer", "got 'many'"),
    ('aggregate ok.npy --option forgetting={"a":1}', "--option", "by iteration", "got '{\"a\":1}'"),
    ("aggregate ok.npy -o out.xlsx", "output", "one of .npz .npy .csv", "got 'out.xlsx'"),
    ("aggregate ok.npy -o no/out.npz", "output", "directory must exist", "no does not"),
    ("aggregate ok.npy -o folder.npy", "output", "must be a file", "is a directory"),
    ("aggregate ok.npy -o ok.npy", "ok.npy", "a file of its own", "is also"),
    ("aggregate ok.npy --items gold.csv -o gold.csv", "gold.csv", "a file of its own", "is also"),
    ("suggest ok.npy --items gold.csv -o gold.csv", "gold.csv", "a file of its own", "is also"),
    ("aggregate ok.npy --option weights=pair.npz --save pair.npz", "pair.npz", "a file of its own", "is also"),
    ("aggregate ok.npy -o x.npz --save x.npz", "x.npz", "a file of its own", "another output"),
    ("aggregate ok.npy --save model.txt", "output", "one of .npz", "got 'model.txt'"),
    ("aggregate ok.npy --report page.pdf", "output", "one of .html", "got 'page.pdf'"),
    ("aggregate ok.npy --labels short.npy", "short.npy", "one array of labels", "['short (4, 3)']"),
    ("aggregate ok.npy --labels outside.npy", "labels", "[0, 1, 2]", "has 3"),
    ("aggregate ok.npy --labels fractions.npy", "labels", "[0, 1, 2]", ".5"),
    ("aggregate ok.npy --labels gold.csv -o out.npz", "labels", "[0, 1, 2]", "'elephant'"),
    ("aggregate ok.npy --labels other.csv", "item", "one of the 10 items", "got '99'"),
    ("aggregate ok.npy --labels torn.csv", "torn.csv", "an item one label", "1 and 2"),
    ("aggregate ok.npy --labels three.csv", "three.csv", "a column of labels", "['item', 'a', 'b']"),
    ("aggregate ok.npy --labels pair.npz", "pair.npz", "one array of labels", "'a (4, 10, 3)'"),
    ("aggregate ok.npy --known outside.npy", "labels", "[0, 1, 2]", "has 3"),
    ("aggregate truth.npy --labels truth.npy", "truth.npy", "a file of their own", "also read as predictions"),
    ("aggregate crowd.csv --labels truth.npy", "truth.npy", "a column of items", "are matched by name"),
    ("compare absent.npy", "absent.npy", "file", "No such file"),
    ("compare ok.npy --labels same.csv", "same.csv", "file", "No such file"),
    ("compare off.csv", "off.csv", "sum to 1", "sums to 0.9"),
    ("evaluate ok.npy --labels truth.npy", "ok.npy", "(items, classes)", "4 members"),
    ("evaluate one.npy --labels unknown.npy", "unknown.npy", "at least one item", "it knows none"),
    ("evaluate one.npy --labels outside.npy", "labels", "[0, 1, 2]", "has 3"),
    ("evaluate short.npy --labels truth.npy", "labels", "each of the 4 items", "got 10"),
    ("evaluate scores.npy --labels truth.npy", "scores.npy", "from 0 to 1", "has "),
    ("evaluate cut-pair.npz --labels truth.npy", "cut-pair.npz", "a NumPy archive", "not a zip file"),
    ("evaluate one.npy --labels truth.npy --fail-under luck=1", "--fail-under", "accuracy, nll", "'luck=1'"),
    ("evaluate one.npy --labels truth.npy --fail-under nll=1", "nll", "--fail-over nll=1", "got --fail-under"),
    ("aggregate ok.npy --append -o out.csv", "--append", "one table", "got ok.npy"),
    ("aggregate ok.npy --to prodigy -o ok.jsonl --append", "--append", "--to", "got both"),
    ("aggregate ok.npy --to excel -o out.json", "--to", "label-studio, argilla", "got 'excel'"),
    ("aggregate ok.npy --to argilla -o out.csv", "output", "one of .json", "got 'out.csv'"),
    ("agreement absent.npy", "absent.npy", "file", "No such file"),
    ("explain ok.npy --item 99", "--item", "one of 0, 1", "got '99'"),
    ("explain ok.npy --item 3 --against 9", "--against", "one of 0, 1, 2", "got '9'"),
    ("explain model.npz --item 3", "model.npz", "after --model", "it is a saved model"),
    ("explain two.npy --item 3 --model model.npz", "member", "must be one of", "got 'two'"),
    ("report ok.npy -o page.pdf", "output", "one of .html", "got 'page.pdf'"),
    ("report ok.npy -o no/page.html", "output", "directory must exist", "does not"),
    ("report partly.npy -o page.html", "partly.npy", "NaN for every class", "NaN for 1 of 3"),
    ("export ok.npy -o x.onnx", "ok.npy", "consilience saved", "is not"),
    ("export pair.npz -o x.onnx", "pair.npz", "consilience saved", "is not"),
    ("export model.npz -o x.txt", "output", "one of .onnx", "got 'x.txt'"),
    ("export folder.csv -o x.onnx", "folder.csv", "expected a file", "is a directory"),
    ("demo --report page.pdf", "output", "one of .html", "got 'page.pdf'"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("inputs")
    prepare(place)
    return place


def contents(folder):
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        for path in folder.rglob("*")
    }


def command(words, monkeypatch, capsys):
    """Exit code, standard output, and the sentence of standard error."""
    monkeypatch.setattr(sys, "argv", ["consilience", *words])
    with pytest.raises(SystemExit) as leaving:
        main()
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    said = [line for line in printed.err.splitlines() if line.startswith("consilience: ")]
    assert len(said) == 1, f"expected one sentence; got {printed.err}"
    assert printed.err.rstrip().endswith(said[0]), "something follows the sentence"
    return leaving.value.code, printed.out, said[0].removeprefix("consilience: ")


@pytest.mark.parametrize(("words", "argument", "expected", "got"), COMMANDS, ids=[words for words, *_ in COMMANDS])
def test_one_sentence(folder, monkeypatch, capsys, words, argument, expected, got):
    monkeypatch.chdir(folder)
    before = contents(folder)
    code, out, sentence = command(words.split(" "), monkeypatch, capsys)
    assert code == 2 and out == ""
    assert_one_sentence(sentence, argument, expected, got)
    assert contents(folder) == before


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions do not bind an administrator")
@pytest.mark.parametrize(
    ("words", "argument", "expected", "got"),
    [
        ("aggregate secret.npy", "secret.npy", "Permission", "denied"),
        ("aggregate ok.npy -o locked/out.npz", "output", "must be writable", "locked is not"),
        ("export secret.npy -o x.onnx", "secret.npy", "Permission", "denied"),
    ],
)
def test_permissions(tmp_path, monkeypatch, capsys, words, argument, expected, got):
    monkeypatch.chdir(tmp_path)
    np.save("ok.npy", BLOCK)
    np.save("secret.npy", BLOCK)
    Path("secret.npy").chmod(0)
    Path("locked").mkdir(mode=0o500)
    code, _, sentence = command(words.split(), monkeypatch, capsys)
    assert code == 2
    assert_one_sentence(sentence, argument, expected, got)
