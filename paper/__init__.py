"""The paper's evaluation: its data sets, networks, tables and figures. `python -m paper list` names the experiments.

It is not installed. It uses the package, and the package knows nothing of it.
"""
