"""Probabilistic ensembling (PE): a Laplace approximation of each member, their predictions averaged.

The paper gives the library, laplace-torch, and no options; so these are the library's defaults: the last layer's
weights, a Kronecker-factored Hessian, the linearized predictive. They fit what the paper says of memory: Jacobians of
1,000 outputs by the 2,049,000 weights of ResNet-50's last layer for a batch of 128 take 977 GiB. The prior precision is
the marginal likelihood's, and the predictive is sampled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data import BatchSampler, DataLoader, SequentialSampler

from consilience.experiments.training import best_device
from consilience.extras import extra

if TYPE_CHECKING:
    from torch import Tensor, nn

    from consilience.experiments.examples import Examples

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


def fit_laplace(network: nn.Module, examples: Examples) -> Any:
    """The Laplace approximation of a trained network."""
    library = extra("laplace", name="experiments", use="PE")
    network = network.to(memory_format=torch.contiguous_format)  # the library flattens weights in place
    approximation = library.Laplace(network, "classification", subset_of_weights="last_layer", hessian_structure="kron")
    places = BatchSampler(SequentialSampler(range(len(examples))), BATCH_SIZE, drop_last=False)
    approximation.fit(DataLoader(examples, sampler=places, batch_size=None))  # whole batches
    approximation.optimize_prior_precision(pred_type="glm", method="marglik")
    return approximation


def predict_laplace(approximation: Any, examples: Examples, *, seed: int) -> Tensor:
    """Probabilities (items, classes): the mean of samples of the predictive."""
    generator = torch.Generator(best_device()).manual_seed(seed)
    n_classes, n_weights = approximation.n_outputs, approximation.n_params
    at_once = max(1, min(BATCH_SIZE, MOST_BYTES // (4 * n_classes * n_weights)))
    parts = [
        approximation(
            images.to(best_device()), pred_type="glm", link_approx="mc", n_samples=N_SAMPLES, generator=generator
        )
        for images, _ in examples.batches(at_once)
    ]
    return torch.cat([part.detach().cpu() for part in parts])
