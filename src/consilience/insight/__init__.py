"""What can be said of members, items and methods: comparison, diagnosis, explanation, suggestions, checks.

It imports from `aggregators` and the rooms below it.
"""
