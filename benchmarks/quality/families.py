"""Which family of panels is on which side; `families.toml` fixes it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Literal

Side = Literal["tuning", "held-out", "generated"]

STRATA: dict[str, dict[str, list[str] | str]] = tomllib.loads(
    Path(__file__).with_name("families.toml").read_text(encoding="utf-8")
)


def held_out_of(stratum: dict[str, list[str] | str]) -> list[str]:
    """The families of a stratum that are held out: one, or a list of them."""
    held_out = stratum["held_out"]
    return [held_out] if isinstance(held_out, str) else held_out


SIDES: dict[str, Side] = {
    family: "held-out" if family in held_out_of(stratum) else "tuning"
    for stratum in STRATA.values()
    for family in stratum["families"]
}


def side_of(family: str) -> Side:
    """The side of a family of real panels; generated panels are a side of their own."""
    if family.startswith("generated"):
        return "generated"
    if family not in SIDES:
        raise ValueError(f"family must be one of {', '.join(SIDES)}; got {family!r}")
    return SIDES[family]
