"""The torch module: gradients, precisions, and torch's own ways of keeping it."""

import copy

import numpy as np
import pytest

import consilience as cs
from exports import N_CLASSES, N_MEMBERS, awkward_items, fitted


def test_gradients_are_finite_at_the_edges(rng):
    torch = pytest.importorskip("torch")
    for method in (cs.SoftDawidSkene(), cs.Average(kind="geometric")):
        new = torch.tensor(awkward_items(rng, np.float32), requires_grad=True)
        fitted(method, rng).to_torch()(new).square().sum().backward()
        assert torch.isfinite(new.grad).all()
        assert (new.grad[new.isnan()] == 0).all()


def test_other_precisions(rng):
    torch = pytest.importorskip("torch")
    aggregator = fitted(cs.SoftDawidSkene(averaging=0.05), rng)
    new = torch.tensor(awkward_items(rng, np.float32))
    module = aggregator.to_torch()
    expected = module(new)
    for narrow in (torch.float16, torch.bfloat16):
        given = copy.deepcopy(module).to(narrow)(new.to(narrow))
        assert given.dtype == narrow
        torch.testing.assert_close(given.float(), expected, atol=0.02, rtol=0)
        with torch.autocast("cpu", dtype=narrow):
            torch.testing.assert_close(module(new), expected, atol=0, rtol=0)


def test_compiled_exported_and_saved(rng, tmp_path):
    torch = pytest.importorskip("torch")
    aggregator = fitted(cs.SoftDawidSkene(), rng)
    module = aggregator.to_torch()
    new = torch.tensor(awkward_items(rng, np.float32))
    expected = module(new)
    assert torch.equal(torch.compile(module, backend="eager", fullgraph=True)(new).nan_to_num(), expected.nan_to_num())
    batch = torch.export.Dim("batch")
    program = torch.export.export(module, (new[:, :7].contiguous(),), dynamic_shapes=({1: batch},))
    torch.testing.assert_close(program.module()(new), expected)
    torch.save(module, tmp_path / "module.pt")
    torch.testing.assert_close(torch.load(tmp_path / "module.pt", weights_only=False)(new), expected)
    other = fitted(cs.SoftDawidSkene(averaging=0.05), np.random.default_rng(1)).to_torch()
    assert not torch.allclose(other(new), expected)
    other.load_state_dict(module.state_dict())
    torch.testing.assert_close(other(new), expected)


def test_nothing_of_the_module_is_trained(rng):
    torch = pytest.importorskip("torch")
    module = fitted(cs.SoftDawidSkene(), rng).to_torch()
    assert list(module.parameters()) == []
    assert (module.members, module.classes) == ([0, 1, 2, 3], [0, 1, 2, 3, 4])
    assert module(torch.empty(4, 0, 5)).shape == (0, 5)
    with pytest.raises(ValueError, match=r"must be \(4 members, batch, 5 classes\); got \(3, 2, 5\)"):
        module(torch.rand(3, 2, 5))
    with pytest.raises(TypeError, match="predictions must be a tensor; got a ndarray"):
        module(np.full((4, 2, 5), 0.2))


@pytest.mark.parametrize("logits", [False, True])
def test_what_comes_in_is_read_as_it_is_said_to_be(rng, logits):
    """By hand: an average of probabilities, or of the softmax of logits; who gives labels counts by the largest."""
    torch = pytest.importorskip("torch")
    given = torch.tensor(rng.normal(size=(N_MEMBERS, 7, N_CLASSES)))
    given = given if logits else torch.softmax(given, dim=2)
    rows = torch.softmax(given, dim=2) if logits else given
    module = fitted(cs.Average(), rng).to_torch(logits=logits, dtype=torch.float64)
    torch.testing.assert_close(module(given), rows.mean(dim=0))
    votes = torch.nn.functional.one_hot(given.argmax(dim=2), N_CLASSES).double().mean(dim=0)
    torch.testing.assert_close(
        fitted(cs.MajorityVote(), rng).to_torch(logits=logits, dtype=torch.float64)(given), votes
    )


def test_integers_come_back_as_probabilities(rng):
    torch = pytest.importorskip("torch")
    one_hot = torch.nn.functional.one_hot(torch.tensor([[0], [0], [1], [2]]), N_CLASSES)
    posterior = fitted(cs.MajorityVote(), rng).to_torch()(one_hot)
    torch.testing.assert_close(posterior, torch.tensor([[0.5, 0.25, 0.25, 0, 0]]))
