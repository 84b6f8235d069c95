"""Every table, from a file or from a data frame, is read here and nowhere else.

A table becomes `columns`: names, answers or numbers with their facts, each computed once. `vocabulary` knows usual
names, `items` says which column names the items, `roles` finds those of members and labels, `layouts` makes predictions
of them, and `truth` labels.
"""
