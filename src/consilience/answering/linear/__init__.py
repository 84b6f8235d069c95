"""The linear rule: part average, part softmax of linear scores. All classical methods answer by it."""

from consilience.answering.linear.rule import LinearRule as LinearRule
