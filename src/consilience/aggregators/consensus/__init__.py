"""`Consensus`, the recommended method: its estimator, the members' weights, and what known labels correct."""

from consilience.aggregators.consensus.consensus import Consensus as Consensus
