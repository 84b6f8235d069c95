"""The page for users of crowd-kit: its examples are true, and both columns of its table run."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import numpy as np
import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "from-crowd-kit.md"
ROW = re.compile(r"^\| `(.+)` \| `(.+)` \|$", re.MULTILINE)


def run_examples():
    """The names that the page's examples leave behind, once all of them were true."""
    pytest.importorskip("pandas")
    test = doctest.DocTestParser().get_doctest(PAGE.read_text(encoding="utf-8"), {}, PAGE.name, str(PAGE), 0)
    result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, clear_globs=False)
    assert result.attempted > 10 and result.failed == 0
    return test.globs


def values_of(statements, names):
    """What each statement gives: the value it binds, or that it is."""
    values = []
    for statement in statements:
        target, is_binding, expression = statement.partition(" = ")
        if not is_binding or not target.isidentifier():
            target, expression = "_", statement
        names[target] = eval(expression, names)  # noqa: S307 - the project's own page
        values.append(names[target])
    return values


def test_our_column():
    rows = ROW.findall(PAGE.read_text(encoding="utf-8"))
    assert len(rows) == 11
    assert all(value is not None for value in values_of([ours for _, ours in rows], run_examples()))


@pytest.mark.filterwarnings("ignore:.*:DeprecationWarning", "ignore:.*inplace:Warning")  # crowd-kit's pandas
def test_both_columns_mean_the_same():
    crowdkit = pytest.importorskip("crowdkit.aggregation")
    names = run_examples()
    rows = ROW.findall(PAGE.read_text(encoding="utf-8"))
    ours = dict(zip([their for their, _ in rows], values_of([our for _, our in rows], dict(names)), strict=True))
    names |= {"DawidSkene": crowdkit.DawidSkene, "MajorityVote": crowdkit.MajorityVote}
    theirs = dict(zip(ours, values_of(ours, names), strict=True))
    for call in ("MajorityVote().fit_predict_proba(frame)", "MajorityVote().fit_predict_proba(frame, skills)"):
        np.testing.assert_allclose(theirs[call].loc[ours[call].index, ours[call].columns], ours[call], atol=1e-12)
    for call in ("ck.labels_", "DawidSkene().fit_predict(frame)"):
        assert theirs[call].to_dict() == ours[call].to_dict()
    call = "MajorityVote().fit(frame).skills_"
    assert theirs[call].to_dict() == pytest.approx(dict(ours[call].itertuples(index=False)))
    assert set(theirs["ck.errors_"].index) <= set(ours["ck.errors_"].index)
    assert sorted(theirs["ck.priors_"].index) == list(ours["ck.priors_"].index)
