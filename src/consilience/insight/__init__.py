"""Compare and check methods, diagnose members, explain answers, and suggest items to label.

It may import from `aggregators`, `metrics` and the rooms that these build on.
"""
