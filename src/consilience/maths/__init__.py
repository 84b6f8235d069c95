"""The mathematics that does not touch items: EM and its statistics, Dirichlet distributions, rates, silence, AdamW.

Arrays here are small, NumPy and double precision. It may import from `system`.
"""
