"""Probabilistic ensembling against the library it uses."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from paper.datasets import Images
from paper.examples import Examples
from paper.laplace import fit_laplace, jacobian_bytes, predict_laplace, why_not
from paper.training import answers, features, predict


def tiny():
    return torch.nn.Sequential(
        torch.nn.Flatten(), torch.nn.Linear(3 * 64, 8), torch.nn.Dropout(0.2), torch.nn.Linear(8, 4)
    )


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=80)
    images = rng.normal(size=(80, 3, 8, 8)) + labels[:, None, None, None]
    return Examples(Images(images.astype(np.float32), labels), (0.5,), (2.0,))


@pytest.mark.filterwarnings("ignore")  # the library's
def test_the_last_layer_alone_gives_the_approximation_of_the_network(data):
    library = pytest.importorskip("laplace")
    torch.manual_seed(0)
    network = tiny().eval()
    ours = fit_laplace(network, data)
    whole = library.Laplace(network, "classification", subset_of_weights="last_layer", hessian_structure="kron")
    pairs = torch.utils.data.TensorDataset(data.batch(torch.arange(80)), data.labels)
    whole.fit(torch.utils.data.DataLoader(pairs, batch_size=80))
    whole.optimize_prior_precision(pred_type="glm", method="marglik")
    generator = torch.Generator().manual_seed(3)
    options = {"pred_type": "glm", "n_samples": 100, "generator": generator}
    theirs = whole.predictive_samples(data.batch(torch.arange(80)), **options).detach().mean(dim=0)
    torch.testing.assert_close(predict_laplace(ours, features(network, data), seed=3), theirs, rtol=1e-4, atol=1e-5)


def test_features_give_the_networks_own_answers(data):
    network = tiny().eval()
    torch.testing.assert_close(answers(network, features(network, data)), predict(network, data))


def test_where_probabilistic_ensembling_does_not_fit():
    assert why_not(10, 128) is None and why_not(100, 640) is None
    assert "977 GiB for the paper's batch of 128" in why_not(1000, 2048)  # the paper says so too
    assert jacobian_bytes(10, 128) == 4 * 10 * 1290
