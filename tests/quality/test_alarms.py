"""How often warnings are right is known of every warning that is a guess."""

from benchmarks.quality.alarms import CERTAIN, evidence_of, generated, true_of
from consilience.insight.warnings import WARNINGS


def test_every_warning_is_measured():
    case = next(case for case in generated(1))
    evidence = evidence_of(case.panel)
    assert evidence is not None
    measured = true_of(case, evidence)
    assert not measured.keys() & set(CERTAIN) and measured.keys() | set(CERTAIN) == WARNINGS.keys()
