"""What known labels correct in an answer found without them, and how far they may.

`teaching` decides what labels may change, `regression` learns it, and `corrected_rule` answers with it.
"""
