"""What the members said: `Predictions`, its axes and names, and the ways in from arrays, frames, labels and models.

Everything is checked here, once; the rooms above check nothing again. It imports from `system`.
"""
