"""Running torch members over a loader: their outputs, batch by batch, as one matrix (items, classes) per member."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from operator import length_hint
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from consilience.data.predictions import Predictions
from consilience.data.validation import are_probabilities, softmax
from consilience.system.errors import InvalidPredictions, extra
from consilience.system.machine import show_progress

Activation: TypeAlias = Literal["softmax", "sigmoid", "none"]
TorchModel: TypeAlias = Callable[..., Any]  # a torch.nn.Module, or any function of a batch
Outputs: TypeAlias = "npt.NDArray[np.float32]"

LABELS = ("labels", "label")  # entries of a batch that are the truth, which no member may see


def from_models(
    models: Any,
    loader: Iterable[Any],
    *,
    activation: Activation = "softmax",
    device: Any = None,
    members: Iterable[Any] | None = None,
    items: Iterable[Any] | None = None,
    classes: Iterable[Any] | None = None,
    verbose: bool = True,
) -> Predictions:
    """Predictions of torch models over a loader, which is read once; NumPy arrays in single precision.

    Parameters
    ----------
    models
        A list, or a mapping from the members' names, of modules or of functions of a batch. Modules run in eval
        mode and without gradients, and are left as they were; unnamed, they are called by their class.
    loader
        A DataLoader, or anything that gives batches: tensors; tuples or lists, whose first part goes to the models;
        or mappings, which are passed by keyword without their `labels`. Items are numbered as they come, so a
        loader that shuffles gives them in an order that only it knows.
    activation
        "softmax" where models give logits or log-probabilities, "sigmoid" where they give one logit per item (the
        second class's), "none" where they give probabilities.
    device
        Where the inputs of functions go; those of a module follow it to where its parameters are.
    members, items, classes
        Names along the axes.
    verbose
        Show a progress bar when it takes more than a second.
    """
    torch = extra("torch", name="torch", use="from_models")
    if activation not in ("softmax", "sigmoid", "none"):
        raise ValueError(f"activation must be 'softmax', 'sigmoid' or 'none'; got {activation!r}")
    named = _named(models, torch)
    if not isinstance(loader, Iterable) and not hasattr(loader, "__getitem__"):
        raise InvalidPredictions(f"loader must give batches one after the other; got {loader!r}")
    batches: dict[str, list[Outputs]] = {name: [] for name in named}
    n_batches = length_hint(loader) or None  # a loader of a stream has a length that it refuses to tell
    with (
        torch.inference_mode(),
        _evaluating(named.values(), torch),
        show_progress("running models", n_batches, is_shown=verbose, after=1.0) as progress,
    ):
        for batch in loader:
            for name, output in _answers(named, batch, device, torch):
                batches[name].append(_column_pair(output, name) if activation == "sigmoid" else output)
            _check_batch(batches)
            progress.finish()
    if not next(iter(batches.values())):
        raise InvalidPredictions("loader must give at least one batch; got none")
    outputs = {name: _activated(batches.pop(name), activation, place, name) for place, name in enumerate(named)}
    return Predictions(outputs, members=members, items=items, classes=classes)


Predictions.from_models = staticmethod(from_models)  # added here, since `data` may not import from this room


# ---- models -----------------------------------------------------------------------------------------------


def _named(models: Any, torch: Any) -> dict[str, TorchModel]:
    """The models by name: their keys, or their class, with a number where several are of the same class."""
    if isinstance(models, Mapping | torch.nn.ModuleDict):
        named = dict(models.items())
    elif callable(models) and not isinstance(models, torch.nn.ModuleList):
        # A Sequential would otherwise be gone through layer by layer.
        raise InvalidPredictions(f"models must be a list or a mapping; got one {_kind(models)}: put it in a list")
    elif not isinstance(models, Iterable):
        raise InvalidPredictions(f"models must be a list or a mapping; got {models!r}")
    else:
        listed, named = list(models), {}
        kinds = [_kind(model) for model in listed]
        for place, kind in enumerate(kinds):
            is_alone = kinds.count(kind) == 1
            named[kind if is_alone else f"{kind} {kinds[: place + 1].count(kind)}"] = listed[place]
    if not named:
        raise InvalidPredictions("models must hold at least one model; got none")
    for name, model in named.items():
        if not callable(model):
            raise InvalidPredictions(f"models must be modules or functions; {name!r} is {type(model).__name__}")
    return named


def _kind(model: Any) -> str:
    """A function's name, or the class of anything else."""
    return str(getattr(model, "__qualname__", type(model).__name__))


@contextmanager
def _evaluating(models: Iterable[TorchModel], torch: Any) -> Iterator[None]:
    """All modules in eval mode; afterwards each submodule is as it was, a frozen one inside a training one too."""
    modules = [model for model in models if isinstance(model, torch.nn.Module)]
    was_training = {part: part.training for module in modules for part in module.modules()}
    try:
        for module in modules:
            module.eval()
        yield
    finally:
        for part, flag in was_training.items():
            if part.training != flag:
                part.train(flag)  # by its method first, since some layers act on it: adapters merge and part
        for part, flag in was_training.items():
            part.training = flag


# ---- batches ----------------------------------------------------------------------------------------------


def _answers(members: dict[str, TorchModel], batch: Any, device: Any, torch: Any) -> Iterator[tuple[str, Outputs]]:
    """What each member makes of a batch, which is moved once to each device."""
    inputs = _inputs(batch)
    moved: dict[Any, Any] = {None: inputs}
    for name, model in members.items():
        place = _device_of(model, device, torch)
        if place not in moved:
            moved[place] = _moved(inputs, place, torch)
        given = moved[place]
        output = model(**given) if isinstance(given, Mapping) else model(given)
        yield name, _matrix(output, name, torch)


def _inputs(batch: Any) -> Any:
    """What a batch holds for the models: a mapping without its labels, the first part of a tuple, or all of it."""
    if isinstance(batch, Mapping):
        return {key: value for key, value in batch.items() if key not in LABELS}
    if isinstance(batch, tuple | list) and not batch:
        raise InvalidPredictions("loader must give batches of at least one part; got an empty one")
    is_parts = isinstance(batch, tuple | list) and not isinstance(batch[0], str)  # texts are a batch as they are
    return batch[0] if is_parts else batch


def _device_of(model: TorchModel, device: Any, torch: Any) -> Any:
    """Where a module's first parameter or buffer is; the device given for what has neither."""
    if isinstance(model, torch.nn.Module):
        for tensors in (model.parameters(), model.buffers()):
            for tensor in tensors:
                return tensor.device
    return None if device is None else torch.device(device)


def _moved(inputs: Any, device: Any, torch: Any) -> Any:
    """The inputs with all their tensors on a device."""
    if isinstance(inputs, Mapping):
        return {key: _moved(value, device, torch) for key, value in inputs.items()}
    if isinstance(inputs, tuple | list):
        return [_moved(value, device, torch) for value in inputs]
    return torch.as_tensor(inputs, device=device) if isinstance(inputs, np.ndarray | torch.Tensor) else inputs


def _matrix(output: Any, name: str, torch: Any) -> Outputs:
    """A model's output on the host in single precision: a tensor, or the logits of what language models give."""
    if isinstance(output, Mapping):
        output = output.get("logits", output)
    output = getattr(output, "logits", output)
    if isinstance(output, tuple | list) and output:
        output = output[0]
    try:
        # A copy, since a model may write its next output to the same memory.
        matrix = torch.as_tensor(output).detach().to("cpu", torch.float32, copy=True).numpy()
    except (TypeError, ValueError, RuntimeError) as error:
        raise InvalidPredictions(
            f"each model must give a tensor (batch, classes), or an object with logits; {name!r} gives "
            f"{type(output).__name__}"
        ) from error
    return np.asarray(matrix)


def _column_pair(output: Outputs, name: str) -> Outputs:
    """One logit per item as two classes, of which the first has the logit 0: its softmax is the sigmoid."""
    if output.ndim not in (1, 2) or output.shape[1:] not in ((), (1,)):
        raise InvalidPredictions(
            f"with activation='sigmoid' each model must give one logit per item; {name!r} gives {output.shape}"
        )
    column = output.reshape(-1, 1)
    return np.concatenate([np.zeros_like(column), column], axis=1)


def _check_batch(batches: dict[str, list[Outputs]]) -> None:
    """Raise where the last batch's outputs are no matrices, differ in shape, or are not numbers."""
    first_name, first = next(iter(batches.items()))
    for name, outputs in batches.items():
        last = outputs[-1]
        if last.ndim != 2:
            raise InvalidPredictions(f"each model must give (batch, classes); {name!r} gives the shape {last.shape}")
        expected = (len(first[-1]), first[0].shape[1])  # the items of this batch, the classes of the first
        if last.shape != expected:
            raise InvalidPredictions(
                f"models must agree on items and classes; of batch {len(first) - 1}, {name!r} must give {expected} "
                f"as {first_name!r} does; got {last.shape}"
            )
        if np.isnan(last).any():
            item = sum(map(len, outputs[:-1])) + int(np.argmax(np.isnan(last).any(axis=1)))
            raise InvalidPredictions(f"outputs must be numbers; item {item} of {name!r} is NaN")


def _activated(batches: list[Outputs], activation: Activation, place: int, name: str) -> Outputs:
    """A member's batches as one matrix of probabilities."""
    outputs = np.concatenate(batches)
    batches.clear()  # so that the outputs are held only once while the probabilities are computed
    if activation == "none":
        return outputs
    # The outputs are in single precision now, but a model may have computed them in half.
    if activation == "softmax" and len(outputs) and are_probabilities(outputs, is_half=True).all():
        raise InvalidPredictions(
            f"models must not give probabilities already; every row of {name!r} sums to 1: use activation='none'"
        )
    return np.asarray(softmax(outputs, place))
