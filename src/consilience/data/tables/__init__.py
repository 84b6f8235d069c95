"""Every table, from a file or from a data frame, is read here and nowhere else.

A table becomes `columns`: names, answers or numbers with their facts, each computed once. `told` knows what the user
says and usual names, `roles` finds the columns of items, members and labels, and `layouts` makes predictions of them.
"""
