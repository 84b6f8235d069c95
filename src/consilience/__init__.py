"""Fuse the predictions of several classifiers into one answer, without labels."""

from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any
from warnings import warn

__version__ = "1.0.0"

RENAMED = {
    "check_aggregator": "checks.check_aggregator",
    "evaluate_labels": "value_of_labels",
    "ood": "metrics.ood",
    "reliability_curve": "metrics.reliability_curve",
    "tables": "system.tables",
}
"""Names of version 0.1, which warn until version 1.1, and what they are called now."""

if TYPE_CHECKING:
    from consilience.ensemble.classifier import EnsembleClassifier as EnsembleClassifier
    from consilience.interface import *  # noqa: F403 - so that no name is listed twice
else:

    def __getattr__(name: str) -> Any:
        """Load the public names when the first of them is used: `consilience --help` needs none.

        `EnsembleClassifier` comes by itself, because scikit-learn takes longer to load than all the rest.
        """
        if name == "__all__":
            return __dir__()
        if not name.startswith("__"):
            home = import_module(
                "consilience.ensemble.classifier" if name == "EnsembleClassifier" else "consilience.interface"
            )
            loaded = globals() | vars(home)  # and with the names, the rooms that they are from
            if name in loaded:
                return loaded[name]
        if name in RENAMED:
            warn(f"cs.{name} is now cs.{RENAMED[name]}", DeprecationWarning, stacklevel=2)
            import_module("consilience.interface")
            return attrgetter(RENAMED[name])(import_module("consilience"))
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        """The public names alone."""
        names = vars(import_module("consilience.interface"))
        return sorted({"EnsembleClassifier", *(name for name in names if not name.startswith("_"))})
