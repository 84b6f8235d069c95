"""The paper's evaluation: the only place that knows data sets, networks and the paper."""
