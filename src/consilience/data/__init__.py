"""What the members said: `Predictions`, its axes and names, and the ways in from arrays, frames, labels and models.

Everything is checked here, once; rooms that use it check nothing again. It may import from `system`.
"""
