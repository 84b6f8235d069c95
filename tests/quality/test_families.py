import numpy as np
import pytest

from benchmarks.quality.families import SIDES, STRATA, held_out_of, side_of
from benchmarks.quality.sources.ensembles import DATA
from benchmarks.quality.sources.shared import FAMILIES


def test_a_family_is_on_one_side():
    families = [family for stratum in STRATA.values() for family in stratum["families"]]
    assert len(set(families)) == len(families) == len(SIDES)
    assert all(set(held_out_of(stratum)) < set(stratum["families"]) for stratum in STRATA.values())
    assert sum(side == "held-out" for side in SIDES.values()) == len(STRATA) + 1


def test_held_out_families_are_those_that_were_drawn():
    *first, further = STRATA.values()
    rng = np.random.default_rng(2024)
    drawn = [str(rng.choice(stratum["families"])) for stratum in first]
    assert drawn == [stratum["held_out"] for stratum in first]
    assert drawn == ["fashion-mnist", "prompts", "languages", "crowds", "medicine"]
    later = np.random.default_rng(2026).choice(sorted(further["families"]), 2, replace=False).tolist()
    assert later == further["held_out"] == ["examinations", "profanity"]


def test_every_source_has_a_side():
    for family in (*FAMILIES.values(), *DATA, "digits", "tables", "prompts", "crowds"):
        assert side_of(family) in {"tuning", "held-out"}
    assert side_of("generated crowd") == "generated"
    with pytest.raises(ValueError, match="family must be one of mnist, .*; got 'cats'"):
        side_of("cats")
