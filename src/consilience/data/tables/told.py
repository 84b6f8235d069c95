"""What the user says of how tables are laid out."""

from __future__ import annotations

from typing import NamedTuple


class Told(NamedTuple):
    """What the user says; whatever is None is found out.

    `item`, `member` and `label` name columns of tables. `item` may join several, as in `question+model`; `member` may
    list the columns of a wide table that are members, as in `ann,bob`. `classes` picks the columns of classes in
    tables, and names the classes of arrays. `items` names the items of files without names. `normalize` says that rows
    of numbers are to be divided by their sum. `positive` names the class whose probability alone is given.
    `strict` says that no column which may hold answers is left out unsaid: Python does not print what was not read.
    `sources` are the files that names were read from. `format` names the tool that wrote the files, and `question` the
    one of its questions that is read. `ordered` says that the classes are ratings.
    """

    item: str | None = None
    member: str | None = None
    label: str | None = None
    classes: tuple[str, ...] | None = None
    items: tuple[str, ...] | None = None
    normalize: bool = False
    sources: tuple[str, ...] = ()
    positive: str | None = None
    strict: bool = False
    format: str | None = None
    question: str | None = None
    ordered: bool = False

    @property
    def are_named(self) -> bool:
        """Whether the user named a column of items, members or labels."""
        return (self.item, self.member, self.label) != (None, None, None)
