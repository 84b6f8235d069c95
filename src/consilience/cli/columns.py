"""The options that name the columns of tables, for every command that reads predictions."""

from collections.abc import Callable
from functools import wraps
from inspect import Signature, signature
from typing import Any

from consilience.cli.options import ItemColumn, LabelColumn, MemberColumn
from consilience.files.recognition import Columns


def with_columns(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the parameter `columns` of a command by --item-column, --member-column and --label-column."""
    own = [parameter for parameter in signature(command).parameters.values() if parameter.name != "columns"]
    offered = signature(_columns).parameters

    @wraps(command)
    def with_options(**values: Any) -> None:
        names = {name: values.pop(name) for name in offered}
        command(columns=_columns(**names), **values)

    # Typer reads the options of a command from its signature.
    with_options.__signature__ = Signature([*own, *offered.values()])  # type: ignore[attr-defined]
    return with_options


def _columns(
    *, item_column: ItemColumn = None, member_column: MemberColumn = None, label_column: LabelColumn = None
) -> Columns:
    return Columns(item_column, member_column, label_column)
