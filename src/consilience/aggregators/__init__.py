"""The methods, in a file each but for those that only pool, what they share (`base`), and their registry.

A new method is a file here and a line below; `consensus/` is large, and so a folder. The room may import from `system`,
`data`, `maths`, `passes` and `answering`.
"""

# In the order of tables: from the plainest method to the recommended one.
# isort: off
from consilience.aggregators.average import Average as Average
from consilience.aggregators.average import MajorityVote as MajorityVote
from consilience.aggregators.dawid_skene import DawidSkene as DawidSkene
from consilience.aggregators.bayesian_combination import BayesianClassifierCombination as BayesianClassifierCombination
from consilience.aggregators.soft_dawid_skene import SoftDawidSkene as SoftDawidSkene
from consilience.aggregators.consensus import Consensus as Consensus
from consilience.aggregators.registry import load as load
