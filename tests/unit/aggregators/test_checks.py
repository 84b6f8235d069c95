"""The checks can fail, say what does not hold, and are not counted where they have nothing to check."""

import ast
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import consilience as cs
from consilience.aggregators import checks, registry
from consilience.aggregators.average import AbstractPool
from consilience.aggregators.checks import CHECKS, check_aggregator
from consilience.answering.linear import LinearRule
from consilience.maths.em import smoothed_rates


class Plain(AbstractPool):
    """An average, for others to spoil."""

    def _rule(self, n_members):
        return LinearRule(np.ones(n_members), np.zeros(n_members, dtype=bool))


class FirstMemberOnly(Plain):
    def _rule(self, n_members):
        return LinearRule(np.array([1.0] + [1e-9] * (n_members - 1)), np.zeros(n_members, dtype=bool))


class TwiceAsSure(Plain):
    def predict_proba(self, predictions):
        return 2 * super().predict_proba(predictions)


class Writes(Plain):
    def _fit(self, predictions, known):
        predictions.soft[0].rows[0] = 1 / 3
        return super()._fit(predictions, known)


class CountsItemsOnce(Plain):
    def _partial_fit(self, predictions, known):
        return super()._partial_fit(predictions, known)._replace(statistics=self.statistics_)


class ForgetsLabels(Plain):
    def _known(self, *_):
        return None


class LooksAround(Plain):
    """Answers new items by where they stand among the others."""

    def predict_proba(self, predictions):
        rows = super().predict_proba(predictions)
        return rows if len(rows) == 1 else rows[::-1]


class GoesByPlace(Plain):
    """Gives a batch's statistics to members by where they stand in the batch, not by name."""

    def _partial_fit(self, predictions, known):
        outcome = super()._partial_fit(predictions, known)
        by_place = [member.position for member in predictions.soft]
        batch = outcome.statistics.sums - self.statistics_.sums
        sums = self.statistics_.sums + batch[by_place]
        self.confusion_ = smoothed_rates(sums, 0)
        return outcome._replace(statistics=replace(outcome.statistics, sums=sums))


BROKEN = {
    FirstMemberOnly: "The order of members does not matter.",
    TwiceAsSure: "Posteriors of fitted and of new items are probabilities",
    Writes: "Neither fit nor predict writes to the arrays it is given",
    CountsItemsOnce: "`partial_fit` starts like `fit`, takes any number of batches, and counts their items.",
    GoesByPlace: "A batch may name the members in another order",
    ForgetsLabels: "Known labels are kept",
    LooksAround: "A new item's posterior does not depend on the items that come with it.",
}


@pytest.fixture(scope="module", autouse=True)
def _gone_afterwards():
    yield
    for kind in (Plain, *BROKEN):
        registry._DEFINED.pop(kind.__name__, None)


def test_a_plain_method_passes():
    assert len(check_aggregator(Plain())) == len(CHECKS) - 2


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_promise_is_named(kind):
    with pytest.raises(AssertionError) as failure:
        check_aggregator(kind())
    assert failure.value.__notes__[0].startswith(f"{kind.__name__} must have this property: {BROKEN[kind]}")


@pytest.mark.parametrize(
    ("method", "skipped"),
    [
        (cs.MajorityVote(), {"chunks", "objective_never_falls"}),
        (cs.SoftDawidSkene(max_iter=5), {"objective_never_falls"}),
        (cs.DawidSkene(smoothing=0, max_iter=20, tol=None), set()),
        (cs.DawidSkene(), {"statistics_add_up"}),  # a prior weighs less beside more items
        (cs.BayesianClassifierCombination(), {"statistics_add_up"}),
    ],
    ids=lambda value: ", ".join(sorted(value)) if isinstance(value, set) else repr(value),  # sets have no order
)
def test_checks_that_do_not_apply_are_not_said_to_have_run(method, skipped):
    names = {check.__name__.removeprefix("check_") for check in CHECKS}
    ran = check_aggregator(method)
    assert names - set(ran) == skipped and len(ran) == len(set(ran))


def test_no_check_is_forgotten():
    own = {function for name, function in vars(checks).items() if name.startswith("check_")}
    assert {*CHECKS} == own - {check_aggregator, checks.check_is_aggregator} and len(CHECKS) == len({*CHECKS})


def test_every_property_is_said():
    assert all(check.__doc__ and check.__doc__.strip().endswith(".") for check in CHECKS)


def test_an_aggregator_is_expected():
    for wrong, got in (("x", "got str"), (cs.Average, "got the class Average")):
        with pytest.raises(ValueError, match=f"aggregator must be one of consilience's, such as Consensus.*; {got}"):
            check_aggregator(wrong)


def test_checks_hold_where_python_leaves_asserts_out():
    """`python -O` removes `assert`, and whatever stands inside."""
    script = (
        "import consilience as cs\n"
        "from consilience.aggregators.checks import check_aggregator\n"
        "class Negative(cs.Average.__mro__[1]):\n"
        "    def _rule(self, n_members):\n"
        "        return cs.Average()._rule(n_members)\n"
        "    def predict_proba(self, predictions):\n"
        "        return -super().predict_proba(predictions)\n"
        "check_aggregator(cs.MajorityVote())\n"
        "check_aggregator(Negative())\n"
    )
    done = subprocess.run([sys.executable, "-O", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "AssertionError: a probability is negative" in done.stderr


def test_asserts_do_nothing():
    """What stands in an `assert` is not run under `python -O`, so it may only look."""
    source = Path(cs.__file__).parent
    for path in source.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Assert):
                calls = {ast.unparse(part.func) for part in ast.walk(node) if isinstance(part, ast.Call)}
                assert calls <= {"isinstance"}, f"{path.relative_to(source)}, line {node.lineno}: {calls}"
                assert not any(isinstance(part, ast.NamedExpr) for part in ast.walk(node))
