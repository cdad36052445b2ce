"""Bars of features and columns: which count, how sure that is, and which way they push."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._validation import integer_in
from ..analysis import Effects, RelevanceProfile, column_effects, group_names, learned_metric
from ..analysis import feature_names as names_of
from .style import Display, colour, legend_beside, panels_for, percent

PANELS_IN_A_ROW = 4
DARK = "#333333"
AGAINST = "#D55E00"
EFFECTS_IN_A_ROW = 3


@dataclass(kw_only=True, eq=False, repr=False)
class RelevanceDisplay(Display):
    """Horizontal bars of the relevances, the largest on top; one panel for each local metric.

    Make one with :meth:`from_estimator` or :meth:`from_profile`.

    Parameters
    ----------
    profile : RelevanceProfile
        What :func:`protolearn.relevance_profile` returns, or the like of a single fit.
    max_features : int, default=20
        Features that are shown.
    """

    profile: RelevanceProfile
    max_features: int = 20

    @classmethod
    def from_estimator(
        cls, model: Any, *, feature_names: Any = None, max_features: int = 20, ax: Any = None
    ) -> RelevanceDisplay:
        """Draw the relevances of a fitted model.

        Parameters
        ----------
        model : classifier with a learned linear metric, or Pipeline that ends in one
            The fitted model.
        feature_names : sequence of str, default=None
            Names of the features that the last step sees; None: those of the training data.
        """
        learned_metric(model)
        check_is_fitted(model)
        before = None
        if isinstance(model, Pipeline):
            model, before = model[-1], model[:-1] if len(model) > 1 else None
            check_is_fitted(model)
        names = names_of(model, before) if feature_names is None else list(map(str, feature_names))
        if len(names) != model.n_features_in_:
            raise ValueError(
                f"feature_names has {len(names)} names; the model sees {model.n_features_in_} "
                "features."
            )
        values, groups = model.relevances_, tuple(group_names(model))
        none = np.empty((0, *values.shape))
        single = RelevanceProfile(
            tuple(names), values, values, values, values, none, 0.0, "none", groups
        )
        return cls.from_profile(single, max_features=max_features, ax=ax)

    @classmethod
    def from_profile(
        cls, profile: RelevanceProfile, *, max_features: int = 20, ax: Any = None
    ) -> RelevanceDisplay:
        """Draw a profile: means as bars, intervals as lines, the fit on all rows as dots.

        Parameters
        ----------
        profile : RelevanceProfile
            What :func:`protolearn.relevance_profile` gives.
        """
        return cls(profile=profile, max_features=max_features).plot(ax=ax)

    def _draw(self, ax: Any) -> Any:
        """Return the axes with the picture."""
        count = integer_in(self.max_features, "max_features={value!r}", 1)
        found, names = self.profile, self.profile.group_names
        mean, single, low, high = map(
            np.atleast_2d, (found.mean, found.relevances, found.low, found.high)
        )
        shown = np.argsort(-mean.mean(axis=0), kind="stable")[:count]
        across = min(len(mean), PANELS_IN_A_ROW)
        width = 6.4 if len(mean) == 1 else 2.0 + 2.4 * across
        size = width, -(-len(mean) // across) * (1.0 + 0.28 * len(shown))
        panels = panels_for(ax, len(mean), across, figsize=size, sharex=True, sharey=True)
        rows, longest = np.arange(len(shown)), max(single[:, shown].max(), high[:, shown].max())
        for g, panel in enumerate(panels):
            panel.barh(rows, mean[g, shown], color=colour(0), alpha=0.75)
            if len(found.samples):
                label = f"{100 * found.level:g} % of {len(found.samples)} refits"
                ends = low[g, shown], high[g, shown]
                panel.hlines(rows, *ends, color=DARK, lw=1.4, label=label)
                panel.plot(np.concatenate(ends), np.tile(rows, 2), "|", color=DARK, ms=6)
                look = {"color": "w", "mec": DARK, "ms": 5, "label": "fit on all rows"}
                panel.plot(single[g, shown], rows, "o", **look)
            self._label(panel, g, shown, ax is not None or g + PANELS_IN_A_ROW >= len(panels))
            panel.set_xlim(0.0, 1.05 * longest)
        if len(found.samples):
            legend_beside(panels[min(len(panels), PANELS_IN_A_ROW) - 1])
        return panels if names else panels[0]

    def _label(self, panel: Any, g: int, shown: Any, is_lowest: bool) -> None:
        """Name features, axis and group; inner panels have no axis labels."""
        names, groups = self.profile.feature_names, self.profile.group_names
        panel.set_yticks(np.arange(len(shown)), [names[j] for j in shown])
        panel.set_ylim(len(shown) - 0.5, -0.5)
        panel.locator_params(axis="x", nbins=3 if groups else 6)
        panel.xaxis.set_major_formatter(percent)
        if groups:
            panel.set_title(groups[g])
            panel.label_outer()
        if is_lowest:
            panel.tick_params(labelbottom=True)
            few = f", {len(shown)} of {len(names)}" if len(shown) < len(names) else ""
            panel.set_xlabel(f"relevance{few}")


@dataclass(kw_only=True, eq=False, repr=False)
class EffectDisplay(Display):
    """Signed bars of what a step in each column does to the score of a class.

    Make one with :meth:`from_estimator`. Of two classes there is one panel, for the second class;
    otherwise one for each class.

    Parameters
    ----------
    effects : Effects
        What :func:`protolearn.analysis.column_effects` returns.
    max_effects : int, default=20
        Effects that are shown, those that are largest in some panel.
    """

    effects: Effects
    max_effects: int = 20

    @classmethod
    def from_estimator(
        cls, model: Any, data: Any = None, *, max_effects: int = 20, ax: Any = None
    ) -> EffectDisplay:
        """Draw the effects of the columns of a fitted model.

        Parameters
        ----------
        model : classifier
            A fitted linear model in a table pipeline; with ``data`` any model.
        data : DataFrame, or array-like of shape (n_rows, n_features), default=None
            Rows over which the effects are averaged, if they differ between rows; thin lines span
            the middle 90% of them.
        """
        return cls(effects=column_effects(model, data), max_effects=max_effects).plot(ax=ax)

    def _draw(self, ax: Any) -> Any:
        """Return the axes with the picture."""
        most = integer_in(self.max_effects, "max_effects={value!r}", 1)
        values = np.array([[one.effect for one in part] for part in self.effects.effects])
        order = np.argsort(-np.abs(values).max(axis=0), kind="stable")[:most]
        across = min(len(values), EFFECTS_IN_A_ROW)
        size = 2.4 + 3.4 * across, -(-len(values) // across) * (1.1 + 0.3 * len(order))
        panels = panels_for(ax, len(values), across, figsize=size, sharey=True)
        for g, panel in enumerate(panels):
            self._draw_panel(panel, g, order)
        return panels if len(panels) > 1 else panels[0]

    def _draw_panel(self, panel: Any, g: int, order: Any) -> None:
        """Draw the effects on the score of one class."""
        shown = [self.effects.effects[g][k] for k in order]
        rows, sizes = np.arange(len(shown)), np.array([one.effect for one in shown])
        panel.barh(rows, sizes, color=np.where(sizes >= 0.0, colour(0), AGAINST), alpha=0.85)
        if not self.effects.exact:
            panel.hlines(rows, [o.low for o in shown], [o.high for o in shown], color=DARK, lw=1)
        panel.axvline(0.0, color=DARK, lw=0.8)
        panel.set_yticks(rows, [f"{one.column}: {one.step}" for one in shown])
        panel.set_ylim(len(shown) - 0.5, -0.5)
        panel.set_xlabel("effect on the score")
        panel.set_title(f"for {self.effects.classes[g]}")
