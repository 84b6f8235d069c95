"""Passes over all items, chunk by chunk: the E step, its kernels, agreement, and readers for memory and clusters.

This is the only room that computes with item-sized arrays. It imports from `system`, `data` and `maths`.
"""
