"""Compare and check methods, diagnose members, explain answers, and suggest items to label.

It imports from `aggregators` and the rooms below it.
"""
