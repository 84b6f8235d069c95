"""Methods by the names of the command line, with their options."""

import json

import numpy as np
import pytest

import consilience as cs
from consilience.cli.inputs import DEFAULT, make_method, method_names


def test_options_reach_the_method(run, arrays):
    options = ("--option", "max_iter=3", "--option", 'averaging={"0": 0.5}')
    code, out, _ = run("aggregate", *arrays, "-m", "soft-dawid-skene", *options, "--json")
    assert code == 0 and json.loads(out)["iterations"] == 3
    run("aggregate", *arrays, "--option", "chunk_size=7", "-o", "out.npy")
    np.testing.assert_array_equal(
        np.load("out.npy"), cs.Consensus(chunk_size=7).fit([np.load(name) for name in arrays]).posterior_
    )
    code, _, err = run("aggregate", *arrays, "--option", "nope=3")
    assert code == 2 and "--option must be NAME=VALUE with one of chunk_size, class_shares, forgetting" in " ".join(
        err.split()
    )


def test_the_recommended_method_is_the_default_and_comes_first():
    assert method_names()[0] == DEFAULT
    assert isinstance(make_method(DEFAULT), cs.Consensus)
    assert all(make_method(name).command == name for name in method_names())


def test_values_are_json_schedules_or_plain_text():
    method = make_method("soft-dawid-skene", ["max_iter=7", "tol=null", 'averaging={"0": 0.5, "10": 0.1}'])
    assert (method.max_iter, method.tol, method.averaging) == (7, None, {0: 0.5, 10: 0.1})
    assert make_method("average", ["kind=geometric"]).kind == "geometric"


def test_verbose_is_for_methods_that_know_it():
    assert make_method("soft-dawid-skene", verbose=True).verbose is True
    assert "verbose" not in make_method("average", verbose=True).get_params()


@pytest.mark.parametrize(
    ("name", "option", "message"),
    [
        ("magic", "max_iter=3", "--method must be one of consensus, .*; got 'magic'"),
        ("dawid-skene", "max_iter", "--option must be NAME=VALUE with one of .*max_iter.*; got 'max_iter'"),
        ("dawid-skene", "nope=3", "--option must be NAME=VALUE with one of .*; got 'nope=3'"),
        ("soft-dawid-skene", 'averaging={"a": 1}', "--option must have a schedule like"),
    ],
)
def test_what_is_unknown_is_named(name, option, message):
    with pytest.raises(ValueError, match=message):
        make_method(name, [option])
