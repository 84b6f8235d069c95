"""Warnings without labels: one function each, from the evidence on a panel to what it warns of.

`thresholds` has all numbers that decide, with how often each warning is right; `benchmarks.quality.alarms` measures it.
"""
