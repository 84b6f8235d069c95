"""Predictions, labels and posteriors in files of arrays and of tables; `contents.py` lists the formats.

It may import from every room but `plots`, `report` and `cli`.
"""

from consilience.files.contents import split_source as split_source
from consilience.files.recognition import Source as Source
from consilience.files.recognition import read_labels as read_labels
from consilience.files.recognition import read_posterior as read_posterior
from consilience.files.recognition import read_sources as read_sources
from consilience.files.writing import write_posterior as write_posterior
from consilience.files.writing import write_table as write_table
