"""When each warning is given. All are chosen so that a warning is right in four of five cases at least.

`python -m benchmarks.quality.alarms` measures it, on generated panels and on real ones: of the warnings given, how many
are right, and of what there was to warn of, how much is found (`results/alarms.txt`).
"""

LEAST_RIGHT, AT_BEST = 0.65, 0.95
"""The fused answer is warned of if it is estimated to be right on less than the first share of the items, and the
interval ends below the second; it is then wrong on a quarter or more."""

MOSTLY_RIGHT = 0.75
"""Where labels measure the fused answer, it is warned of if the interval of its accuracy ends below."""

FALLEN = 0.1
"""The fused answer has become worse since a reference if its estimated accuracy has fallen by more; the true one has
then fallen by .05 or more (`python -m benchmarks.quality.fallen`, `results/fallen.txt`)."""

TOO_SURE = 0.15
"""A member is too sure if it claims so much more than is estimated; it then claims .1 too much or more."""

CHANCE_LEVEL = 0.1
"""A member is useless if its agreement with the fused answer beyond chance, Cohen's kappa, is less. It then has hardly
more with the truth."""

LEAST_RENAMED = 0.3
"""A member has its classes in another order if so many more of its votes would be those of the fused answer under
other names; the same is then true of the truth, by .2 or more."""

LEAST_AGREED, LEAST_AMONG_OTHERS = 0.5, 0.2
"""… if such a share of them then is, and if the other members agree with each other so much beyond chance. Otherwise
nobody knows who is in order."""

SAME_ERRORS, ENOUGH_ERRORS = 0.99, 20
"""Members are copies if such a share of the items on which either contradicts the fused answer, at least so many, has
the same vote of both."""

EQUAL, ROOM_TO_DIFFER = 1e-9, 0.01
"""… or if their probabilities are the same, up to this squared distance an item; of members who are always sure that
tells nothing."""

MOST_OF_ONE = 0.9
"""Who says one class in more than this share of its votes is neither a copy of others who do, nor in another order."""

MOST_OFF, NINE_OF_TEN = 0.1, 1.645
"""There are too few items if nine of ten intervals of labelled ones would reach further than this, up and down."""

ENOUGH_VOTES, ENOUGH_MEMBERS = 50, 3
"""The fewest votes and members for a warning about single members, or pairs."""

MOST_SHOWN = 10
"""At most so many warnings of a kind."""
