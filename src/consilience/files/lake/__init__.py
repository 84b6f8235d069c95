"""Predictions in a data lake: data sets larger than memory, in and out.

Rows are sorted into buckets by a hash of their item, so that all answers to an item meet in one bucket, wherever they
lay. A bucket fits in memory. The fit sees all votes by pattern, or a sample of buckets, which is one of items; then
each bucket is answered and written as one part of the output.
"""

from consilience.files.lake.fusing import Fused as Fused
from consilience.files.lake.fusing import Fusion as Fusion
from consilience.files.lake.partitions import data_set_kind as data_set_kind
