"""The demo stops when it is told to."""

import warnings

import pytest

from consilience.experiments import demo


def test_an_interrupt_that_a_network_swallows_stops_the_demo():
    class Network:
        def fit(self, *_):
            warnings.warn("Training interrupted by user.", UserWarning, stacklevel=1)

    with pytest.raises(KeyboardInterrupt):
        demo._fit(Network(), None, None)
