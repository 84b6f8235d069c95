"""How a fitted method answers new items: its rule, also as explanation, torch module, ONNX graph and file.

It imports from `system`, `data`, `maths` and `passes`.
"""
