"""The network's answers at the edges, and the files its weights come from."""

import shutil
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest

import consilience as cs
from consilience.aggregators.consensus.learned import network
from consilience.aggregators.consensus.learned.experts import (
    CLASS_TRAITS,
    FEATURE_NAMES,
    MEMBER_TRAITS,
    PANEL_TRAITS,
    Opinions,
    Traits,
)
from consilience.system import untrusted

from simulate import softmax_members

SHIPPED = files("consilience.aggregators.consensus.learned") / network.NETWORK_FILE


def opinions_of(rng, n_items=8, n_classes=5):
    rows = [rng.dirichlet(np.full(n_classes, 0.5), size=n_items) for _ in range(5)]
    logs = [np.log(some + 1e-12) for some in rows[2:4]]
    evidence = rng.normal(size=(n_items, len(network.shipped().first) * n_classes))
    return Opinions(*rows[:2], *logs, rows[4], evidence, *np.full((2, n_items, 1), 3.0))


def traits_of(rng, n_classes=5, n_members=3):
    return Traits(
        rng.normal(size=(n_classes, len(CLASS_TRAITS))),
        network.shipped().mean[-len(PANEL_TRAITS) :],
        rng.normal(size=(n_members, len(MEMBER_TRAITS))),
    )


@pytest.mark.parametrize("n_classes", [2, 5, 24, 25, 60])
def test_answers_are_probabilities(rng, n_classes):
    prepared = network.shipped().prepared(traits_of(rng, n_classes), 1.0)
    found = network.answer(prepared, opinions_of(rng, n_classes=n_classes))
    assert (found > 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)


@pytest.mark.parametrize("n_classes", [5, 60])
def test_without_trust_the_answer_is_the_average(rng, n_classes):
    opinions = opinions_of(rng, n_classes=n_classes)
    found = network.answer(network.shipped().prepared(traits_of(rng, n_classes), 0.0), opinions)
    np.testing.assert_allclose(found, opinions.average, atol=1e-12)


def test_classes_have_no_place(rng):
    opinions, traits, order = opinions_of(rng), traits_of(rng), rng.permutation(5)
    turned = Opinions(*(part[:, order] if part.shape[1] == 5 else part for part in opinions))
    n_networks = len(network.shipped().first)
    turned = turned._replace(evidence=opinions.evidence.reshape(8, n_networks, 5)[:, :, order].reshape(8, -1))
    shipped = network.shipped()
    found = network.answer(shipped.prepared(traits, 1.0), opinions)
    other = network.answer(shipped.prepared(traits._replace(classes=traits.classes[order]), 1.0), turned)
    np.testing.assert_allclose(found[:, order], other, atol=1e-12)


def test_features_are_clamped(rng):
    """Beyond what training has seen nothing was learned: further out, the answer stays."""
    shipped, opinions = network.shipped(), opinions_of(rng)
    traits = traits_of(rng)
    far, further = (
        network.answer(shipped.prepared(traits._replace(panel=traits.panel + shift), 1.0), opinions)
        for shift in (1e6, 1e9)
    )
    np.testing.assert_array_equal(far, further)
    strange, stranger = (shipped.powers(traits._replace(members=traits.members + shift)) for shift in (1e6, 1e9))
    np.testing.assert_array_equal(strange, stranger)


def test_powers_follow_the_members_and_fall_with_the_answers_to_an_item(rng):
    shipped, traits, order = network.shipped(), traits_of(rng), [2, 0, 1]
    found = shipped.powers(traits)
    assert found.shape == (len(shipped.first), 3, 2)
    np.testing.assert_allclose(shipped.powers(traits._replace(members=traits.members[order])), found[:, order])
    place, panel = PANEL_TRAITS.index("log answers an item"), traits.panel.copy()
    panel[place] = shipped.highest[place] + 1  # beyond the range, the network sees no difference
    further = panel.copy()
    further[place] += np.log(4) / 2  # four times as many answers
    powers = [shipped.powers(traits._replace(panel=some)) for some in (panel, further)]
    np.testing.assert_allclose(powers[1], powers[0] / 2)


# ---- the files --------------------------------------------------------------------------------------------


def fitted_with(path):
    array, _ = softmax_members(np.random.default_rng(0), [3, 2, 1], 20, 3)
    return cs.Consensus(weights=path).fit(array)


def written(path, **changes):
    """A file of the shipped weights with some arrays changed, and a checksum that fits."""
    arrays = network.contents(network.shipped())
    arrays.pop("checksum")
    arrays = {name: value for name, value in (arrays | changes).items() if value is not None}
    np.savez(path, **arrays, checksum=np.array(untrusted._checksum(arrays)))
    return path


def test_a_copy_of_the_shipped_weights_answers_alike(tmp_path):
    path = tmp_path / "mine.npz"
    shutil.copy(SHIPPED, path)
    for given_ in (path, str(path)):
        np.testing.assert_array_equal(fitted_with(given_).posterior_, fitted_with(None).posterior_)


def test_weights_come_back_as_they_were_written(tmp_path):
    shipped = network.shipped()
    np.savez(tmp_path / "again.npz", **network.contents(shipped))
    again = network.read(tmp_path / "again.npz")
    for name in shipped.__dataclass_fields__:
        np.testing.assert_allclose(getattr(again, name), getattr(shipped, name), rtol=1e-6)


def test_other_weights_give_other_answers(tmp_path):
    shipped = network.shipped()
    mixture = np.zeros_like(shipped.mixture)
    np.savez(tmp_path / "mine.npz", **network.contents(replace(shipped, mixture=mixture + 0.3)))
    assert np.abs(fitted_with(tmp_path / "mine.npz").posterior_ - fitted_with(None).posterior_).max() > 1e-3


def truncated(path):
    path.write_bytes(path.read_bytes()[:-100])


def flipped(path):
    arrays = dict(np.load(path))
    arrays["first"] = arrays["first"] + np.float32(1e-3)
    np.savez(path, **arrays)


DAMAGES = {
    "missing": (lambda path: path.unlink(), "are missing"),
    "empty": (lambda path: path.write_bytes(b""), "are damaged"),
    "text": (lambda path: path.write_text("no weights"), "are damaged"),
    "truncated": (truncated, "are damaged"),
    "changed": (flipped, "are damaged"),
    "of the next version": (
        lambda path: written(path, version=np.array(network.NETWORK_VERSION + 1)),
        f"are of version {network.NETWORK_VERSION + 1}",
    ),
    "without a version": (lambda path: written(path, version=None), "are of version unknown"),
    "of versions": (lambda path: written(path, version=np.array([1, 2])), "are of version"),
    "with other features": (
        lambda path: written(path, features=np.array("\n".join([*FEATURE_NAMES[:-1], "panel: mood"]))),
        "other features",
    ),
    "without an array": (lambda path: written(path, mixture=None), "are damaged"),
    "of too few hidden units": (lambda path: written(path, last=np.zeros((2, 31, 2), np.float32)), "are damaged"),
    "with a NaN": (lambda path: written(path, mean=np.full(len(FEATURE_NAMES), np.nan, np.float32)), "are damaged"),
    "of the version before": (lambda path: written(path, version=np.array(1)), "are of version 1"),
    "without a member's scale": (
        lambda path: written(path, member_deviation=np.zeros(len(MEMBER_TRAITS), np.float32)),
        "are damaged",
    ),
    "of other members": (lambda path: written(path, member_mean=np.zeros(2, np.float32)), "are damaged"),
    "without scale": (lambda path: written(path, deviation=np.zeros(len(FEATURE_NAMES), np.float32)), "are damaged"),
    "of another archive": (lambda path: np.savez(path, a=np.zeros(3)), "are of version unknown"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_weights_that_are_refused(tmp_path, name):
    damage, message = DAMAGES[name]
    path = tmp_path / "mine.npz"
    shutil.copy(SHIPPED, path)
    damage(path)
    with pytest.raises(cs.InvalidPredictions, match=message) as caught:
        fitted_with(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_a_folder_is_no_file_of_weights(tmp_path):
    with pytest.raises(cs.InvalidPredictions, match="is a directory; expected a file"):
        fitted_with(tmp_path)
