"""All aggregators by name. Loading, the command line, comparison and checks read them here.

Every subclass of `AbstractAggregator` enters by being defined, yours too. So a new method is one file.
"""

# ruff: noqa: SLF001 - names without an underscore are offered to users

from __future__ import annotations

import inspect
import os
from typing import TYPE_CHECKING

from consilience.answering import saving
from consilience.answering.declaration import reason_to_refuse
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from consilience.aggregators.base import AbstractAggregator

_DEFINED: dict[str, type[AbstractAggregator]] = {}


def register(kind: type[AbstractAggregator]) -> None:
    """Remember a class; one that is defined again, as in a notebook, takes the place of the first.

    A class of your own cannot take the place of one of ours: files that it did not write would become its own.
    """
    before = _DEFINED.get(kind.__name__)
    if before is not None and _is_ours(before) and not _is_ours(kind):
        raise TypeError(f"a method of consilience is called {kind.__name__}; give yours another name")
    _DEFINED[kind.__name__] = kind


def _is_ours(kind: type[AbstractAggregator]) -> bool:
    return kind.__module__.startswith("consilience.")


def classes() -> dict[str, type[AbstractAggregator]]:
    """The aggregators that can be fitted, by the names of their classes."""
    return {name: kind for name, kind in _DEFINED.items() if not inspect.isabstract(kind)}


def commands() -> dict[str, type[AbstractAggregator]]:
    """Those that declare a name for the command line, by that name, from the plainest to the recommended."""
    own = ((vars(kind).get("command"), kind) for kind in classes().values())
    return {command: kind for command, kind in own if command is not None}


def load(path: str | os.PathLike[str]) -> AbstractAggregator:
    """The aggregator that `save` wrote to a file.

    Examples
    --------
    >>> import tempfile
    >>> import consilience as cs
    >>> p, labels = cs.datasets.tumour_rules()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cs.DawidSkene().fit(p).save(f"{folder}/rules.npz")
    ...     model = cs.load(f"{folder}/rules.npz")
    >>> model.predict(p.take([0])) == cs.DawidSkene().fit(p).predict(p.take([0]))
    array([ True])
    """
    name, parameters, learned = saving.read(path)
    known = classes()
    if name not in known:
        raise InvalidPredictions(
            f"{os.fspath(path)} holds {name!r}; expected one of {list(known)}. "
            "A class of your own must be defined before its file is loaded"
        )
    parameters = known[name]._renamed(parameters)
    reason = reason_to_refuse(name, known[name]._declared(), learned)
    if unknown := parameters.keys() - set(known[name]._get_param_names()):
        reason = f"{name} has no parameter {min(unknown)!r}"
    if reason is None:
        try:
            return known[name]._from_saved(parameters, learned)
        except (TypeError, ValueError) as error:  # parameters that it does not have, or that make no sense
            reason = str(error)
    raise InvalidPredictions(f"{os.fspath(path)} is not a file that this version of consilience saves: {reason}")
