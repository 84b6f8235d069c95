"""Constructor arguments as parameters, by the conventions of scikit-learn.

`sklearn.base.BaseEstimator` does the same, but takes longer to load than all of this package.
"""

from __future__ import annotations

from copy import deepcopy
from inspect import signature
from typing import Any, Self

MOST_CHARACTERS = 700
"""Longer representations are cut in the middle."""


class Parametrized:
    """An object whose parameters are the arguments of its constructor, each kept in an attribute of its name."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted(signature(cls).parameters)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; with `deep` also those of parameters that have some, as `name__parameter`."""
        own = {name: getattr(self, name) for name in self._get_param_names()}
        nested = {name: value for name, value in own.items() if hasattr(value, "get_params")} if deep else {}
        return own | {
            f"{name}__{key}": part for name, value in nested.items() for key, part in value.get_params().items()
        }

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by name; `name__parameter` sets one of a parameter that has some."""
        for name, value in parameters.items():
            own, _, inner = name.partition("__")
            if own not in (known := self._get_param_names()):
                raise ValueError(f"{type(self).__name__} has no parameter {own!r}; it has {known}")
            if inner:
                getattr(self, own).set_params(**{inner: value})
            else:
                setattr(self, own, value)
        return self

    def unfitted_copy(self) -> Self:
        """A new object with copies of the parameters and nothing learned, as `sklearn.base.clone` makes it."""
        own = self.get_params(deep=False)
        return type(self)(**{name: _copied(value) for name, value in own.items()})

    def __repr__(self) -> str:
        """The call that makes such an object, with the arguments that differ from their defaults."""
        arguments = signature(type(self)).parameters.items()
        values = {name: (repr(getattr(self, name)), repr(argument.default)) for name, argument in arguments}
        changed = (f"{name}={value}" for name, (value, default) in values.items() if value != default)
        text = f"{type(self).__name__}({', '.join(sorted(changed))})"
        half = MOST_CHARACTERS // 2
        return text if len(text) <= MOST_CHARACTERS else f"{text[:half]}...{text[-half:]}"

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks of estimators in pipelines."""
        from sklearn.base import BaseEstimator  # noqa: PLC0415 - only scikit-learn asks

        return BaseEstimator.__sklearn_tags__(self)


def _copied(value: Any) -> Any:
    return value.unfitted_copy() if isinstance(value, Parametrized) else deepcopy(value)
