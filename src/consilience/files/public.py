"""Read predictions from files in Python, as the command line does."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any

from consilience.data.axes import listed
from consilience.data.predictions import warn_of_doubts
from consilience.data.tables.told import Told
from consilience.files.recognition import read_predictions as read_sources

if TYPE_CHECKING:
    from collections.abc import Iterable

    from consilience.data.predictions import Predictions


def read_predictions(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    item: str | None = None,
    member: str | None = None,
    label: str | None = None,
    classes: Iterable[Any] | None = None,
    ordered: bool = False,
    items: Iterable[Any] | None = None,
    positive: str | None = None,
    normalize: bool = False,
    logits: bool = False,
    format: str | None = None,  # noqa: A002 - what the tools call it
    question: str | None = None,
) -> Predictions:
    """Predictions from one file for all members, from one file for each member, or from a mixture.

    A table is read as `Predictions.from_frame` reads a frame: the same panel, or the same refusal. Since nothing is
    printed here, a column that may hold answers is never left out unless these arguments decide it.

    Parameters
    ----------
    paths
        Files that end in .npy, .npz, .safetensors, .csv, .tsv, .parquet, .jsonl, .ndjson, .json, .eval, .xlsx, .sqlite
        or .db; text may be packed, as in votes.csv.gz. `FILE:KEY` picks an array, a sheet or a table. `FILE:logits`,
        `:percent`, `:probabilities`, `:counts` or `:labels` says what its numbers are, and `:items-first` or
        `:members-first` how its axes stand.
    item, member, label, classes, ordered, positive, normalize
        As in `Predictions.from_frame`; `classes` also names the classes of arrays.
    items
        The names of the items, for files that do not name theirs.
    logits
        The numbers of all files are logits or log-probabilities.
    format
        The tool that wrote the files, such as "label-studio", if they are not recognised as its own; `consilience
        formats` lists them.
    question
        The question that is read, where a tool's file has several.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import consilience as cs
    >>> p, labels = cs.datasets.shifted_digits()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = [f"{folder}/{name}.npy" for name in ("wide", "narrow")]
    ...     for path, rows in zip(paths, p.to_array()):
    ...         np.save(path, rows)
    ...     cs.read_predictions(paths)
    Predictions(2 members × 899 items × 10 classes)
    """
    sources = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    told = Told(
        item,
        member,
        label,
        None if classes is None else tuple(map(str, listed("class", classes))),
        None if items is None else tuple(map(str, listed("item", items))),
        normalize,
        positive=positive,
        strict=True,
        format=format,
        question=question,
        ordered=ordered,
    )
    read = read_sources([os.fspath(source) for source in sources], logits=logits, told=told)
    made = read.predictions
    for remark in read.remarks:
        warnings.warn(remark, stacklevel=2)
    warn_of_doubts(made)
    return made
