"""One visit to all items, chunk by chunk: the E step, its kernels, agreement, and where the items lie.

This is the only room that computes with item-sized arrays. It imports from `system`, `data` and `maths`.
"""
