"""A method is one file: the registry, comparison, command line, files and checks find it by what it declares."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import consilience as cs
from consilience.aggregators import registry
from consilience.aggregators.average import AbstractPool
from consilience.answering.declaration import STATISTICS
from consilience.answering.linear import LinearRule
from consilience.cli.inputs import make_method

ROWS = np.random.default_rng(0).dirichlet(np.ones(3), size=(4, 50))


@pytest.fixture
def own():
    """A method of one's own, which is gone after the test."""

    class TrimmedAverage(AbstractPool):
        """The average without a member that nobody likes."""

        command = "trimmed-average"
        learned = {"favourite_": "m", "statistics_": STATISTICS, "class_prior_": "k", "confusion_": "mkk"}  # noqa: RUF012

        def __init__(self, *, left_out=0, verbose=False):
            self.left_out = left_out
            self.verbose = verbose

        def _rule(self, n_members):
            weights = np.ones(n_members)
            if n_members > 1:
                weights[self.left_out] = 1e-9
            return LinearRule(weights, np.zeros(n_members, dtype=bool))

        def _fit(self, predictions, known):
            self.favourite_ = np.ones(predictions.n_members)
            return super()._fit(predictions, known)

    yield TrimmedAverage
    del registry._DEFINED["TrimmedAverage"]


def test_ours_are_there_in_the_order_of_tables():
    assert list(registry.commands()) == [
        "average",
        "majority-vote",
        "dawid-skene",
        "bcc",
        "soft-dawid-skene",
        "consensus",
    ]
    names = [kind.__name__ for kind in registry.commands().values()]
    assert [name for name in registry.classes() if name in names] == names
    assert not any(name.startswith("Abstract") for name in registry.classes())


def test_one_class_is_all_it_takes(own, tmp_path):
    fitted = own(left_out=2).fit(ROWS)
    assert "TrimmedAverage" in cs.compare(ROWS)["method"]
    assert make_method("trimmed-average", ["left_out=3"]).left_out == 3
    fitted.save(tmp_path / "own.npz")
    loaded = cs.load(tmp_path / "own.npz")
    assert type(loaded) is own
    assert loaded.left_out == 2
    assert_array_equal(loaded.predict_proba(ROWS), fitted.predict_proba(ROWS))
    assert_array_equal(loaded.favourite_, np.ones(4))
    np.testing.assert_allclose(fitted.posterior_, cs.Average(weights=[1, 1, 1e-9, 1]).fit(ROWS).posterior_, rtol=1e-12)


def test_a_file_of_a_class_that_is_not_defined(own, tmp_path, monkeypatch):
    own().fit(ROWS).save(tmp_path / "own.npz")
    monkeypatch.delitem(registry._DEFINED, "TrimmedAverage")
    with pytest.raises(cs.InvalidPredictions, match=r"holds 'TrimmedAverage'; expected one of .* must be defined"):
        cs.load(tmp_path / "own.npz")


def test_what_is_not_declared_is_not_saved(own, tmp_path):
    fitted = own().fit(ROWS)
    fitted.surprise_ = 1
    with pytest.raises(TypeError, match=r"^TrimmedAverage must declare all .*; its `learned` lacks 'surprise_'$"):
        fitted.save(tmp_path / "own.npz")
    assert list(tmp_path.iterdir()) == []


def test_a_file_with_another_shape_is_refused(own, tmp_path, monkeypatch):
    own().fit(ROWS).save(tmp_path / "own.npz")
    monkeypatch.setattr(own, "learned", own.learned | {"favourite_": "mk"})
    with pytest.raises(cs.InvalidPredictions, match=r"'favourite_' has the shape \(4,\), which its members and"):
        cs.load(tmp_path / "own.npz")


def test_a_subclass_does_not_take_its_parents_place(own):
    class Another(own):
        pass

    try:
        assert registry.commands()["trimmed-average"] is own
        assert registry.classes()["Another"] is Another
    finally:
        del registry._DEFINED["Another"]


def test_a_class_that_is_defined_again_takes_the_place_of_the_first(own):
    kind = type("TrimmedAverage", (own,), {"command": "trimmed-average"})
    assert registry.commands()["trimmed-average"] is kind


def test_nobody_takes_the_place_of_a_method_of_ours():
    with pytest.raises(TypeError, match="a method of consilience is called MajorityVote; give yours another name"):

        class MajorityVote(AbstractPool):
            """Not ours."""

    assert registry.classes()["MajorityVote"] is cs.MajorityVote
