"""How good the methods are: all of them, over a hundred real sets, in one table."""
