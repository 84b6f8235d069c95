"""The aggregators by the names that the command line gives them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from consilience.aggregators.registry import commands

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consilience.aggregators.base import AbstractAggregator

DEFAULT = "consensus"


def method_names() -> list[str]:
    """The names of all methods, the recommended one first."""
    return list(reversed(commands()))


def make_method(name: str, options: Sequence[str] = (), *, verbose: bool = False) -> AbstractAggregator:
    """Make the aggregator of a name, with options such as `max_iter=50`. Values are JSON or plain text."""
    known_methods = commands()
    if name not in known_methods:
        raise ValueError(f"--method must be one of {', '.join(method_names())}; got {name!r}")
    method = known_methods[name]()
    known = method.get_params()
    for option in options:
        key, equals, value = option.partition("=")
        if not equals or key not in known:
            raise ValueError(f"--option must be NAME=VALUE with one of {', '.join(known)}; got {option!r}")
        method.set_params(**{key: _parsed(value)})
    if verbose and "verbose" in known:
        method.set_params(verbose=True)
    return method


def _parsed(value: str) -> Any:
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return value
    if not isinstance(parsed, dict):
        return parsed
    # The keys of a schedule such as {"0": 0.001} are iterations.
    if not all(key.isdecimal() for key in parsed):
        raise ValueError(f'--option must have a schedule like {{"0": 0.001}}, by iteration; got {value!r}')
    return {int(key): number for key, number in parsed.items()}
