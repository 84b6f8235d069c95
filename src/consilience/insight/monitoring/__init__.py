"""Watch a stream of predictions: estimated accuracy over time, and alarms where something has changed.

`windows` cuts a stream, and looks at each window: accuracies, agreement, and some numbers of each item. `drift` tests
whether a window differs in these from a reference, and says what has changed. `monitor` puts them together. `since` is
the same for one panel and a reference. `report.stream` draws it.
"""
