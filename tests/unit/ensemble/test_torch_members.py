"""Torch members over a loader."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import consilience as cs

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.utils.data import DataLoader, IterableDataset, TensorDataset  # noqa: E402

N_ITEMS, N_FEATURES, N_CLASSES = 23, 4, 3


class Net(nn.Module):
    """A network whose answers depend on its mode, so that a forgotten eval() shows."""

    def __init__(self, seed, n_classes=N_CLASSES):
        super().__init__()
        torch.manual_seed(seed)
        self.layers = nn.Sequential(nn.BatchNorm1d(N_FEATURES), nn.Dropout(0.5), nn.Linear(N_FEATURES, n_classes))

    def forward(self, x):
        return self.layers(x)


@pytest.fixture
def x():
    return torch.randn(N_ITEMS, N_FEATURES, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def loader(x):
    return DataLoader(TensorDataset(x, torch.zeros(N_ITEMS, dtype=torch.long)), batch_size=5)


def by_hand(model, x):
    model.eval()
    with torch.no_grad():
        return torch.softmax(model(x), dim=1).numpy()


def run(models, loader, **options):
    return cs.Predictions.from_models(models, loader, verbose=False, **options)


def test_each_model_over_each_batch(x, loader):
    models = [Net(0), Net(1)]
    predictions = run(models, loader)
    assert predictions.members == ["Net 1", "Net 2"]
    assert [member.rows.dtype for member in predictions.soft] == [np.float32] * 2
    np.testing.assert_allclose(predictions.to_array(), [by_hand(model, x) for model in models], atol=1e-6)
    cs.SoftDawidSkene(max_iter=2).fit(predictions)


@pytest.mark.parametrize(
    "batches",
    [
        lambda x: [x[:9], x[9:]],
        lambda x: [(x[:9], 0), [x[9:], 1, 2]],
        lambda x: [{"x": x[:9], "labels": 0}, {"x": x[9:], "label": 1}],
        lambda x: (part for part in (x[:9].numpy(), x[9:].numpy())),
        lambda x: DataLoader(Stream(x), batch_size=4),
    ],
    ids=["tensors", "tuples and lists", "mappings", "a generator of arrays", "a stream without a length"],
)
def test_batches_of_any_form(batches, x):
    model = Net(0)
    np.testing.assert_allclose(run([model], batches(x)).to_array()[0], by_hand(model, x), atol=1e-6)


class Stream(IterableDataset):
    def __init__(self, x):
        self.x = x

    def __iter__(self):
        return iter(self.x)


def test_the_loader_is_gone_over_once(x):
    n_passes = []

    class Once:
        def __iter__(self):
            n_passes.append(1)
            return iter([x])

    run([Net(0), Net(1), Net(2)], Once())
    assert n_passes == [1]


def test_outputs_of_any_form(x, loader):
    net = Net(0).eval()
    forms = {
        "object with logits": lambda x: SimpleNamespace(logits=net(x)),
        "mapping": lambda x: {"loss": 0, "logits": net(x)},
        "tuple": lambda x: (net(x), None),
        "half": lambda x: net(x).half(),
        "array": lambda x: net(x).numpy(),
        "double": lambda x: net(x).double(),
        "the same memory": Rewriting(net),
    }
    rows = run(forms, loader).to_array()
    np.testing.assert_allclose(rows, np.broadcast_to(by_hand(net, x), rows.shape), atol=1e-3)


class Rewriting:
    """Writes each output over the one before."""

    def __init__(self, net):
        self.net, self.memory = net, torch.empty(5, N_CLASSES)

    def __call__(self, x):
        return self.memory[: len(x)].copy_(self.net(x))


def test_language_models_get_their_batch_by_keyword():
    class Judge(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(10, 2)

        def forward(self, input_ids, attention_mask):
            return SimpleNamespace(logits=(self.embedding(input_ids) * attention_mask[..., None]).sum(dim=1))

    batch = {"input_ids": torch.tensor([[1, 2], [3, 4]]), "attention_mask": torch.tensor([[1, 1], [1, 0]])}
    judge = Judge()
    rows = run({"judge": judge}, [batch | {"labels": torch.tensor([0, 1])}]).to_array()[0]
    table = judge.embedding.weight.detach()
    expected = torch.softmax(torch.stack([table[1] + table[2], table[3]]), dim=1)
    np.testing.assert_allclose(rows, expected, atol=1e-6)


def test_texts_are_a_batch_as_they_are():
    rows = run([lambda texts: torch.tensor([[float(len(text)), 0.0] for text in texts])], [["a", "bbb"]]).to_array()
    np.testing.assert_allclose(rows[0, :, 0], [1 / (1 + np.exp(-1)), 1 / (1 + np.exp(-3))], atol=1e-6)


# ---- models are left as they were -------------------------------------------------------------------------


def flags_of(model):
    return [part.training for part in model.modules()]


@pytest.mark.parametrize("fails", [False, True])
def test_every_training_flag_comes_back(loader, fails):
    frozen = Net(0).train()
    frozen.layers[0].eval()  # a frozen BatchNorm inside a training network
    odd = Net(1).eval()
    odd.layers[1].train()  # dropout left on
    models = [frozen, odd]
    before = [flags_of(model) for model in models]
    seen = []

    def spy(x):
        seen.extend(flags_of(frozen) + flags_of(odd))
        if fails:
            raise RuntimeError("no memory")
        return torch.zeros(len(x), N_CLASSES)

    if fails:
        with pytest.raises(RuntimeError, match="no memory"):
            run([*models, spy], loader)
    else:
        run([*models, spy], loader)
    assert not any(seen) and len(seen) >= 10
    assert [flags_of(model) for model in models] == before
    assert before[0] != before[1]


def test_layers_that_act_on_their_mode_are_told(x):
    class Merging(nn.Linear):
        """An adapter merged into the weights in eval mode, and parted again for training."""

        is_merged = False

        def train(self, mode=True):
            self.is_merged = not mode
            return super().train(mode)

    model = nn.Sequential(Merging(N_FEATURES, N_CLASSES)).train()
    run([model], [x])
    assert model[0].training and not model[0].is_merged


def test_layers_that_refuse_a_mode_are_as_they_were(x):
    class Frozen(nn.BatchNorm1d):
        """In eval mode for ever, from the first time that it is told a mode; it is made in the other."""

        def train(self, _=None):
            return super().train(mode=False)

    model = nn.Sequential(Frozen(N_FEATURES), nn.Linear(N_FEATURES, N_CLASSES))
    run([model], [x])
    assert flags_of(model) == [True, True, True]


def test_weights_statistics_and_gradients_are_untouched(x):
    model = Net(0).train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    run([model], [x])
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert torch.is_grad_enabled() and all(parameter.grad is None for parameter in model.parameters())
    model(x).sum().backward()
    assert model.layers[2].weight.grad is not None


def test_inputs_follow_the_model_to_its_device(x):
    places = []

    class Meta(nn.Module):
        """Its parameters are nowhere; it says where its inputs came."""

        def __init__(self, device):
            super().__init__()
            self.weight = nn.Parameter(torch.empty(1, device=device))

        def forward(self, inputs):
            places.append(inputs.device.type)
            return torch.zeros(N_ITEMS, N_CLASSES)

    models = {"there": Meta("meta"), "here": Meta("cpu"), "function": Meta("cpu").forward}
    run(models, [x], device="meta")
    assert places == ["meta", "cpu", "meta"]
    assert models["there"].weight.device.type == "meta" and models["here"].weight.device.type == "cpu"


# ---- names and activations --------------------------------------------------------------------------------


def test_names(x):
    def vote(x):
        return torch.zeros(len(x), N_CLASSES)

    linear = nn.Linear(N_FEATURES, N_CLASSES)
    assert run([Net(0), linear, Net(1)], [x]).members == ["Net 1", "Linear", "Net 2"]
    assert run(nn.ModuleList([Net(0), linear]), [x]).members == ["Net", "Linear"]
    assert run(nn.ModuleDict({"a": Net(0), "b": linear}), [x]).members == ["a", "b"]
    assert run({"a": vote}, [x], members=["z"], classes=["x", "y", "z"]).classes == ["x", "y", "z"]
    assert run([vote], [x], items=[f"i{n}" for n in range(N_ITEMS)]).items[3] == "i3"
    assert run([vote], [x]).members[0].endswith("vote")


def test_activations(x):
    logits = torch.randn(N_ITEMS, N_CLASSES, generator=torch.Generator().manual_seed(1))
    probabilities = torch.softmax(logits, dim=1)
    np.testing.assert_allclose(run([lambda _: logits.log_softmax(1)], [x]).to_array()[0], probabilities, atol=1e-6)
    np.testing.assert_allclose(run([lambda _: probabilities], [x], activation="none").to_array()[0], probabilities)
    for shape in ((N_ITEMS,), (N_ITEMS, 1)):
        rows = run([lambda _, s=shape: logits[:, 0].reshape(s)], [x], activation="sigmoid").to_array()[0]
        np.testing.assert_allclose(rows[:, 1], torch.sigmoid(logits[:, 0]), atol=1e-6)


# ---- what the user is told --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("models", "options", "message"),
    [
        ([], {}, "models must hold at least one model; got none"),
        ({}, {}, "models must hold at least one model; got none"),
        (nn.Sequential(nn.Linear(4, 3)), {}, "must be a list or a mapping; got one Sequential: put it in a list"),
        ({"a": 3}, {}, "models must be modules or functions; 'a' is int"),
        ([Net(0), Net(1, n_classes=5)], {}, r"of batch 0, 'Net 2' must give \(5, 3\) as 'Net 1' does; got \(5, 5\)"),
        ({"a": nn.Identity(), "b": nn.Flatten(0)}, {}, r"must give \(batch, classes\); 'b' gives the shape \(20,\)"),
        (
            {"a": nn.Identity(), "b": lambda x: x[1:]},
            {},
            r"of batch 0, 'b' must give \(5, 4\) as 'a' does; got \(4, 4\)",
        ),
        ({"a": lambda x: x * torch.nan}, {}, "outputs must be numbers; item 0 of 'a' is NaN"),
        ({"a": lambda _: "cat"}, {}, r"a tensor \(batch, classes\), or an object with logits; 'a' gives str"),
        ({"a": lambda x: x.softmax(1)}, {}, "every row of 'a' sums to 1: use activation='none'"),
        ({"a": lambda x: x.softmax(1).bfloat16()}, {}, "every row of 'a' sums to 1: use activation='none'"),
        ({"a": nn.Identity()}, {"activation": "none"}, "probabilities must be from 0 to 1; item 0 of member 'a' has"),
        ({"a": nn.Identity()}, {"activation": "sigmoid"}, r"must give one logit per item; 'a' gives \(5, 4\)"),
        ({"a": nn.Identity()}, {"activation": "relu"}, "'softmax', 'sigmoid' or 'none'; got 'relu'"),
        ({"a": nn.Identity()}, {"members": ["x", "y"]}, "must name each of the 1 members; got 2 names"),
    ],
    ids=[
        "none",
        "no mapping",
        "one",
        "no model",
        "classes",
        "vector",
        "items",
        "NaN",
        "text",
        "probabilities",
        "half precision",
        "logits",
        "matrix",
        "activation",
        "names",
    ],
)
def test_wrong_models(models, options, message, loader):
    with pytest.raises(ValueError, match=message):
        run(models, loader, **options)


def test_the_item_of_a_later_batch_is_named(x, loader):
    is_bad = x.clone()
    is_bad[17] = torch.nan
    with pytest.raises(cs.InvalidPredictions, match="item 17 of 'Identity' is NaN"):
        run([nn.Identity()], DataLoader(is_bad, batch_size=5))


def test_an_empty_loader():
    with pytest.raises(cs.InvalidPredictions, match="loader must give at least one batch; got none"):
        run([Net(0)], [])


def test_without_torch(x, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r'from_models needs torch, .*: pip install "consilience\[torch\]"'):
        run([lambda x: x], [x])


def test_a_bar_only_on_long_work(x, capsys, monkeypatch):
    cs.Predictions.from_models([Net(0)], [x])
    assert capsys.readouterr().err == ""
    times = iter(range(0, 100, 2))
    monkeypatch.setattr("consilience.system.machine.monotonic", lambda: next(times))
    cs.Predictions.from_models([Net(0)], iter([x, x]))
    assert "running models" in capsys.readouterr().err
    cs.Predictions.from_models([Net(0)], [x], verbose=False)
    assert capsys.readouterr().err == ""
