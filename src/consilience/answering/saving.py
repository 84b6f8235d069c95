"""One file per fitted aggregator: arrays and a header, no pickle.

The file is a zip archive of `.npy` arrays (NumPy's `.npz`) whose entry `header` is JSON: the format and its version,
the aggregator's name, its parameters, and what was learned that is not an array.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from consilience.system.arrays import is_array, to_numpy
from consilience.system.atomic import whole_file
from consilience.system.errors import InvalidPredictions
from consilience.system.untrusted import UNREADABLE, check_is_file, read_npz, reason_of, whole_number

FORMAT = "consilience aggregator"
FORMAT_VERSION = 1


def write(path: str | os.PathLike[str], name: str, parameters: dict[str, Any], learned: dict[str, Any]) -> None:
    """Write an aggregator to a file, which appears whole or not at all."""
    for own in (own for key in ("members_", "items_", "classes_") for own in learned.get(key, [])):
        if not isinstance(own, str | int | float | None):
            raise InvalidPredictions(f"names must be text or numbers to be saved; got {own!r}")
    flat: dict[str, Any] = {}  # the fields of a record under dotted names
    for key, value in learned.items():
        if is_dataclass(value):
            flat |= {f"{key}.{field.name}": getattr(value, field.name) for field in fields(value)}
        else:
            flat[key] = value
    arrays = {key: to_numpy(value) for key, value in flat.items() if is_array(value)}
    plain = {key: value for key, value in flat.items() if key not in arrays}
    options = {  # a mapping as pairs, because JSON would turn its numbers into text
        key: {"pairs": [list(pair) for pair in value.items()]} if isinstance(value, Mapping) else value
        for key, value in parameters.items()
    }
    header = {"format": FORMAT, "version": FORMAT_VERSION, "aggregator": name, "parameters": options, "learned": plain}
    text = json.dumps(header, default=_to_json)
    arrays["header"] = np.frombuffer(text.encode(), dtype=np.uint8)
    with whole_file(path) as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]  # names of arrays, none of them an option's


def read(path: str | os.PathLike[str]) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """The name, parameters and learned values of a file; nested values keep dotted names."""
    check_is_file(path)
    not_ours = f"{os.fspath(path)} is not a file that consilience saved"
    try:
        contents = read_npz(path)
        header = json.loads(contents.pop("header").tobytes(), object_hook=_mapping_from_json, parse_int=whole_number)
        name, parameters, learned = header["aggregator"], header["parameters"], header["learned"]
        kind, version = header["format"], int(header["version"])
        is_whole = isinstance(name, str) and isinstance(parameters, dict) and isinstance(learned, dict)
        is_whole = is_whole and all(isinstance(key, str) for key in (*parameters, *learned))
    except UNREADABLE as error:
        reason = f": {reason_of(error)}" if type(error) is ValueError else ""  # the others speak of Python's affairs
        raise InvalidPredictions(f"{not_ours}{reason}") from error
    if kind != FORMAT:
        raise InvalidPredictions(f"{not_ours}: its format is {kind!r}")
    if version != FORMAT_VERSION:
        raise InvalidPredictions(f"{os.fspath(path)} has format version {version}; expected {FORMAT_VERSION}")
    if not is_whole:
        raise InvalidPredictions(f"{not_ours}: its header lacks a name, parameters or what was learned")
    if repeated := learned.keys() & contents.keys():
        raise InvalidPredictions(f"{not_ours}: it has {min(repeated)!r} twice")
    return name, parameters, learned | contents


def _to_json(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if is_array(value):
        return to_numpy(value).tolist()
    if isinstance(value, Sequence):  # names that are no list, because they are many
        return list(value)
    raise InvalidPredictions(
        f"names and parameters must be text or numbers to be saved; got {value!r} ({type(value).__name__})"
    )


def _mapping_from_json(value: dict[str, Any]) -> dict[Any, Any]:
    return dict(value["pairs"]) if value.keys() == {"pairs"} else value
