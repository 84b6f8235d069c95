"""Fuse the predictions of several classifiers into one answer, without labels."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from consilience.ensemble.classifier import EnsembleClassifier as EnsembleClassifier
    from consilience.interface import *  # noqa: F403 - so that no name is listed twice
else:

    def __getattr__(name: str) -> Any:
        """Load the public names when the first of them is used: `consilience --help` needs none.

        `EnsembleClassifier` comes by itself, because scikit-learn takes longer to load than all the rest.
        """
        if name == "__all__":
            return [public for public in __dir__() if not public.startswith("_")]
        if not name.startswith("__"):
            home = import_module(
                "consilience.ensemble.classifier" if name == "EnsembleClassifier" else "consilience.interface"
            )
            loaded = globals() | vars(home)  # and with the names, the rooms that they are from
            if name in loaded:
                return loaded[name]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *vars(import_module("consilience.interface")), "EnsembleClassifier"})
