"""What CONTRIBUTING.md says of the house is so."""

import re
from pathlib import Path

import pytest

import consilience

HOUSE = Path(consilience.__file__).parent
PROJECT = Path(__file__).parents[2]
TEXT = (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8")
WALKS = {walk.split("**")[0]: walk for walk in re.split(r"\n\*\*(?=A walk )", TEXT.split("**Habits.**")[0])[1:]}


@pytest.mark.parametrize("walk", WALKS)
def test_every_file_that_a_walk_names_is_there(walk):
    named = re.findall(r"`([\w/]+(?:\.py|/))`", WALKS[walk])
    assert len(named) > 5
    places = [f"/{path.relative_to(HOUSE)}{'/' * path.is_dir()}" for path in HOUSE.rglob("*")]
    for name in named:
        assert any(place.endswith(f"/{name}") for place in places) or (PROJECT / name).is_dir(), name


def test_every_room_is_in_the_table():
    rooms = {path.name for path in HOUSE.iterdir() if (path / "__init__.py").exists()}
    assert rooms == set(re.findall(r"`(\w+)/`", TEXT.split("| room |")[1].split("\n\n")[0])) - {"learned", "labels"}
