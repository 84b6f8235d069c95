"""Watch a stream of predictions: estimated accuracy over time, and alarms where something has changed.

`numbers` says what is looked at in each item, `drift` tests whether a window differs from a reference in it, `windows`
cuts a stream, `monitor` puts them together with the estimates of `accuracy`, `page` shows it, and `since` is the same
test for one panel and a reference.
"""
