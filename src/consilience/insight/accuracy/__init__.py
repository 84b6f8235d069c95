"""How often each member and each fused answer is right: estimated without labels, or measured with some.

The estimate is the mean probability that `Consensus` gives to what the member says. `tally` counts it in one pass, and
what else its error depends on; `intervals` says how far off it may be, as learned from panels whose truth was known;
`measured` takes over where there are labels; `estimates` puts them together.
"""
