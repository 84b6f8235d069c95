"""Probabilistic ensembling (PE): a Laplace approximation of each member, their predictions averaged.

The paper gives the library, laplace-torch, and no options; so these are the library's defaults: the last layer's
weights, a Kronecker-factored Hessian, the linearized predictive. They fit what the paper says of memory: Jacobians of
1,000 outputs by the 2,049,000 weights of ResNet-50's last layer for a batch of 128 take 977 GiB. The prior precision is
the marginal likelihood's, and the predictive is sampled.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from consilience.system.errors import extra
from paper.training import device_of, features, last_layer

if TYPE_CHECKING:
    from paper.examples import Examples

N_SAMPLES = 100
BATCH_SIZE, PAPER_BATCH_SIZE = 500, 128
MOST_BYTES = 2**30
"""What the Jacobians of a batch may take; batches are smaller where they would take more."""


def jacobian_bytes(n_classes: int, n_features: int) -> int:
    """What the Jacobian of one image takes: every output by every weight of the last layer, in single precision."""
    return 4 * n_classes * n_classes * (n_features + 1)


def why_not(n_classes: int, n_features: int) -> str | None:
    """A sentence where not even one image's Jacobian fits; None where PE can be had."""
    one = jacobian_bytes(n_classes, n_features)
    if one <= MOST_BYTES:
        return None
    return (
        f"Jacobians of {n_classes:,} outputs by {n_classes * (n_features + 1):,} weights take {one / 2**30:.1f} GiB "
        f"for an image and {PAPER_BATCH_SIZE * one / 2**30:.0f} GiB for the paper's batch of {PAPER_BATCH_SIZE}"
    )


@dataclass(frozen=True)
class Approximation:
    """A network, and the Laplace approximation of its last layer on what the others make of images."""

    network: nn.Module
    of_last_layer: Any


def fit_laplace(network: nn.Module, examples: Examples) -> Approximation:
    """The Laplace approximation of a trained network.

    Only the last layer is approximated, so images pass the others once, without gradients; the library is given the
    last layer alone.
    """
    library = extra("laplace", name="paper", use="PE")
    layer = nn.Sequential(nn.Identity(), last_layer(network))
    approximation = library.Laplace(layer, "classification", subset_of_weights="last_layer", hessian_structure="kron")
    approximation.fit(DataLoader(TensorDataset(features(network, examples), examples.labels), batch_size=BATCH_SIZE))
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", message="By default `link_approx`"
        )  # it does not enter the marginal likelihood
        approximation.optimize_prior_precision(pred_type="glm", method="marglik")
    return Approximation(network, approximation)


def predict_laplace(approximation: Approximation, features: Tensor, *, seed: int) -> Tensor:
    """Probabilities (items, classes): the mean of samples of the predictive, given what enters the last layer.

    The samples are asked for, since the library's own mean of them would draw from torch's global generator.
    """
    where, layer = device_of(approximation.network), approximation.of_last_layer
    generator = torch.Generator(where).manual_seed(seed)
    at_once = max(1, min(BATCH_SIZE, MOST_BYTES // (4 * layer.n_outputs * layer.n_params)))
    parts = [
        layer.predictive_samples(part.to(where), pred_type="glm", n_samples=N_SAMPLES, generator=generator)
        for part in features.split(at_once)
    ]
    return torch.cat([part.detach().mean(dim=0).cpu() for part in parts])
