"""How a fitted method answers new items: its rule, also as explanation, torch module, ONNX graph and file.

It may import from `system`, `data`, `maths` and `passes`.
"""
