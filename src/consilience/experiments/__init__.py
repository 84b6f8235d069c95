"""The paper's evaluation: the only place that knows data sets, networks and the paper.

It may import from every room but `cli`.
"""
