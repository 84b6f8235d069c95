"""Predictions in a data lake: data sets larger than memory, in and out.

Rows are sorted into buckets by a hash of their item, so that all answers to an item meet in one bucket, wherever they
lay. A bucket fits in memory. The fit sees all votes by pattern, or a sample of buckets, which is one of items; then
each bucket is answered and written as one part of the output.
"""

from __future__ import annotations

import re
from glob import has_magic
from pathlib import Path

REMOTE = re.compile(r"(s3a?|gc?s|az|azure|abfss?|adl|hf|https?)://")
"""How addresses begin that polars can read."""


def data_set_kind(source: str) -> str | None:
    """What an argument is that can only be a data set; None if it may be a file."""
    if REMOTE.match(source):
        return "an address"
    if Path(source).is_dir():
        return "a directory"
    return "a pattern" if has_magic(source) and not Path(source).exists() else None
