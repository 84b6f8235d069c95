"""`--class-shares`: what it is read from, what it changes, and how it fails."""

from pathlib import Path

import numpy as np
import pytest

import consilience as cs
from consilience.cli.shares import shares_of


@pytest.mark.parametrize("text", ["cat=.2,dog=.8", "dog=0.8, cat=0.2", ".2,.8"])
def test_shares_by_name_or_in_order(text):
    predictions = cs.Predictions([[[0.4, 0.6]]], classes=["cat", "dog"])
    np.testing.assert_allclose(shares_of(text, predictions), [0.2, 0.8])
    assert shares_of(None, predictions) is None


def test_classes_without_names_and_names_with_signs():
    assert shares_of("1=.8,0=.2", cs.Predictions([[[0.4, 0.6]]])).tolist() == [0.2, 0.8]
    assert shares_of("a=b=.2,c=.8", cs.Predictions([[[0.4, 0.6]]], classes=["a=b", "c"])).tolist() == [0.2, 0.8]


def test_the_answer_is_that_of_python(run, arrays):
    code, _, _ = run("aggregate", *arrays, "--class-shares", "0=.6,1=.3,2=.1", "-o", "out.npy", "--save", "model.npz")
    fitted = cs.Consensus(class_shares=[0.6, 0.3, 0.1]).fit({name[:-4]: np.load(name) for name in arrays})
    assert code == 0
    np.testing.assert_allclose(np.load("out.npy"), fitted.posterior_, atol=1e-12)
    run("aggregate", *arrays, "--model", "model.npz", "-o", "again.npy")
    np.testing.assert_array_equal(np.load("again.npy"), np.load("out.npy"))


def test_the_report_uses_them_too(run, arrays):
    code, _, _ = run("report", *arrays, "--class-shares", ".6,.3,.1", "-o", "with.html")
    run("report", *arrays, "-o", "without.html")
    assert code == 0 and Path("with.html").read_bytes() != Path("without.html").read_bytes()


WRONG = {
    "0=.5,1=.3": "--class-shares must have a share for every class; got none for 2",
    "0=.5,1=.5,cat=0": "--class-shares must be of the classes [0, 1, 2]; got 'cat'",
    "0=.5,1=.5,0=0": "--class-shares must name each class once",
    "0=.5,1=.3,2=.1": "--class-shares must sum to 1; they sum to 0.9",
    "0=1.5,1=-.5,2=0": "--class-shares must be at least 0; got -0.5",
    ".5,.5": "--class-shares must be one number for each of 3 classes; got the shape (2,)",
    "0=many": "--class-shares must be like cat=.2,dog=.8",
    "": "--class-shares must be like cat=.2,dog=.8",
}


@pytest.mark.parametrize("command", ["aggregate", "report"])
@pytest.mark.parametrize("text", WRONG)
def test_wrong_shares(run, arrays, command, text):
    code, _, err = run(command, *arrays, "--class-shares", text)
    assert code == 2 and WRONG[text] in " ".join(err.split())


def test_only_consensus_takes_them_and_only_in_a_fit(run, arrays):
    code, _, err = run("aggregate", *arrays, "-m", "dawid-skene", "--class-shares", ".6,.3,.1")
    assert code == 2 and "--class-shares go with --method consensus; got 'dawid-skene'" in " ".join(err.split())
    run("aggregate", *arrays, "--save", "model.npz")
    for command in ("aggregate", "report"):
        code, _, err = run(command, *arrays, "--model", "model.npz", "--class-shares", ".6,.3,.1")
        assert code == 2 and "do not go with it" in " ".join(err.split())
