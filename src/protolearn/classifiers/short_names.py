"""Parts of a classifier by short names, whose own settings need an object in their place."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator

from ..distances import DISTANCES
from ..losses import LOSSES
from ..margins import MARGINS
from ..solvers import SOLVERS

REGISTRIES: dict[str, Any] = {
    "distance": DISTANCES,
    "margin": MARGINS,
    "loss": LOSSES,
    "solver": SOLVERS,
}


class ShortNamesMixin(BaseEstimator):
    """Raises with advice where a setting of a part is set while the part is a name."""

    _only_names: ClassVar[tuple[str, ...]] = ()
    """Parts that are names always."""

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``loss__beta`` and the like need the part to be an object.

        Parameters
        ----------
        **params : dict
            New values.

        Returns
        -------
        self : object
            The classifier.
        """
        for key in params:
            part, _, name = key.partition("__")
            value = params.get(part, getattr(self, part, None))
            if name and part in REGISTRIES and isinstance(value, str):
                if part in self._only_names:
                    raise ValueError(f"{key} cannot be set: {part} is a name; set {name} itself.")
                known = REGISTRIES[part].get(value, next(iter(REGISTRIES[part].values())))
                example = f"protolearn.{known.__module__.split('.')[1]}.{known.__name__}"
                raise ValueError(
                    f"{key} cannot be set while {part}={value!r} is a short name; give an object, "
                    f"for example {part}={example}(...)."
                )
        super().set_params(**params)
        return self
