import numpy as np
import pytest

from benchmarks.quality.families import SIDES, STRATA, side_of
from benchmarks.quality.sources.ensembles import DATA
from benchmarks.quality.sources.shared import FAMILIES


def test_a_family_is_on_one_side():
    families = [family for stratum in STRATA.values() for family in stratum["families"]]
    assert len(set(families)) == len(families) == len(SIDES)
    assert all(stratum["held_out"] in stratum["families"] for stratum in STRATA.values())
    assert sum(side == "held-out" for side in SIDES.values()) == len(STRATA)


def test_held_out_families_are_those_that_were_drawn():
    rng = np.random.default_rng(2024)
    drawn = [str(rng.choice(stratum["families"])) for stratum in STRATA.values()]
    assert drawn == [stratum["held_out"] for stratum in STRATA.values()]
    assert drawn == ["fashion-mnist", "prompts", "languages", "crowds", "medicine"]


def test_every_source_has_a_side():
    for family in (*FAMILIES.values(), *DATA, "digits", "tables", "prompts", "crowds"):
        assert side_of(family) in {"tuning", "held-out"}
    assert side_of("generated crowd") == "generated"
    with pytest.raises(ValueError, match="family must be one of mnist, .*; got 'cats'"):
        side_of("cats")
