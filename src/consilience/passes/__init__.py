"""Passes over all items, chunk by chunk: the E step, its kernels, agreement, and readers for memory and clusters.

The fit meets item-sized arrays in this room alone. It may import from `system`, `data` and `maths`.
"""
