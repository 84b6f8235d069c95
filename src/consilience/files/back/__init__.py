"""Answers back: into the table that was read, or in the form that a tool imports."""
