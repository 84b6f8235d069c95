"""The mathematics that does not touch items: EM and its statistics, Dirichlet distributions, AdamW, rates.

Arrays here are small, NumPy and double precision. It imports from `system`.
"""
