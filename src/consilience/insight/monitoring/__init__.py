"""Watch a stream of predictions: estimated accuracy over time, and alarms where something has changed.

`windows` cuts a stream; `numbers` is what is looked at in each item, and `drift` tests whether a window differs in it
from a reference; `look` estimates accuracies and measures agreement; `monitor` puts them together, `alarms` says in
words what has changed, `page` draws it. `since` is the same for one panel and a reference.
"""
