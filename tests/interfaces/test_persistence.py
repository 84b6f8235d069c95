"""A saved aggregator comes back whole, and only one that is known does."""

import json

import numpy as np
import pytest

import consilience as cs

from simulate import softmax_members

ARRAY = softmax_members(np.random.default_rng(0), [3, 2, 1], n_items=40, n_classes=3)[0]


@pytest.fixture
def saved(tmp_path):
    fitted = cs.SoftDawidSkene(averaging={0: 0.1, 3: 0.01}, max_iter=5).fit(
        cs.Predictions(ARRAY, members=["a", 2, 1.5], items=[f"i{n}" for n in range(40)])
    )
    fitted.save(tmp_path / "model.consilience")
    return fitted, tmp_path / "model.consilience"


def test_everything_comes_back(saved):
    fitted, path = saved
    loaded = cs.load(path)
    assert type(loaded) is cs.SoftDawidSkene
    assert loaded.get_params() == fitted.get_params()
    for name in ("posterior_", "concentration_", "confusion_", "class_prior_", "history_", "weight_", "items_"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(fitted, name))
    assert loaded.members_ == ["a", 2, 1.5]
    np.testing.assert_array_equal(loaded.fit(ARRAY).posterior_, fitted.fit(ARRAY).posterior_)


def test_the_posterior_can_be_left_out(saved, tmp_path):
    fitted, path = saved
    fitted.save(tmp_path / "small", posterior=False)
    loaded = cs.load(tmp_path / "small")
    assert not hasattr(loaded, "posterior_") and not hasattr(loaded, "items_")
    assert (tmp_path / "small").stat().st_size < path.stat().st_size
    np.testing.assert_array_equal(loaded.predict_proba(ARRAY), fitted.predict_proba(ARRAY))


def test_a_failed_save_leaves_the_old_file(saved):
    fitted, path = saved
    before = path.read_bytes()
    fitted.items_ = [object()]
    with pytest.raises(cs.InvalidPredictions, match="must be text or numbers to be saved; got"):
        fitted.save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_an_aggregator_that_is_none_is_not_loaded(tmp_path):
    header = {
        "format": "consilience aggregator",
        "version": 1,
        "aggregator": "os.system",
        "parameters": {},
        "learned": {},
    }
    with (tmp_path / "f").open("wb") as file:
        np.savez(file, header=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8))
    with pytest.raises(cs.InvalidPredictions, match=r"holds 'os.system'; expected one of"):
        cs.load(tmp_path / "f")


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (
            1,
            r"the weights that come with this version are not .* of the fit \(.* was 1\), .* would change: fit again",
        ),
        (None, "it lacks 'network_checksum_', which an earlier version did not keep; fit it again"),
    ],
)
def test_a_consensus_of_other_weights_is_refused(tmp_path, network, message):
    """It would load and answer otherwise: the file holds what its network reads, not the network."""
    path = tmp_path / "f.npz"
    cs.Consensus().fit(ARRAY).save(path)
    with np.load(path) as archive:
        contents = dict(archive)
    header = json.loads(contents["header"].tobytes())
    del header["learned"]["network_checksum_"]
    header["learned"] |= {} if network is None else {"network_checksum_": network}
    contents["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(path, **contents)
    with pytest.raises(cs.InvalidPredictions, match=f"this version of consilience saves: {message}"):
        cs.load(path)
